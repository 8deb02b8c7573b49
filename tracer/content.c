/* SPDX-License-Identifier: MIT */
#include "content.h"

#include <math.h>
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

/*
 * What was seen of the words. Text costs a compressor about half its size. Noise costs all of it if
 * its bytes are as different from each other as random ones are, and less in machine code or packed
 * records, where some bytes are much more common; that is judged on a sample of the noise.
 */
struct tally {
	size_t words;
	unsigned text, noise;
	unsigned sampled; /* words of noise whose bytes are in `seen` */
	uint64_t seen[4]; /* a bit for each value of a byte */
};

#define SAMPLE_WORDS 32
#define SAMPLE_EVERY 8 /* of the lines looked at */

static void sample_bytes(struct tally *t, uint64_t word)
{
	for (int i = 0; i < 8; i++, word >>= 8)
		t->seen[word >> 6 & 3] |= UINT64_C(1) << (word & 63);
	t->sampled++;
}

static void look_at_words(struct tally *t, const uint8_t *p, size_t words, bool sample)
{
	uint64_t before = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t word = word_at(p, i), difference = word ^ before;
		before = word;
		if (!(word >> 32) || !(word << 32) || !(difference >> 32) || !(difference << 32))
			continue;
		if (!(word & UINT64_C(0x8080808080808080))) {
			t->text++;
			continue;
		}
		t->noise++;
		if (sample && t->sampled < SAMPLE_WORDS)
			sample_bytes(t, word);
	}
	t->words += words;
}

/* How many different bytes there are among the sampled, over how many would be if they were random;
 * a little less than 1 is chance. */
static double variety(const struct tally *t)
{
	double expected = 256 * (1 - pow(255.0 / 256, 8.0 * t->sampled));
	int seen = 0;

	for (int i = 0; i < 4; i++)
		seen += __builtin_popcountll(t->seen[i]);
	return t->sampled < 4 || seen > 0.88 * expected ? 1 : seen / expected;
}

static enum content class_of(const struct tally *t)
{
	double cost = t->noise * variety(t) + t->text * 0.5;
	int k = (int)(cost * LINE_WORDS / (double)t->words + 0.5);

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
	struct tally t = {0};

	if (size < sizeof(uint64_t))
		return classify_tiny(p, size);
	if (is_repeated(p, size))
		return word_at(p, 0) ? CONTENT_REPEATED : CONTENT_ZERO;
	if (!lines)
		look_at_words(&t, p, size / sizeof(uint64_t), true);
	for (size_t i = 0; i < lines; i += step)
		look_at_words(&t, p + i * LINE_BYTES, LINE_WORDS, i / step % SAMPLE_EVERY == 0);
	return class_of(&t);
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
