/* SPDX-License-Identifier: MIT */
#include "column.h"

#include <math.h>
#include <pthread.h>
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

/* n * log2(n), for the entropy of counts up to a block. */
static float n_log_n[BLOCK_EVENTS + 1];
static pthread_once_t n_log_n_once = PTHREAD_ONCE_INIT;

static void n_log_n_fill(void)
{
	for (int n = 1; n <= BLOCK_EVENTS; n++)
		n_log_n[n] = (float)(n * log2(n));
}

static double entropy_bits(const uint8_t *symbols, size_t count)
{
	uint32_t counts[256] = {0};
	double bits = n_log_n[count];

	for (size_t i = 0; i < count; i++)
		counts[symbols[i]]++;
	for (size_t i = 0; i < 256; i++)
		bits -= n_log_n[counts[i]];
	return bits;
}

struct packer {
	ZSTD_CCtx *zstd;
	struct dict dict;
	uint8_t magnitudes[BLOCK_EVENTS], indexes[BLOCK_EVENTS];
	struct bytes packed, bits;
	uint64_t hold; /* bits not yet in `bits` */
	unsigned held;
};

struct packer *packer_new(void)
{
	struct packer *p = ALLOC(struct packer);

	pthread_once(&n_log_n_once, n_log_n_fill);
	p->zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_contentSizeFlag, 0);
	/* Repetition is what predictions are for; short matches in what they leave only cost. */
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, 7);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_hashLog, 8);
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	bytes_free(&p->packed);
	bytes_free(&p->bits);
	free(p);
}

/* The symbols as magnitudes; returns how many bits go beside them. */
static uint64_t find_magnitudes(struct packer *p, struct column_code code, const struct residual *r,
	size_t count, unsigned shift)
{
	uint64_t raw = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t symbol = COLUMN_HIT;
		if (!r[i].hit) {
			symbol = magnitude_symbol(residual_fold(code, r[i].value, shift));
			raw += symbol_extra(symbol);
		}
		p->magnitudes[i] = symbol;
	}
	return raw;
}

/* The symbols as indexes of a dictionary; false if there are too many values. */
static bool find_indexes(struct packer *p, const struct residual *r, size_t count)
{
	dict_clear(&p->dict);
	for (size_t i = 0; i < count; i++) {
		int index = r[i].hit ? COLUMN_HIT : dict_index(&p->dict, r[i].value);
		if (index < 0)
			return false;
		p->indexes[i] = (uint8_t)index;
	}
	return true;
}

/* Which way to pack is smaller, and about how many bits it takes. */
struct plan {
	bool dict;
	unsigned shift;
	double bits;
};

static struct plan column_plan(
	struct packer *p, struct column_code code, const struct residual *r, size_t count)
{
	struct plan plan = {.shift = common_shift(r, count)};
	uint64_t raw = find_magnitudes(p, code, r, count, plan.shift);

	plan.bits = entropy_bits(p->magnitudes, count) + (double)raw;
	if (!raw || !find_indexes(p, r, count))
		return plan;
	double bits = entropy_bits(p->indexes, count);
	for (unsigned i = 0; i < p->dict.count; i++)
		bits += 8 + symbol_extra(magnitude_symbol(residual_fold(code, p->dict.list[i], 0)));
	if (bits < plan.bits) {
		plan.dict = true;
		plan.bits = bits;
	}
	return plan;
}

double column_cost(
	struct packer *p, struct column_code code, const struct residual *r, size_t count)
{
	return column_plan(p, code, r, count).bits;
}

static void put_word(struct packer *p, uint64_t v)
{
	bytes_reserve(&p->bits, sizeof(v));
	v = htole64(v);
	memcpy(p->bits.data + p->bits.size, &v, sizeof(v));
	p->bits.size += sizeof(v);
}

/* The lowest `count` (1..63) bits of v. */
static void put_bits(struct packer *p, uint64_t v, unsigned count)
{
	v &= (UINT64_C(1) << count) - 1;
	p->hold |= v << p->held;
	p->held += count;
	if (p->held < 64)
		return;
	put_word(p, p->hold);
	p->held -= 64;
	p->hold = p->held ? v >> (count - p->held) : 0;
}

static void put_all_bits(struct packer *p, struct column_code code, const struct residual *r,
	size_t count, unsigned shift)
{
	p->bits.size = 0;
	p->hold = p->held = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned extra = r[i].hit ? 0 : symbol_extra(p->magnitudes[i]);
		if (extra)
			put_bits(p, residual_fold(code, r[i].value, shift), extra);
	}
	size_t rest = (p->held + 7) / 8, whole = p->bits.size;
	put_word(p, p->hold);
	p->bits.size = whole + rest;
}

/* The symbols as one byte, as they are, or compressed, whichever is smallest. */
static uint8_t symbols_squeeze(struct packer *p, const uint8_t *s, size_t count)
{
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
	struct plan plan = column_plan(p, code, r, count);
	const uint8_t *symbols = plan.dict ? p->indexes : p->magnitudes;
	uint8_t how = symbols_squeeze(p, symbols, count);

	put_u8(out, code.predict | (code.difference ? COLUMN_DIFFERENCE : 0) |
			    (plan.dict ? COLUMN_DICT : 0) | how);
	if (plan.dict) {
		put_u8(out, (uint8_t)p->dict.count);
		for (unsigned i = 0; i < p->dict.count; i++)
			put_varint(out, residual_fold(code, p->dict.list[i], 0));
	} else {
		put_all_bits(p, code, r, count, plan.shift);
		put_u8(out, (uint8_t)plan.shift);
		put_varint(out, p->bits.size);
	}
	if (how == COLUMN_ZSTD) {
		put_varint(out, p->packed.size);
		put_bytes(out, p->packed.data, p->packed.size);
	} else {
		put_bytes(out, symbols, how == COLUMN_CONSTANT ? 1 : count);
	}
	if (!plan.dict)
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

void unpacker_reset(struct unpacker *u, size_t values)
{
	u->symbol_count = u->value_count = 0;
	/* A column can have a dictionary, no larger than itself, and be decoded in one go. */
	values *= 2;
	if (values <= u->limit)
		return;
	u->limit = values;
	u->symbols = xrealloc(u->symbols, values, 1);
	u->values = xrealloc(u->values, values, sizeof(*u->values));
}

static bool open_dict(struct unpacker *u, struct cursor *c, struct column *col, size_t count)
{
	col->value_count = get_u8(c);
	if (col->value_count > count || col->value_count > u->limit - u->value_count)
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

/* Most columns are one value all along, like the result of every fsync. */
static void column_fix(struct column *col)
{
	uint8_t symbol = *col->symbols;

	if (col->step || symbol == COLUMN_HIT || (!col->dict && symbol_extra(symbol)))
		return;
	col->fixed_value = column_next(col, 0);
	col->fixed = true;
}

/* What depends on nothing is decoded in one go. */
static void column_ready(struct unpacker *u, struct column *col, size_t count)
{
	uint64_t *values = &u->values[u->value_count];

	if (count > u->limit - u->value_count)
		return;
	for (size_t i = 0; i < count; i++)
		values[i] = column_next(col, 0);
	u->value_count += count;
	col->ready = values;
}

bool column_open(struct unpacker *u, struct cursor *c, size_t count, bool *bad, struct column *ret)
{
	uint8_t how = get_u8(c);
	uint64_t bits = 0;

	*ret = (struct column){
		.step = how & COLUMN_CONSTANT ? 0 : 1,
		.code = {how & 0xf, how & COLUMN_DIFFERENCE},
		.dict = how & COLUMN_DICT,
		.bad = bad,
	};
	if (ret->code.predict >= PREDICT_COUNT)
		return false;
	if (ret->dict) {
		if (!open_dict(u, c, ret, count))
			return false;
	} else {
		ret->shift = get_u8(c);
		bits = get_varint(c);
	}
	ret->symbols = open_symbols(u, c, how, count);
	if (!ret->symbols || ret->shift > 63 || bits > FRAME_MAX)
		return false;
	ret->bits = get_bytes(c, bits);
	ret->bit_end = (uint32_t)bits * 8;
	if (c->bad)
		return false;
	if (ret->code.predict == PREDICT_NONE)
		column_fix(ret);
	if (ret->code.predict == PREDICT_NONE && !ret->fixed)
		column_ready(u, ret, count);
	return true;
}
