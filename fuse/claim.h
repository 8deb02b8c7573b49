/* SPDX-License-Identifier: MIT */
/*
 * A directory that is captured belongs to one capture: two would each let the kernel cache names and
 * attributes that the other one changes. So does everything below it, and what it lies in.
 *
 * The claim is an exclusive flock() on the directory and shared ones on all that it lies in, so it
 * ends with the process however that dies. Where directories cannot be locked there is no claim.
 */
#ifndef CLAIM_H
#define CLAIM_H

#include "error.h"
#include "vec.h"

struct claim {
	VEC(int) fds;
};

/* 0, or -EBUSY with `err` naming who has it. Nothing is claimed then. */
int claim_take(struct claim *ret, const char *dir, struct error *err);
void claim_drop(struct claim *c);

#endif
