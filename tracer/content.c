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

/* Is every byte of the first word, and every word the one before? */
static bool is_repeated(const uint8_t *p, size_t size)
{
	return size > sizeof(uint64_t) && !memcmp(p, p + 8, size - 8);
}

/*
 * A word is predictable if it is made of few different bytes' worth of information: zero in its
 * upper half, a neighbour of the word before, or text-like (all bytes below 0x80).
 */
static bool is_predictable(uint64_t word, uint64_t before)
{
	uint64_t difference = word ^ before;
	const uint64_t high_bits = UINT64_C(0x8080808080808080);

	if (!(word >> 32) || !(word << 32) || !(difference >> 32) || !(difference << 32))
		return true;
	return !(word & high_bits);
}

static unsigned unpredictable_words(const uint8_t *line)
{
	uint64_t before = 0;
	unsigned count = 0;

	for (size_t i = 0; i < LINE_WORDS; i++) {
		uint64_t word = word_at(line, i);
		count += !is_predictable(word, before);
		before = word;
	}
	return count;
}

static enum content classify_short(const uint8_t *p, size_t size)
{
	uint8_t line[LINE_BYTES] = {0};

	memcpy(line, p, size);
	unsigned words = unpredictable_words(line);
	unsigned whole = (unsigned)(size + 7) / 8;
	return (enum content)(CONTENT_WORDS + (words * LINE_WORDS + whole - 1) / whole);
}

enum content content_classify(const void *data, size_t size)
{
	const uint8_t *p = data;
	size_t lines = size / LINE_BYTES, step = (lines + LINES_MAX - 1) / LINES_MAX;
	unsigned words = 0, looked = 0;

	if (!size)
		return CONTENT_UNKNOWN;
	if (is_repeated(p, size))
		return word_at(p, 0) ? CONTENT_REPEATED : CONTENT_ZERO;
	if (!lines)
		return classify_short(p, size);
	for (size_t i = 0; i < lines; i += step, looked++)
		words += unpredictable_words(p + i * LINE_BYTES);
	unsigned k = (words + looked / 2) / looked;
	return (enum content)(CONTENT_WORDS + (k ? k : 1));
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
