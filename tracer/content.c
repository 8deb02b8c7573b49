/* SPDX-License-Identifier: MIT */
#include "content.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the widest vectors that the CPU has */
#define XXH_DISPATCH_H
#endif

#include "rng.h"

#define LINE_WORDS 8
#define LINE_BYTES (LINE_WORDS * sizeof(uint64_t))
/* Lines looked at in one piece of data; more of them are spread evenly. */
#define LINES_MAX 8

/* What every x86-64 and arm64 CPU has instructions for. */
#define VECTOR_WORDS 2
typedef uint64_t words __attribute__((vector_size(VECTOR_WORDS * 8)));
typedef uint32_t halves __attribute__((vector_size(VECTOR_WORDS * 8)));
typedef uint8_t octets __attribute__((vector_size(VECTOR_WORDS * 8)));

static uint64_t word_at(const uint8_t *p, size_t i)
{
	uint64_t word;

	memcpy(&word, p + i * sizeof(word), sizeof(word));
	return word;
}

/* Is every word the one before it? */
static bool is_repeated(const uint8_t *p, size_t size)
{
	return size > sizeof(uint64_t) && word_at(p, 0) == word_at(p, 1) &&
	       !memcmp(p, p + 8, size - 8);
}

/*
 * What was seen of the words. One of which a half is zero, or the same as in the word before, costs
 * little. Text costs a compressor about half its size. Noise costs all of it if its bytes are as
 * different from each other as random ones are, and less in machine code or packed records, where
 * some bytes are much more common.
 */
struct tally {
	size_t words;
	uint64_t text, noise;
	uint64_t judged, same; /* words of noise, and of their PAIRS of bytes those that agree */
};

/* Counts by word of a vector. There are no branches, as what comes next cannot be guessed. */
struct counts {
	words text, noise;
	words judged; /* words of noise that count in `same` */
	octets same;
};

#define PAIRS 16 /* each byte with those three and eight bytes before it */

static inline words other_half(words w)
{
	return (words)__builtin_shufflevector((halves)w, (halves)w, 1, 0, 3, 2);
}

/* Which of these words are noise, as a mask; `before` are the words in front of them. */
static inline words look_at_vector(struct counts *c, words w, words before)
{
	words empty = (words)(((halves)w == 0) | ((halves)w == (halves)before));
	words ascii = (words)(((halves)w & 0x80808080) == 0);
	words known = empty | other_half(empty);
	words noise = ~(known | (ascii & other_half(ascii)));

	/* A mask is -1. */
	c->text -= ~(known | noise);
	c->noise -= noise;
	return noise;
}

static inline void judge_noise(struct counts *c, words noise, words w, words third, words before)
{
	c->judged -= noise;
	c->same -= (octets)noise & (octets)((octets)w == (octets)third);
	c->same -= (octets)noise & (octets)((octets)w == (octets)before);
}

static inline words words_at(const uint8_t *p)
{
	words w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Nothing is known of what comes before the line. */
static inline void look_at_line(struct counts *c, const uint8_t *p)
{
	words first = words_at(p);

	look_at_vector(c, first, (words){0, first[0]});
	for (const uint8_t *at = p + sizeof(words); at < p + LINE_BYTES; at += sizeof(words)) {
		words w = words_at(at), before = words_at(at - 8);
		words noise = look_at_vector(c, w, before);
		judge_noise(c, noise, w, words_at(at - 3), before);
	}
}

static void add_counts(struct tally *t, const struct counts *c)
{
	for (int i = 0; i < VECTOR_WORDS; i++) {
		t->text += c->text[i];
		t->noise += c->noise[i];
		t->judged += c->judged[i];
	}
	for (int i = 0; i < VECTOR_WORDS * 8; i++)
		t->same += c->same[i];
}

/*
 * Bits that a byte of noise is worth, over 8: from the chance that two bytes are the same, which is
 * 1/256 for random ones. What may be chance in the few that were looked at counts as such.
 */
static float variety(const struct tally *t)
{
	float expected = (float)t->judged * PAIRS / 256;
	float chance = expected + 4 * sqrtf(expected) + 2;

	if ((float)t->same <= chance)
		return 1;
	return 1 - log2f((float)t->same / expected) / 9;
}

static enum content class_of(const struct tally *t)
{
	float cost = (float)t->noise * variety(t) + (float)t->text * 0.5f;
	int k = (int)(cost * LINE_WORDS / (float)t->words + 0.5f);

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

static enum content classify_varied(const uint8_t *p, size_t size)
{
	uint8_t padded[LINE_BYTES] = {0};
	size_t lines = size / LINE_BYTES, step = (lines + LINES_MAX - 1) / LINES_MAX;
	struct counts counts = {0};
	struct tally t = {0};

	if (!lines) {
		t.words = size / sizeof(uint64_t);
		memcpy(padded, p, t.words * sizeof(uint64_t));
		look_at_line(&counts, padded);
	}
	/* Not at even distances, which rows of a table may have too. */
	for (size_t i = 0, n = 0; i < lines; i += step, n++, t.words += LINE_WORDS)
		look_at_line(&counts, p + min_u64(i + n * 5 % step, lines - 1) * LINE_BYTES);
	add_counts(&t, &counts);
	return class_of(&t);
}

enum content content_classify(const void *data, size_t size)
{
	const uint8_t *p = data;

	if (size < sizeof(uint64_t))
		return classify_tiny(p, size);
	if (is_repeated(p, size))
		return word_at(p, 0) ? CONTENT_REPEATED : CONTENT_ZERO;
	return classify_varied(p, size);
}

#ifdef XXH_DISPATCH_H
/* The library leaves the upper halves of vectors in use, which slows down whatever comes next. */
__attribute__((target("avx"))) static void leave_vectors(void)
{
	__builtin_ia32_vzeroupper();
}

uint64_t content_hash(const void *data, size_t size)
{
	uint64_t hash = XXH3_64bits_dispatch(data, size);

	if (__builtin_cpu_supports("avx"))
		leave_vectors();
	return hash;
}
#else
uint64_t content_hash(const void *data, size_t size)
{
	return XXH3_64bits(data, size);
}
#endif

uint64_t content_look(const void *data, size_t size, enum content *ret)
{
	const uint8_t *p = data;

	if (size >= 2 * sizeof(uint64_t) && is_repeated(p, size)) {
		const uint64_t all[] = {word_at(p, 0), size};
		*ret = all[0] ? CONTENT_REPEATED : CONTENT_ZERO;
		return XXH3_64bits(all, sizeof(all));
	}
	/* The hash first: it brings the data into the cache in order. */
	uint64_t hash = content_hash(p, size);
	*ret = content_classify(p, size);
	return hash;
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
