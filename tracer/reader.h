/* SPDX-License-Identifier: MIT */
/*
 * Reading a trace from front to back in constant memory. The bytes may come from a stranger: every
 * length and count is bounded, every checksum compared, and nothing in the file is believed before.
 */
#ifndef READER_H
#define READER_H

#include <jansson.h>

#include "error.h"
#include "event.h"
#include "tree.h"
#include "writer.h" /* struct trace_thread, struct trace_totals */

struct trace_reader;

/* Open and read up to the first tree entry or event. */
int trace_reader_open(struct trace_reader **ret, const char *path, struct error *err);
void trace_reader_close(struct trace_reader *r);

/* META as it was written; borrowed. */
const json_t *trace_reader_meta(const struct trace_reader *r);

/* SHA-256 of the whole file in hex, 64 characters and NUL. */
int trace_reader_digest(struct trace_reader *r, char digest[65], struct error *err);

/*
 * The next entry of the starting state: 1, 0 when there are no more, or -errno. Memory of the entry
 * is good until the next call. Reading events first skips what is left of the tree.
 */
int trace_reader_tree(struct trace_reader *r, struct tree_entry *entry, struct error *err);

/*
 * The next event in order of its end: 1, 0 at the end, or -errno. Strings are good until the next
 * call. Events of operations that this build does not know are skipped and counted.
 */
int trace_reader_next(struct trace_reader *r, struct event *ev, struct error *err);

/*
 * The next wait of section EDGES, in the order in which threads ran again: 1, 0 at the end, or
 * -errno. It passes over the events, so take a reader of its own.
 */
int trace_reader_wait(struct trace_reader *r, struct trace_wait *ret, struct error *err);

/* Declared so far; index < trace_reader_threads(). */
size_t trace_reader_threads(const struct trace_reader *r);
const struct trace_thread *trace_reader_thread(const struct trace_reader *r, size_t index);

/* What there is to say against the trace, complete once next() has returned 0. */
struct trace_health {
	bool complete;    /* END was there and its totals match */
	bool torn;        /* the file ends inside a frame: the rest was cut off */
	uint64_t torn_at; /* byte where the last whole frame ended */
	uint64_t lost;    /* events the capture could not record */
	uint64_t unknown; /* events of operations unknown here, skipped */
	uint64_t events;  /* delivered */
	uint64_t waits,
		wait_bytes; /* in EDGES, passed over so far; and what they take of the file */
};
const struct trace_health *trace_reader_health(const struct trace_reader *r);

/* Totals from END without reading the events: 0, or -ENODATA when the trace has no END. */
int trace_reader_totals(struct trace_reader *r, struct trace_totals *ret_totals);

/* Go to the first block that ends at or after `ns` (INDEX, or by reading on without one). */
int trace_reader_seek(struct trace_reader *r, uint64_t ns, struct error *err);

/*
 * Stored data, read by bulk.h with a reader of its own: the next DATA frame, 1, 0 at the end, or -errno;
 * and the one at an offset that this gave. The payload is good until the next call.
 */
int trace_reader_data(struct trace_reader *r, uint64_t *ret_offset, const uint8_t **ret_payload,
	size_t *ret_size, struct error *err);
int trace_reader_data_at(struct trace_reader *r, uint64_t offset, const uint8_t **ret_payload,
	size_t *ret_size, struct error *err);

/* The file's name. */
const char *trace_reader_path(const struct trace_reader *r);

/* Start again from the first entry of the tree; as ever, reading events first skips the tree. */
int trace_reader_rewind(struct trace_reader *r, struct error *err);

#endif
