/* SPDX-License-Identifier: MIT */
/*
 * A ring of steps and a ring of bytes for what they point at.
 *
 *      oldest                    newest
 *        v                         v
 *   ... [done][busy][done][busy][busy] ( free ) ...      steps
 *   ... [texts and waits, in the same order   ] ...      bytes
 *
 * The consumer moves `oldest` over steps that are finished; a step that takes long holds back what
 * came after it, so with a full window nothing new is compiled until it ends.
 *
 * Sleeping on a full window: the consumer names one step, a quarter of the window ahead of the
 * oldest, and the thread that finishes it wakes it. Waking per step would cost more than the steps.
 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "futex.h"
#include "vec.h"

#define BYTES     (UINT64_C(4) << 20) /* 256 for each step of a default window */
#define LOOK      256                 /* steps between two looks at what is finished */
#define ALIGN     8
#define NO_STEP   UINT32_MAX
#define SLEEP_MAX (100 * NSEC_PER_MSEC)

/* The data of a step, freed with it. */
struct window_data {
	void *bytes;
	uint64_t size;
};

#define DATA_MAX (UINT64_C(128) << 20) /* of all steps; a single one may have more */

struct window {
	struct compiler *compiler;
	uint32_t size;
	struct step *steps;
	atomic_uchar *finished;
	uint64_t *bytes_after; /* position in `bytes` after the step's texts */
	uint64_t oldest, newest;
	uint8_t *bytes;
	uint64_t bytes_oldest, bytes_newest; /* positions; modulo BYTES */
	struct draft draft;                  /* compiled, but there is no room for its texts */
	bool drafted;
	struct window_data *data; /* by place: what the step writes, if that is stored */
	uint64_t data_bytes;
	_Atomic uint32_t sleeping_for; /* place of the step that wakes the consumer, or NO_STEP */
};

struct window *window_new(struct compiler *c, uint32_t size)
{
	struct window *w = ALLOC(struct window);

	w->compiler = c;
	w->size = size;
	w->steps = ALLOC_ARRAY(struct step, size);
	w->finished = ALLOC_ARRAY(atomic_uchar, size);
	w->bytes_after = ALLOC_ARRAY(uint64_t, size);
	w->bytes = xmalloc(BYTES);
	w->data = ALLOC_ARRAY(struct window_data, size);
	atomic_init(&w->sleeping_for, NO_STEP);
	return w;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->size; i++)
		free(w->data[i].bytes);
	if (w->drafted)
		free(w->draft.data);
	free(w->data);
	free(w->steps);
	free(w->finished);
	free(w->bytes_after);
	free(w->bytes);
	free(w);
}

static uint32_t place(const struct window *w, uint64_t number)
{
	return (uint32_t)(number & (w->size - 1));
}

uint32_t window_index(const struct window *w, const struct step *step)
{
	return (uint32_t)(step - w->steps);
}

struct step *window_step(struct window *w, uint32_t place_in_it)
{
	return &w->steps[place_in_it];
}

uint32_t window_size(const struct window *w)
{
	return w->size;
}

uint64_t window_progress(const struct window *w)
{
	return w->oldest;
}

static void drop_data(struct window *w, uint32_t i)
{
	free(w->data[i].bytes);
	w->data_bytes -= w->data[i].size;
	w->data[i] = (struct window_data){0};
}

static void advance_oldest(struct window *w)
{
	while (w->oldest < w->newest &&
		atomic_load_explicit(&w->finished[place(w, w->oldest)], memory_order_acquire)) {
		w->bytes_oldest = w->bytes_after[place(w, w->oldest)];
		if (w->data[place(w, w->oldest)].bytes)
			drop_data(w, place(w, w->oldest));
		w->oldest++;
	}
}

bool window_idle(struct window *w)
{
	advance_oldest(w);
	return w->oldest == w->newest;
}

static uint64_t rounded(uint64_t size)
{
	return (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static uint64_t text_size(struct text text)
{
	return text.data ? rounded(text.size + 1) : 0;
}

static uint64_t draft_size(const struct draft *d)
{
	uint64_t size = rounded(d->step->wait_count * sizeof(struct wait));

	if (d->has_args)
		size += rounded(sizeof(d->args)) + text_size(d->name) + text_size(d->name2) +
		        text_size(d->attribute) + text_size(d->value);
	return size;
}

/* A stretch of bytes that does not wrap, or NULL when there is no room. */
static uint8_t *take_bytes(struct window *w, uint64_t size)
{
	uint64_t at = w->bytes_newest % BYTES;

	if (at + size > BYTES)
		at = BYTES; /* leave out the rest before the wrap */
	uint64_t end = w->bytes_newest - w->bytes_newest % BYTES + at + size;
	if (end - w->bytes_oldest > BYTES)
		return NULL;
	w->bytes_newest = end;
	return w->bytes + at % BYTES;
}

static const char *put_text(uint8_t **at, struct text text)
{
	char *copy = (char *)*at;

	if (!text.data)
		return NULL;
	memcpy(copy, text.data, text.size);
	copy[text.size] = '\0';
	*at += text_size(text);
	return copy;
}

static void put_args(struct step *step, const struct draft *d, uint8_t **at)
{
	struct step_args *args = (struct step_args *)(void *)*at;

	*at += rounded(sizeof(*args));
	*args = d->args;
	args->name = put_text(at, d->name);
	args->name2 = put_text(at, d->name2);
	args->attribute = put_text(at, d->attribute);
	args->value = put_text(at, d->value);
	args->value_size = (uint32_t)d->value.size;
	if (!args->value)
		args->value = "";
	step->args = args;
}

/* The draft, which is in its place already, becomes the newest step of the window. */
static struct step *pack(struct window *w, const struct draft *d)
{
	uint64_t size = draft_size(d);
	uint8_t *at = size ? take_bytes(w, size) : w->bytes;

	if (!at)
		return NULL;
	uint32_t i = place(w, w->newest);
	struct step *step = d->step;
	if (step->wait_count) {
		memcpy(at, step->waits, step->wait_count * sizeof(struct wait));
		step->waits = (const struct wait *)(const void *)at;
		at += rounded(step->wait_count * sizeof(struct wait));
	}
	if (d->has_args)
		put_args(step, d, &at);
	if (d->data) {
		w->data[i] = (struct window_data){d->data, step->size};
		w->data_bytes += step->size;
	}
	w->bytes_after[i] = w->bytes_newest;
	atomic_store_explicit(&w->finished[i], 0, memory_order_relaxed);
	w->newest++;
	return step;
}

int window_next(struct window *w, struct step **ret, struct error *err)
{
	if (w->newest - w->oldest == w->size || w->drafted || w->newest % LOOK == 0)
		advance_oldest(w);
	if (w->data_bytes > DATA_MAX)
		advance_oldest(w);
	if (w->newest - w->oldest == w->size || w->data_bytes > DATA_MAX)
		return -EAGAIN;
	if (!w->drafted) {
		w->draft.step = &w->steps[place(w, w->newest)];
		int r = compiler_next(w->compiler, w->oldest, &w->draft, err);
		if (r <= 0)
			return r;
	}
	*ret = pack(w, &w->draft);
	w->drafted = !*ret;
	return *ret ? 1 : -EAGAIN;
}

void window_wait(struct window *w)
{
	const struct timespec limit = {.tv_nsec = (long)SLEEP_MAX};
	uint64_t busy = w->newest - w->oldest;

	if (busy == 0)
		return;
	uint32_t target = place(w, w->oldest + (busy - 1) / 4);
	atomic_store(&w->sleeping_for, target);
	if (!atomic_load(&w->finished[target]))
		futex_wait(&w->sleeping_for, target, &limit);
	atomic_store(&w->sleeping_for, NO_STEP);
	advance_oldest(w);
}

void window_finish(struct window *w, struct step *step)
{
	uint32_t i = window_index(w, step);

	atomic_store(&w->finished[i], 1);
	if (atomic_load(&w->sleeping_for) == i) {
		atomic_store(&w->sleeping_for, NO_STEP);
		futex_wake(&w->sleeping_for, 1);
	}
}

void window_finish_here(struct window *w, struct step *step)
{
	atomic_store_explicit(&w->finished[window_index(w, step)], 1, memory_order_relaxed);
}
