/* SPDX-License-Identifier: MIT */
/*
 * Traces made to order: the times, threads and results that a test wants, through the real writer.
 * Events must come in the order of their ends.
 */
#ifndef MAKER_H
#define MAKER_H

#include "writer.h"

struct maker {
	struct trace_writer *writer;
	struct trace_buffer *buffer;
	uint64_t next_file; /* ids given so far */
	uint64_t now_ns;    /* end of the last event made by maker_put() */
};

/* Threads 1 .. threads are declared. Aborts if anything fails: this is a test. */
void maker_open(struct maker *m, const char *path, unsigned threads);
void maker_close(struct maker *m);

/* An entry of the starting state; returns its id. Sizes are data of random content. */
uint64_t maker_dir(struct maker *m, uint64_t parent, const char *name);
uint64_t maker_file(struct maker *m, uint64_t parent, const char *name, uint64_t size);

struct text maker_text(const char *s);

/* As it is. */
void maker_event(struct maker *m, const struct event *ev);
/* 100 ns after the event before, taking 50 ns. */
#define maker_put(m, ...) maker_put_next(m, (struct event){__VA_ARGS__})
void maker_put_next(struct maker *m, struct event ev);

/* Any event at all: small ids that often exist, a few names (some of them not allowed), any numbers. */
struct rng;
void maker_put_random(struct maker *m, struct rng *rng, unsigned threads);

#endif
