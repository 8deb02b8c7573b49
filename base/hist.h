/* SPDX-License-Identifier: MIT */
/*
 * Latency histogram with a bounded relative error (the idea of HdrHistogram, G. Tene): each power
 * of two is cut into HIST_SUB equal buckets, so a quantile is off by at most 1/HIST_SUB of its
 * value. Values are nanoseconds up to 2^HIST_OCTAVES; larger ones land in the last bucket.
 */
#ifndef HIST_H
#define HIST_H

#include "base.h"

#define HIST_SUB     16
#define HIST_OCTAVES 42
#define HIST_BUCKETS ((HIST_OCTAVES - 3) * HIST_SUB)

struct hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* 0 while count is 0 */
	uint64_t max_ns;
	uint32_t buckets[HIST_BUCKETS];
};

/* Hot path: no branches beyond the bucket index. Not thread-safe. */
void hist_add(struct hist *h, uint64_t value_ns);
void hist_merge(struct hist *into, const struct hist *from);
/* The smallest value that at least `q` (0..1) of the samples do not exceed; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double q);
/* Lowest value of bucket `i`; bucket i holds [low(i), low(i + 1)). */
uint64_t hist_bucket_low(unsigned i);

#endif
