/* SPDX-License-Identifier: MIT */
/*
 * One column of a block: the residuals that a prediction left, packed.
 *
 * A residual is a hit (the value is the prediction), the value itself, or its difference from the
 * prediction. Each becomes one symbol of a byte: COLUMN_HIT, an index into the column's dictionary,
 * or a magnitude followed by that many raw bits. The symbols are entropy-coded by zstd.
 */
#ifndef COLUMN_H
#define COLUMN_H

#include <endian.h>

#include "bytes.h"
#include "model.h"

struct residual {
	uint64_t value; /* as a difference it is signed */
	bool hit;
};

/* How a column is modelled. */
struct column_code {
	uint8_t predict; /* enum predict */
	bool difference;
};

#define COLUMN_HIT      255
#define COLUMN_DICT_MAX 254

/* First byte of a packed column: enum predict in the low 4 bits, and these. */
#define COLUMN_DIFFERENCE 0x10
#define COLUMN_DICT       0x20
#define COLUMN_CONSTANT   0x40 /* one symbol stands for all */
#define COLUMN_ZSTD       0x80 /* the symbols are compressed */

/* Scratch memory of the packer, kept from column to column. */
struct packer;
struct packer *packer_new(void);
void packer_free(struct packer *p);

/* About how many bits column_pack() would need. At most BLOCK_EVENTS residuals. */
double column_cost(
	struct packer *p, struct column_code code, const struct residual *r, size_t count);

/* Append the packed column. */
void column_pack(struct packer *p, struct column_code code, const struct residual *r, size_t count,
	struct bytes *out);

/* A packed column being read: small, because many are in use at once. */
struct column {
	const uint8_t *symbols;
	const uint64_t *values; /* the dictionary, unfolded */
	const uint64_t *ready;  /* not NULL: no prediction, and here are all values */
	uint64_t fixed_value;   /* if fixed: every value is this one, without any prediction */
	const uint8_t *bits;
	uint32_t bit, bit_end;
	bool *bad;    /* set when the column has no such value */
	uint8_t step; /* 0 when one symbol stands for all */
	uint8_t shift, value_count;
	struct column_code code;
	bool dict, fixed;
};

struct unpacker;
struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *u);
/* Forget the columns of the last block; the next one has so many values in all its columns. */
void unpacker_reset(struct unpacker *u, size_t values);
/*
 * Take one packed column of `count` values from `c`. What it points to lives in the unpacker or
 * behind `c`, where COLUMN_SLACK bytes must be readable past the end. False if malformed; *bad is set
 * if that shows later.
 */
#define COLUMN_SLACK 16
bool column_open(struct unpacker *u, struct cursor *c, size_t count, bool *bad, struct column *ret);

#define SYMBOL_PLAIN 8 /* values below are their own symbol */

/* Extra bits of a symbol of magnitude, and the value's upper part. */
static inline unsigned symbol_extra(uint8_t symbol)
{
	return symbol < SYMBOL_PLAIN ? 0 : (unsigned)(symbol - SYMBOL_PLAIN) / 4 + 1;
}

static inline uint64_t symbol_base(uint8_t symbol, unsigned extra)
{
	return symbol < SYMBOL_PLAIN
	               ? symbol
	               : (UINT64_C(4) + ((unsigned)(symbol - SYMBOL_PLAIN) & 3)) << extra;
}

/* `count` (1..62) bits; 0 and `bad` when there are no more. */
static inline uint64_t column_bits(struct column *c, unsigned count)
{
	uint64_t low, at = c->bit & 7;
	const uint8_t *p = c->bits + (c->bit >> 3);

	if (c->bit + count > c->bit_end) {
		*c->bad = true;
		return 0;
	}
	c->bit += count;
	memcpy(&low, p, sizeof(low));
	low = le64toh(low) >> at;
	if (at + count > 64)
		low |= (uint64_t)p[8] << (64 - at);
	return low & ((UINT64_C(1) << count) - 1);
}

/* The next value, given the prediction. At most `count` times. */
static inline uint64_t column_next(struct column *c, uint64_t predicted)
{
	uint8_t symbol = *c->symbols;
	uint64_t v;

	c->symbols += c->step;
	if (symbol == COLUMN_HIT)
		return predicted;
	if (c->dict) {
		if (symbol >= c->value_count) {
			*c->bad = true;
			return 0;
		}
		v = c->values[symbol];
		return c->code.difference ? predicted + v : v;
	}
	unsigned extra = symbol_extra(symbol);
	v = symbol_base(symbol, extra);
	if (extra)
		v |= column_bits(c, extra);
	if (!c->code.difference)
		return v << c->shift;
	return predicted + ((uint64_t)unzigzag(v) << c->shift);
}

#endif
