/* SPDX-License-Identifier: MIT */
#include "hist.h"

#include <math.h>

#define SUB_BITS 4
_Static_assert(HIST_SUB == 1 << SUB_BITS, "hist_bucket() shifts by SUB_BITS");

static unsigned hist_bucket(uint64_t v)
{
	if (v < HIST_SUB)
		return (unsigned)v;
	unsigned octave = 63 - (unsigned)__builtin_clzll(v);
	unsigned i = (octave - SUB_BITS + 1) * HIST_SUB +
	             (unsigned)((v >> (octave - SUB_BITS)) & (HIST_SUB - 1));
	return i < HIST_BUCKETS ? i : HIST_BUCKETS - 1;
}

uint64_t hist_bucket_low(unsigned i)
{
	if (i < HIST_SUB)
		return i;
	return (uint64_t)(HIST_SUB + i % HIST_SUB) << (i / HIST_SUB - 1);
}

void hist_add(struct hist *h, uint64_t value_ns)
{
	if (!h->count || value_ns < h->min_ns)
		h->min_ns = value_ns;
	if (value_ns > h->max_ns)
		h->max_ns = value_ns;
	h->count++;
	h->sum_ns += value_ns;
	h->buckets[hist_bucket(value_ns)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	into->max_ns = max_u64(into->max_ns, from->max_ns);
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t want = max_u64(1, (uint64_t)ceil(q * (double)h->count));
	uint64_t seen = 0;

	if (!h->count)
		return 0;
	if (want >= h->count)
		return h->max_ns;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= want)
			return max_u64(min_u64(hist_bucket_low(i + 1) - 1, h->max_ns), h->min_ns);
	}
	return h->max_ns;
}
