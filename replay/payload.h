/* SPDX-License-Identifier: MIT */
/*
 * The data that a replay writes: one pool per content class, filled once, so that nothing is
 * generated or copied while the clock runs.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <sys/uio.h>

#include "content.h"

#define PAYLOAD_SIZE (UINT64_C(1) << 20)
#define PAYLOAD_IOVS 1024 /* the kernel's limit: PLAN_MAX_BYTES in one call */

struct payload;

/* Makes and fills the pools; a few milliseconds. */
struct payload *payload_new(void);
void payload_free(struct payload *p);
/*
 * `size` bytes of a class for the file position `offset`: 4096-aligned when offset is, as O_DIRECT
 * wants it. At most PAYLOAD_SIZE long; NULL if the call is longer (see payload_iov()).
 */
const void *payload_at(
	const struct payload *p, enum content content, uint64_t offset, uint64_t size);

/* The same as a vector that repeats the pool; returns the number of entries used. */
unsigned payload_iov(const void *pool, uint64_t size, struct iovec iov[PAYLOAD_IOVS]);
const void *payload_pool(const struct payload *p, enum content content);

#endif
