/* SPDX-License-Identifier: MIT */
/*
 * Where a replay spent its time, by (operation x file class), and where two replays differ.
 *
 * The critical path of a run covers its elapsed time without gap or overlap, so its shares add up to
 * the elapsed time exactly, and the differences of the shares to the difference of the elapsed
 * times. What a results file leaves uncovered becomes a share of its own, RESULT_OP_REST.
 */
#ifndef ATTRIBUTE_H
#define ATTRIBUTE_H

#include "result.h"

#define RESULT_OP_REST "(not attributed)"

struct share {
	char op[24], file_class[16];
	int64_t ns;
};

struct shares {
	struct share *at; /* largest first, whatever the sign */
	size_t count, capacity;
	int64_t total_ns; /* exactly the sum of all */
};

/* The elapsed time of a run. Nothing for real runs, which have no classes. */
void attribute_run(struct shares *ret, const struct result_run *run);
/* The elapsed time of `run` minus that of `base`. */
void attribute_difference(
	struct shares *ret, const struct result_run *run, const struct result_run *base);
void shares_done(struct shares *s);

/* |ns| */
uint64_t share_size(int64_t ns);
/* 0 if there is no such share. */
int64_t shares_of(const struct shares *s, const char *op, const char *file_class);
/* "fdatasync on the WAL", "CPU time of the application". */
const char *share_words(const char *op, const char *file_class, char out[64]);

#endif
