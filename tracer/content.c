/* SPDX-License-Identifier: MIT */
#include "content.h"

#include <string.h>
#include <xxhash.h>

#include "rng.h"

#define LINE_WORDS 8
#define LINE_BYTES (LINE_WORDS * sizeof(uint64_t))
/* Lines looked at in one piece of data; more of them are spread evenly. */
#define LINES_MAX 32

static uint64_t word_at(const uint8_t *p, size_t i)
{
	uint64_t word;

	memcpy(&word, p + i * sizeof(word), sizeof(word));
	return word;
}

/* Is every word the one before it? */
static bool is_repeated(const uint8_t *p, size_t size)
{
	return size > sizeof(uint64_t) && !memcmp(p, p + 8, size - 8);
}

/* What a word costs a compressor, in halves of its size. */
enum { COST_NOTHING = 0, COST_TEXT = 1, COST_ALL = 2 };

static unsigned word_cost(uint64_t word, uint64_t before)
{
	uint64_t difference = word ^ before;

	if (!(word >> 32) || !(word << 32) || !(difference >> 32) || !(difference << 32))
		return COST_NOTHING;
	return word & UINT64_C(0x8080808080808080) ? COST_ALL : COST_TEXT;
}

static unsigned words_cost(const uint8_t *p, size_t words)
{
	uint64_t before = 0;
	unsigned cost = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t word = word_at(p, i);
		cost += word_cost(word, before);
		before = word;
	}
	return cost;
}

/* The class of data of which `words` words were seen to cost so much. */
static enum content class_of_cost(unsigned cost, size_t words)
{
	size_t k = (cost * LINE_WORDS / COST_ALL + words / 2) / words;

	return (enum content)(CONTENT_WORDS + (k ? k : 1));
}

/* Less than a word. */
static enum content classify_tiny(const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (p[i])
			return CONTENT_RANDOM;
	return size ? CONTENT_ZERO : CONTENT_UNKNOWN;
}

enum content content_classify(const void *data, size_t size)
{
	const uint8_t *p = data;
	size_t lines = size / LINE_BYTES, step = (lines + LINES_MAX - 1) / LINES_MAX;
	unsigned cost = 0;
	size_t looked = 0;

	if (size < sizeof(uint64_t))
		return classify_tiny(p, size);
	if (is_repeated(p, size))
		return word_at(p, 0) ? CONTENT_REPEATED : CONTENT_ZERO;
	if (!lines)
		return class_of_cost(words_cost(p, size / 8), size / 8);
	for (size_t i = 0; i < lines; i += step, looked++)
		cost += words_cost(p + i * LINE_BYTES, LINE_WORDS);
	return class_of_cost(cost, looked * LINE_WORDS);
}

uint64_t content_hash(const void *data, size_t size)
{
	return XXH3_64bits(data, size);
}

const char *content_name(enum content content)
{
	static const char *const names[CONTENT_LIMIT] = {"unknown", "zero", "repeated",
		"1/8 random", "2/8 random", "3/8 random", "4/8 random", "5/8 random", "6/8 random",
		"7/8 random", "random"};

	return (unsigned)content < CONTENT_LIMIT ? names[content] : "?";
}

/* Word `i` of data of a class: the first k of each line are unpredictable, the rest count up. */
static uint64_t fill_word(enum content content, struct rng *rng, size_t i)
{
	if (content == CONTENT_ZERO)
		return 0;
	if (content == CONTENT_REPEATED)
		return rng->state | 1;
	if (content == CONTENT_UNKNOWN || i % LINE_WORDS < (unsigned)content - CONTENT_WORDS)
		return rng_next(rng) | UINT64_C(0x8000000080000000);
	return i / LINE_WORDS % 256;
}

void content_fill(enum content content, uint64_t seed, void *data, size_t size)
{
	struct rng rng;
	uint8_t *p = data;

	rng_init(&rng, seed);
	for (size_t i = 0; i * 8 < size; i++) {
		uint64_t word = fill_word(content, &rng, i);
		memcpy(p + i * 8, &word, min_u64(8, size - i * 8));
	}
}
