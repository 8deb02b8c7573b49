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

#define MODEL_BITS 12

struct model {
	uint64_t cells[1 << MODEL_BITS];
	uint64_t newest[KIND_COUNT];
};

/* A number spread over 64 bits; an index into the cells is the highest MODEL_BITS of a sum of these.
 */
#define MIX(a) ((uint64_t)(a)*UINT64_C(0x9e3779b97f4a7c15))

/* The event at hand, as far as it is decoded: MIX() of its ids, and numbers as they are. */
struct facts {
	uint64_t thread, handle, file;
	uint64_t size, think;
	uint64_t other; /* what predicts nothing goes here */
};

/* What is the same for all values of a column in a block. */
struct model_key {
	uint64_t own;  /* the cells of the column's prediction */
	uint64_t past; /* ... of each thread's history in this column */
	uint64_t slot; /* ... of the handles' memory, common to arguments of one name */
	/* Masks: what of the facts picks the cell, all or nothing; how much of the history. */
	uint64_t thread, file, handle, history;
	uint8_t predict, kind;
	bool celled;                      /* predicted by a cell */
	bool learns;                      /* ... which is its own: nothing else feeds it */
	bool by_handle, newest, patterns; /* which memories it feeds */
};

/*
 * What the columns of a block are predicted from: a memory that none uses is not fed. Both sides
 * must agree on that, as memories share their cells.
 */
struct model_use {
	uint64_t slots[4]; /* a filter of slots whose memory by handle is used */
	bool newest[KIND_COUNT];
};

/* Arguments of these kinds are remembered by handle, and by the highest value. */
#define KINDS_BY_HANDLE (1u << KIND_FILE | 1u << KIND_FLAGS | 1u << KIND_NUMBER)
#define KINDS_NEWEST                                                                               \
	(1u << KIND_FILE | 1u << KIND_HANDLE | 1u << KIND_NAME | 1u << KIND_BYTES | 1u << KIND_HASH)

static inline uint64_t *model_cell(struct model *m, uint64_t place)
{
	return &m->cells[place >> (64 - MODEL_BITS)];
}

static inline void model_clear(struct model *m)
{
	memset(m, 0, sizeof(*m));
}

/* Keys of column number `column` of operation `op`; `kind` of an argument, or KIND_COUNT. */
static inline struct model_key model_key(unsigned op, unsigned column, uint64_t slot, uint8_t kind)
{
	uint64_t base = MIX(MIX(op << 8 | (column + 1)) >> 20);
	unsigned bit = kind < KIND_COUNT ? 1u << kind : 0;

	return (struct model_key){
		.own = base,
		.past = base + MIX(UINT64_C(0x9a57)),
		.slot = MIX(MIX(slot) >> 20),
		.kind = kind < KIND_COUNT ? kind : 0,
		.by_handle = bit & KINDS_BY_HANDLE,
		.newest = bit & KINDS_NEWEST,
	};
}

#define PATTERN_MASK(values) ((UINT64_C(1) << 20 * (values)) - 1)

static inline uint64_t all_if(bool yes)
{
	return yes ? UINT64_MAX : 0;
}

/* The same column under one of the predictions. */
static inline struct model_key model_key_for(struct model_key k, enum predict predict)
{
	bool in_file = predict == PREDICT_FILE || predict == PREDICT_NEXT;

	k.patterns = predict >= PREDICT_PATTERN1 && predict <= PREDICT_PATTERN3;
	k.own = predict == PREDICT_HANDLE ? k.slot : k.own + MIX((uint64_t)predict << 40);
	k.predict = (uint8_t)predict;
	k.learns = k.patterns || in_file || predict == PREDICT_LAST || predict == PREDICT_THREAD;
	k.celled = k.learns || predict == PREDICT_HANDLE;
	k.thread = all_if(predict == PREDICT_THREAD);
	k.file = all_if(in_file);
	k.handle = all_if(predict == PREDICT_HANDLE);
	k.history = k.patterns ? PATTERN_MASK(predict - PREDICT_PATTERN1 + 1) : 0;
	return k;
}

static inline void model_use_add(struct model_use *use, const struct model_key *k)
{
	if (k->predict == PREDICT_HANDLE)
		use->slots[k->slot >> 62] |= UINT64_C(1) << (k->slot >> 56 & 63);
	if (k->predict == PREDICT_NEWEST)
		use->newest[k->kind] = true;
}

/* After all columns were added. */
static inline void model_use_apply(const struct model_use *use, struct model_key *k)
{
	k->by_handle &= use->slots[k->slot >> 62] >> (k->slot >> 56 & 63) & 1;
	k->newest &= use->newest[k->kind];
}

/* A value as 20 bits of history. */
static inline uint64_t model_digest(uint64_t v)
{
	return MIX(v ^ v >> 29) >> 44;
}

/* What is not in a cell. */
static inline uint64_t model_derive(
	const struct model *m, const struct model_key *k, const struct facts *f)
{
	switch ((enum predict)k->predict) {
	case PREDICT_NEWEST:
		return m->newest[k->kind];
	case PREDICT_SIZE:
		return f->size << 1;
	case PREDICT_THINK:
		return f->think;
	case PREDICT_NONE:
	case PREDICT_LAST:
	case PREDICT_THREAD:
	case PREDICT_PATTERN1:
	case PREDICT_PATTERN2:
	case PREDICT_PATTERN3:
	case PREDICT_HANDLE:
	case PREDICT_FILE:
	case PREDICT_NEXT:
	case PREDICT_COUNT:
		break;
	}
	return 0;
}

/*
 * The prediction, and in *ret_cell where model_learn() must store the outcome (it may be NULL).
 * Columns take turns here, so masks are cheaper than a branch for each prediction.
 */
static inline uint64_t model_predict(
	struct model *m, const struct model_key *k, const struct facts *f, uint64_t **ret_cell)
{
	*ret_cell = NULL;
	if (!k->celled)
		return model_derive(m, k, f);
	uint64_t history = *model_cell(m, k->past + f->thread) & k->history;
	uint64_t place = k->own + (f->thread & k->thread) + (f->file & k->file) +
	                 (f->handle & k->handle) + MIX(history);
	uint64_t *cell = model_cell(m, place);
	if (k->learns)
		*ret_cell = cell;
	return *cell;
}

/* Store an outcome in the cell of its prediction. */
static inline void model_learn(
	const struct model_key *k, uint64_t *cell, const struct facts *f, uint64_t value)
{
	if (cell)
		*cell = k->predict == PREDICT_NEXT ? value + f->size : value;
}

/* What a column remembers of each value, once, whatever predicts it. */
static inline void model_remember(
	struct model *m, const struct model_key *k, const struct facts *f, uint64_t value)
{
	if (k->by_handle && f->handle)
		*model_cell(m, k->slot + f->handle) = value;
	if (k->newest && value > m->newest[k->kind])
		m->newest[k->kind] = value;
	if (k->patterns) {
		uint64_t *history = model_cell(m, k->past + f->thread);
		*history = *history << 20 | model_digest(value);
	}
}

#endif
