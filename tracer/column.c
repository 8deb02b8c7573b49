/* SPDX-License-Identifier: MIT */
#include "column.h"

#include <endian.h>
#include <math.h>
#include <zstd.h>

#include "vec.h"

/* A dictionary being collected: open addressing over at most COLUMN_DICT_MAX values. */
struct dict {
	uint64_t values[512];
	uint8_t used[512]; /* 0 = free, else index + 1 */
	uint64_t list[COLUMN_DICT_MAX];
	unsigned count;
	bool full;
};

static void dict_clear(struct dict *d)
{
	memset(d->used, 0, sizeof(d->used));
	d->count = 0;
	d->full = false;
}

/* The index of v, or -1 once there are too many. */
static int dict_index(struct dict *d, uint64_t v)
{
	unsigned i = (unsigned)(MIX(v) >> 55);

	for (; d->used[i]; i = (i + 1) % 512)
		if (d->values[i] == v)
			return d->used[i] - 1;
	if (d->count == COLUMN_DICT_MAX) {
		d->full = true;
		return -1;
	}
	d->values[i] = v;
	d->list[d->count] = v;
	d->used[i] = (uint8_t)(d->count + 1);
	return (int)d->count++;
}

static uint8_t magnitude_symbol(uint64_t v)
{
	if (v < SYMBOL_PLAIN)
		return (uint8_t)v;
	unsigned bits = 64 - (unsigned)__builtin_clzll(v);
	return (uint8_t)(SYMBOL_PLAIN + (bits - 4) * 4 + (v >> (bits - 3) & 3));
}

/* The value that a symbol of magnitude stands for; differences fold to small positive numbers. */
static uint64_t residual_fold(struct column_code code, uint64_t value, unsigned shift)
{
	return code.difference ? zigzag((int64_t)value >> shift) : value >> shift;
}

/* Trailing zero bits that all residuals share. */
static unsigned common_shift(const struct residual *r, size_t count)
{
	uint64_t any = 0;

	for (size_t i = 0; i < count; i++)
		if (!r[i].hit)
			any |= r[i].value;
	return any ? (unsigned)__builtin_ctzll(any) : 0;
}

static double entropy_bits(const uint32_t *counts, size_t limit, size_t total)
{
	double bits = 0;

	for (size_t i = 0; i < limit; i++)
		if (counts[i])
			bits -= counts[i] * log2((double)counts[i] / (double)total);
	return bits;
}

/* Both ways to pack, weighed: symbols by their entropy, bits and dictionary as they are. */
struct weight {
	double plain, dict;
	unsigned shift;
};

static struct weight column_weigh(
	struct dict *d, struct column_code code, const struct residual *r, size_t count)
{
	uint32_t plain[256] = {0}, indexes[256] = {0};
	struct weight w = {.shift = common_shift(r, count)};
	uint64_t raw = 0;

	dict_clear(d);
	for (size_t i = 0; i < count; i++) {
		uint8_t symbol = COLUMN_HIT;
		int index = COLUMN_HIT;
		if (!r[i].hit) {
			symbol = magnitude_symbol(residual_fold(code, r[i].value, w.shift));
			raw += symbol_extra(symbol);
			index = d->full ? -1 : dict_index(d, r[i].value);
		}
		plain[symbol]++;
		if (index >= 0)
			indexes[index]++;
	}
	w.plain = entropy_bits(plain, 256, count) + (double)raw;
	w.dict = d->full ? INFINITY : entropy_bits(indexes, 256, count);
	for (unsigned i = 0; i < d->count && !d->full; i++)
		w.dict += 8 + symbol_extra(magnitude_symbol(residual_fold(code, d->list[i], 0)));
	return w;
}

double column_cost(struct column_code code, const struct residual *r, size_t count)
{
	struct dict d;
	struct weight w = column_weigh(&d, code, r, count);

	return fmin(w.plain, w.dict);
}

struct packer {
	ZSTD_CCtx *zstd;
	struct dict dict;
	struct bytes symbols, packed, bits;
	uint64_t hold; /* bits not yet in `bits` */
	unsigned held;
};

struct packer *packer_new(void)
{
	struct packer *p = ALLOC(struct packer);

	p->zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_contentSizeFlag, 0);
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	bytes_free(&p->symbols);
	bytes_free(&p->packed);
	bytes_free(&p->bits);
	free(p);
}

/* Up to 32 bits, lowest first. */
static void put_bits32(struct packer *p, uint64_t v, unsigned count)
{
	p->hold |= v << p->held;
	p->held += count;
	while (p->held >= 8) {
		put_u8(&p->bits, (uint8_t)p->hold);
		p->hold >>= 8;
		p->held -= 8;
	}
}

static void put_bits(struct packer *p, uint64_t v, unsigned count)
{
	v &= count ? ~UINT64_C(0) >> (64 - count) : 0;
	if (count > 32) {
		put_bits32(p, v & UINT32_MAX, 32);
		v >>= 32;
		count -= 32;
	}
	put_bits32(p, v, count);
}

static void put_magnitudes(struct packer *p, struct column_code code, const struct residual *r,
	size_t count, unsigned shift)
{
	p->bits.size = 0;
	p->hold = p->held = 0;
	for (size_t i = 0; i < count; i++) {
		if (r[i].hit) {
			p->symbols.data[i] = COLUMN_HIT;
			continue;
		}
		uint64_t v = residual_fold(code, r[i].value, shift);
		p->symbols.data[i] = magnitude_symbol(v);
		put_bits(p, v, symbol_extra(p->symbols.data[i]));
	}
	if (p->held)
		put_u8(&p->bits, (uint8_t)p->hold);
}

static void put_indexes(struct packer *p, const struct residual *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		p->symbols.data[i] =
			r[i].hit ? COLUMN_HIT : (uint8_t)dict_index(&p->dict, r[i].value);
}

/* The symbols as one byte, as they are, or compressed, whichever is smallest. */
static uint8_t symbols_squeeze(struct packer *p, size_t count)
{
	const uint8_t *s = p->symbols.data;

	if (!memcmp(s, s + 1, count - 1))
		return COLUMN_CONSTANT;
	bytes_reserve(&p->packed, ZSTD_compressBound(count));
	size_t n = ZSTD_compress2(p->zstd, p->packed.data, p->packed.capacity, s, count);
	p->packed.size = ZSTD_isError(n) ? 0 : n;
	return p->packed.size && p->packed.size + 2 < count ? COLUMN_ZSTD : 0;
}

void column_pack(struct packer *p, struct column_code code, const struct residual *r, size_t count,
	struct bytes *out)
{
	struct weight w = column_weigh(&p->dict, code, r, count);
	bool dict = w.dict < w.plain;

	p->symbols.size = 0;
	bytes_reserve(&p->symbols, count + 1);
	if (dict)
		put_indexes(p, r, count);
	else
		put_magnitudes(p, code, r, count, w.shift);
	uint8_t how = symbols_squeeze(p, count);
	put_u8(out, code.predict | (code.difference ? COLUMN_DIFFERENCE : 0) |
			    (dict ? COLUMN_DICT : 0) | how);
	if (dict) {
		put_u8(out, (uint8_t)p->dict.count);
		for (unsigned i = 0; i < p->dict.count; i++)
			put_varint(out, residual_fold(code, p->dict.list[i], 0));
	} else {
		put_u8(out, (uint8_t)w.shift);
		put_varint(out, p->bits.size);
	}
	if (how == COLUMN_ZSTD) {
		put_varint(out, p->packed.size);
		put_bytes(out, p->packed.data, p->packed.size);
	} else {
		put_bytes(out, p->symbols.data, how == COLUMN_CONSTANT ? 1 : count);
	}
	if (!dict)
		put_bytes(out, p->bits.data, p->bits.size);
}

struct unpacker {
	ZSTD_DCtx *zstd;
	uint8_t *symbols; /* all columns of a block */
	uint64_t *values;
	size_t symbol_count, value_count, limit;
};

struct unpacker *unpacker_new(void)
{
	struct unpacker *u = ALLOC(struct unpacker);

	u->zstd = ZSTD_createDCtx();
	u->limit = (size_t)BLOCK_EVENTS * (ROW_ARGS + 8);
	/* Not touched before it is used: a block of usual size needs a tenth of it. */
	u->symbols = xmalloc(u->limit);
	u->values = xmalloc(u->limit * sizeof(*u->values));
	return u;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->zstd);
	free(u->symbols);
	free(u->values);
	free(u);
}

void unpacker_reset(struct unpacker *u)
{
	u->symbol_count = u->value_count = 0;
}

static bool open_dict(struct unpacker *u, struct cursor *c, struct column *col)
{
	col->value_count = get_u8(c);
	if (u->value_count + col->value_count > u->limit)
		return false;
	uint64_t *values = &u->values[u->value_count];
	for (unsigned i = 0; i < col->value_count; i++) {
		uint64_t v = get_varint(c);
		values[i] = col->code.difference ? (uint64_t)unzigzag(v) : v;
	}
	u->value_count += col->value_count;
	col->values = values;
	return !c->bad;
}

static const uint8_t *open_symbols(struct unpacker *u, struct cursor *c, uint8_t how, size_t count)
{
	if (!(how & COLUMN_ZSTD))
		return get_bytes(c, how & COLUMN_CONSTANT ? 1 : count);
	uint64_t stored = get_varint(c);
	const uint8_t *packed = stored < FRAME_MAX ? get_bytes(c, stored) : NULL;
	uint8_t *symbols = &u->symbols[u->symbol_count];
	if (!packed || count > u->limit - u->symbol_count)
		return NULL;
	if (ZSTD_decompressDCtx(u->zstd, symbols, count, packed, stored) != count)
		return NULL;
	u->symbol_count += count;
	return symbols;
}

bool column_open(struct unpacker *u, struct cursor *c, size_t count, struct column *ret)
{
	uint8_t how = get_u8(c);
	uint64_t bits = 0;

	*ret = (struct column){
		.step = how & COLUMN_CONSTANT ? 0 : 1,
		.code = {how & 0xf, how & COLUMN_DIFFERENCE},
		.dict = how & COLUMN_DICT,
	};
	if (ret->code.predict >= PREDICT_COUNT)
		return false;
	if (ret->dict) {
		if (!open_dict(u, c, ret))
			return false;
	} else {
		ret->shift = get_u8(c);
		bits = get_varint(c);
	}
	ret->symbols = open_symbols(u, c, how, count);
	if (!ret->symbols || ret->shift > 63 || bits > FRAME_MAX)
		return false;
	ret->bits = get_bytes(c, bits);
	ret->bit_end = bits * 8;
	return !c->bad;
}

uint64_t column_bits(struct column *c, unsigned count)
{
	uint64_t low, high = 0;
	unsigned at = c->bit & 7;

	if (c->bit + count > c->bit_end) {
		c->bad = true;
		return 0;
	}
	memcpy(&low, &c->bits[c->bit >> 3], sizeof(low));
	if (at + count > 64)
		high = c->bits[(c->bit >> 3) + 8];
	c->bit += count;
	low = le64toh(low) >> at;
	if (at)
		low |= high << (64 - at);
	return low & (~UINT64_C(0) >> (64 - count));
}
