/* SPDX-License-Identifier: MIT */
/*
 * A block of events, column by column: the payload of an EVENTS frame. Self-contained: decoding one
 * needs the table of operations and nothing of the blocks before.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include "column.h"
#include "event.h"
#include "optable.h"

struct block_writer;

struct block_writer *block_writer_new(const struct op_table *table);
void block_writer_free(struct block_writer *b);

/* Copy an event, strings included, into the open block. Events come in order of their ends. */
void block_add(struct block_writer *b, const struct event *ev);
size_t block_count(const struct block_writer *b);
/* No room for another event, or a good place to end before there is none. */
bool block_full(const struct block_writer *b);
/* No thread is between the first step of a call and the call: a good moment to end the block. */
bool block_settled(const struct block_writer *b);
/* Append the block to `out` and start the next one. At least one event must be in it. */
void block_finish(struct block_writer *b, struct bytes *out);

struct block_info {
	uint32_t events;
	uint64_t base_ns; /* the end of the last event before the block */
	uint64_t end_ns;  /* the end of its last event */
};

/* The first fields of a block. False if malformed. */
bool block_peek(const void *payload, size_t size, struct block_info *ret);

struct block_reader;

struct block_reader *block_reader_new(const struct op_table *table);
void block_reader_free(struct block_reader *b);

/* Start on a block; the payload must stay, with COLUMN_SLACK readable bytes behind it. Returns what
 * is wrong with it, or NULL. */
const char *block_open(struct block_reader *b, const void *payload, size_t size);

/*
 * The next event: 1; 0 after the last; -1 when the block turns out to be malformed. Strings are good
 * until the next block_open(). *ret_row is the operation as the file knows it, for events that this
 * build does not know (ev->op is then the file's number).
 */
int block_next(struct block_reader *b, struct event *ev, const struct row **ret_row);

#endif
