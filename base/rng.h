/* SPDX-License-Identifier: MIT */
/* A seeded generator (xorshift64*, Vigna 2014), so that a run can be repeated exactly. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline void rng_init(struct rng *rng, uint64_t seed)
{
	rng->state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in [0, limit); limit > 0. */
static inline uint64_t rng_below(struct rng *rng, uint64_t limit)
{
	return (uint64_t)(((unsigned __int128)rng_next(rng) * limit) >> 64);
}

#endif
