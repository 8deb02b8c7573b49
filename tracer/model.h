/* SPDX-License-Identifier: MIT */
/*
 * What a value in a block of events is predicted from. Encoder and decoder feed the same values in
 * the same order, so both predict the same; every block starts from an empty model.
 *
 * All memories share one small table without collision checks: two that meet only predict worse.
 */
#ifndef MODEL_H
#define MODEL_H

#include <string.h>

#include "format.h"
#include "op.h"

enum predict {
	PREDICT_NONE = 0,     /* 0 */
	PREDICT_LAST = 1,     /* the column's previous value */
	PREDICT_THREAD = 2,   /* its previous value by this thread */
	PREDICT_PATTERN1 = 3, /* what followed the thread's last value last time */
	PREDICT_PATTERN2 = 4, /* ... its last two values */
	PREDICT_PATTERN3 = 5, /* ... its last three */
	PREDICT_HANDLE = 6,   /* the last value in a slot of this name for this handle */
	PREDICT_FILE = 7,     /* the column's previous value for this file */
	PREDICT_NEXT = 8,     /* where the column's previous transfer in this file ended */
	PREDICT_NEWEST = 9,   /* the highest value of this kind so far */
	PREDICT_SIZE = 10,    /* the result of a transfer of the whole size (zigzag) */
	PREDICT_THINK = 11,   /* the thread's pause before this event */
	PREDICT_COUNT,
};

#define MODEL_BITS 13

struct model {
	uint64_t cells[1 << MODEL_BITS];
	uint64_t newest[256]; /* by kind */
};

/* The event at hand, as far as it is decoded. */
struct facts {
	uint64_t thread, handle, file, size, think;
};

/* A column's own keys, mixed once. */
struct model_key {
	uint64_t column, slot;
	uint8_t kind;
};

#define MIX(a) ((a)*UINT64_C(0x9e3779b97f4a7c15))

static inline uint64_t *model_cell(struct model *m, uint64_t key, uint64_t what)
{
	uint64_t h = (key ^ what) * UINT64_C(0xd6e8feb86659fd93);

	return &m->cells[(h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93) >> (64 - MODEL_BITS)];
}

static inline void model_clear(struct model *m)
{
	memset(m, 0, sizeof(*m));
}

/* Keys of column `slot` (a name's digest) of operation `op`. */
static inline struct model_key model_key(unsigned op, unsigned column, uint64_t slot, uint8_t kind)
{
	return (struct model_key){MIX((uint64_t)op << 8 | (column + 1)), MIX(slot + 1), kind};
}

/* A value as 20 bits of history. */
static inline uint64_t model_digest(uint64_t v)
{
	return MIX(v ^ v >> 29) >> 44;
}

#define PATTERN_MASK(values) ((UINT64_C(1) << 20 * (values)) - 1)

/*
 * The prediction, and in *ret_cell where the outcome must be stored (it may be NULL). model_learn()
 * must follow with the outcome.
 */
static inline uint64_t model_predict(struct model *m, enum predict predict,
	const struct model_key *k, const struct facts *f, uint64_t **ret_cell)
{
	uint64_t key = k->column + MIX(predict + 64), history;

	*ret_cell = NULL;
	switch (predict) {
	case PREDICT_LAST:
		*ret_cell = model_cell(m, key, 0);
		break;
	case PREDICT_THREAD:
		*ret_cell = model_cell(m, key, MIX(f->thread));
		break;
	case PREDICT_PATTERN1:
	case PREDICT_PATTERN2:
	case PREDICT_PATTERN3:
		history = *model_cell(m, k->column, MIX(f->thread));
		*ret_cell = model_cell(
			m, key, MIX(history & PATTERN_MASK(predict - PREDICT_PATTERN1 + 1)));
		break;
	case PREDICT_HANDLE:
		return *model_cell(m, k->slot, MIX(f->handle));
	case PREDICT_FILE:
	case PREDICT_NEXT:
		*ret_cell = model_cell(m, key, MIX(f->file));
		break;
	case PREDICT_NEWEST:
		return m->newest[k->kind];
	case PREDICT_SIZE:
		return f->size << 1;
	case PREDICT_THINK:
		return f->think;
	case PREDICT_NONE:
	case PREDICT_COUNT:
		return 0;
	}
	return **ret_cell;
}

/* Store an outcome in the cell of its prediction. */
static inline void model_learn(struct model *m, enum predict predict, uint64_t *cell,
	const struct facts *f, uint64_t value)
{
	if (cell)
		*cell = predict == PREDICT_NEXT ? value + f->size : value;
}

/* What every column remembers, once per value, whatever predicts it. `patterns`: the column's own
 * prediction is one of the three. */
static inline void model_remember(struct model *m, const struct model_key *k, const struct facts *f,
	uint64_t value, bool patterns)
{
	if (f->handle)
		*model_cell(m, k->slot, MIX(f->handle)) = value;
	if (value > m->newest[k->kind])
		m->newest[k->kind] = value;
	if (patterns) {
		uint64_t *history = model_cell(m, k->column, MIX(f->thread));
		*history = *history << 20 | model_digest(value);
	}
}

#endif
