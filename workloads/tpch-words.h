/* SPDX-License-Identifier: MIT */
/* The values that columns of TPC-H are drawn from, and prose for its comments. */
#ifndef TPCH_WORDS_H
#define TPCH_WORDS_H

#include "base.h"
#include "rng.h"

#define TPCH_REGION_COUNT 5
#define TPCH_NATION_COUNT 25
#define TPCH_COLORS       92

struct tpch_nation {
	const char *name;
	unsigned region;
};

/* Words of which each row draws one. */
struct tpch_words {
	const char *const *at;
	unsigned count;
};

extern const char *const tpch_regions[TPCH_REGION_COUNT];
extern const struct tpch_nation tpch_nations[TPCH_NATION_COUNT];
extern const struct tpch_words tpch_segments, tpch_priorities, tpch_instructions, tpch_modes;
extern const struct tpch_words tpch_type1, tpch_type2, tpch_type3; /* p_type is one of each */
extern const struct tpch_words tpch_size, tpch_box;                /* p_container too */
extern const struct tpch_words tpch_colors;
extern const struct tpch_words tpch_q13_first, tpch_q13_second; /* occur in comments */

const char *tpch_word(const struct tpch_words *words, struct rng *rng);
/* `size` bytes of sentences; free(). */
char *tpch_prose(size_t size, struct rng *rng);

#endif
