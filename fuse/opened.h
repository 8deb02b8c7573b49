/* SPDX-License-Identifier: MIT */
/*
 * Which open file a handle's number stood for, and when.
 *
 * The number that the kernel keeps for an open file is given again after its last close. Whoever
 * hears of a call later than the kernel made it, and knows the number only, asks here. Of numbers
 * that were given again the last few thousand earlier meanings are kept. Thread-safe.
 */
#ifndef OPENED_H
#define OPENED_H

#include "base.h"

struct opened;

struct opened_file {
	uint64_t file, handle; /* ids in the trace */
};

struct opened *opened_new(void);
void opened_free(struct opened *o);

/* From `since_ns` on (CLOCK_MONOTONIC) `number` is this one. Times do not go back for one number. */
void opened_add(struct opened *o, uint64_t number, struct opened_file what, uint64_t since_ns);
/* What it was at that time; false if that is not known. */
bool opened_find(struct opened *o, uint64_t number, uint64_t at_ns, struct opened_file *ret);

#endif
