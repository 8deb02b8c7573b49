/* SPDX-License-Identifier: MIT */
/*
 * Writing a trace: many threads put events, one thread of the writer's own orders, packs and
 * stores.
 *
 * Events reach the file in the order in which they *ended*. A handler stamps the end with
 * trace_stamp() before it answers the application, does what is left to do (classify the data),
 * then hands the event over with trace_put(). Between the two the writer holds back what ended
 * later elsewhere. Memory is bounded: trace_put() waits when the disk cannot follow; nothing is
 * dropped while the file can be written.
 *
 * The file is readable to its last whole frame at any moment, also after SIGKILL: a frame is closed
 * when it is full or a second old.
 */
#ifndef WRITER_H
#define WRITER_H

#include <jansson.h>
#include <sys/types.h>

#include "error.h"
#include "event.h"
#include "tree.h"
#include "wait.h"

struct trace_writer;
struct trace_buffer;

struct trace_thread {
	uint32_t tid, tgid; /* as the capturing process saw them */
	uint32_t uid, gid;
	char comm[16];
};

/*
 * Create `path` (replacing a trace, refusing any other file that exists) and write META and the
 * table of operations. `meta` is borrowed: what the caller knows of host, command and calibration.
 */
int trace_writer_open(
	struct trace_writer **ret, const char *path, const json_t *meta, struct error *err);

/* Replace names by hashes from here on; directly after opening. The anonymizer is borrowed, and META
 * is the caller's to anonymize. */
struct anonymizer;
void trace_writer_anonymize(struct trace_writer *w, struct anonymizer *a);

/* The starting state; all calls before the first event. */
int trace_writer_tree(struct trace_writer *w, const struct tree_entry *entry, struct error *err);

/*
 * Keep data too (stash.h): after opening, and before anything is put. What is put waits until there is
 * room. All numbers are 0 where nothing is kept. Thread-safe.
 */
void trace_writer_keep_data(struct trace_writer *w);
uint64_t trace_writer_data(struct trace_writer *w, const void *data, size_t size, uint64_t hash);
uint64_t trace_writer_join(struct trace_writer *w, uint64_t first, uint64_t second);
/* What files had at first, after the last entry of the starting state; and in the end. */
void trace_writer_file_data(
	struct trace_writer *w, uint64_t file, uint64_t offset, const void *data, size_t size);
void trace_writer_final(
	struct trace_writer *w, uint64_t file, uint64_t size, const uint8_t *digest);

/* Declare a thread; returns its index for struct event. Thread-safe. */
uint32_t trace_writer_thread(struct trace_writer *w, const struct trace_thread *thread);

/* Time 0 of the trace on CLOCK_MONOTONIC; start_ns of an event is relative to it. */
uint64_t trace_writer_epoch_ns(const struct trace_writer *w);

/* One buffer per thread that puts events; freed with the writer. */
struct trace_buffer *trace_buffer_new(struct trace_writer *w);

/* CLOCK_MONOTONIC now: the end of the event that the next trace_put() on this buffer brings. */
uint64_t trace_stamp(struct trace_buffer *b);

/* Hand over a copy of the event, strings included. ev->start_ns + took_ns must be the last stamp.
 * cpu_ns: the thread's CPU clock at the start of the event (absolute); the writer makes it a
 * difference. */
void trace_put(struct trace_buffer *b, const struct event *ev);

/*
 * For a producer that learns of events some time after their end, in the order of their ends, and
 * has no stamps: the writer holds back what ended elsewhere after `until_ns` (CLOCK_MONOTONIC; not
 * before the epoch), for all that ended before has been put. First before the first event; until
 * trace_let_go(), after which nothing may be put. It must not be forgotten for long: who makes
 * events in the meantime waits once his buffer is full.
 */
void trace_hold(struct trace_buffer *b, uint64_t until_ns);
void trace_put_late(struct trace_buffer *b, const struct event *ev);
void trace_let_go(struct trace_buffer *b);

/* What a thread waited for, in the order of run_ns; one thread at a time, between open and close. */
void trace_writer_wait(struct trace_writer *w, const struct trace_wait *wait);

/* Count events that could not be recorded, and why; shown by every reader and in the exit status.
 */
void trace_writer_lost(struct trace_writer *w, uint64_t events);

/* Not 0 once the file cannot be written any more (-ENOSPC, -EIO ...): events after that are lost
 * and counted, trace_put() no longer waits. Thread-safe. */
int trace_writer_failed(const struct trace_writer *w);

struct trace_totals {
	uint64_t events, lost, file_bytes, elapsed_ns;
	uint64_t threads; /* declared; number 0, the kernel, is one of them */
};

/* Write what is left, INDEX and END; frees w in any case. ret_totals may be NULL. */
int trace_writer_close(struct trace_writer *w, struct trace_totals *ret_totals, struct error *err);

#endif
