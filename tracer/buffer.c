/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include <string.h>

#include "vec.h"

/* An event in the ring; the values of its arguments follow, then its strings. */
struct record {
	uint32_t bytes; /* of the whole record, a multiple of 8 */
	uint32_t op;    /* 0: nothing more before the end of the ring */
	uint32_t thread, event_flags;
	uint64_t start_ns, took_ns, cpu_ns;
	int64_t result;
	uint64_t args[];
};

void buffer_init(struct trace_buffer *b, struct trace_writer *w)
{
	memset(b, 0, sizeof(*b));
	b->writer = w;
	b->data = xmalloc(BUFFER_SIZE);
}

void buffer_done(struct trace_buffer *b)
{
	free(b->data);
}

size_t buffer_need(const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];
	size_t texts = 0;

	for (unsigned a = 0; a < op->arg_count; a++) {
		if (!arg_is_text(&op->args[a]))
			continue;
		size_t size = event_text(ev, &op->args[a])->size;
		if (size > TEXT_MAX)
			return 0;
		texts += size;
	}
	size_t need = sizeof(struct record) + op->arg_count * sizeof(uint64_t) + texts;
	/* A record lies in one piece, so it must fit beside the unused end of the ring. */
	return need > BUFFER_SIZE / 2 - 8 ? 0 : (need + 7) & ~(size_t)7;
}

/* Bytes at the end of the ring that a record of this size cannot use. */
static size_t buffer_gap(uint64_t head, size_t need)
{
	size_t to_end = BUFFER_SIZE - head % BUFFER_SIZE;

	return need > to_end ? to_end : 0;
}

bool buffer_room(struct trace_buffer *b, size_t need)
{
	uint64_t head = atomic_load_explicit(&b->head, memory_order_relaxed);
	uint64_t end = head + buffer_gap(head, need) + need;

	if (end - b->seen_tail > BUFFER_SIZE)
		b->seen_tail = atomic_load_explicit(&b->tail, memory_order_acquire);
	return end - b->seen_tail <= BUFFER_SIZE;
}

static void record_fill(struct record *r, const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];
	char *texts = (char *)&r->args[op->arg_count];

	for (unsigned a = 0; a < op->arg_count; a++) {
		const struct op_arg *arg = &op->args[a];
		if (!arg_is_text(arg)) {
			r->args[a] = *event_number(ev, arg);
			continue;
		}
		const struct text *t = event_text(ev, arg);
		r->args[a] = t->size;
		if (t->size)
			memcpy(texts, t->data, t->size);
		texts += t->size;
	}
}

size_t buffer_put(struct trace_buffer *b, const struct event *ev, size_t need)
{
	uint64_t head = atomic_load_explicit(&b->head, memory_order_relaxed);
	size_t gap = buffer_gap(head, need);

	if (gap) {
		struct record *skip = (struct record *)(b->data + head % BUFFER_SIZE);
		skip->bytes = (uint32_t)gap;
		skip->op = 0;
		head += gap;
	}
	struct record *r = (struct record *)(b->data + head % BUFFER_SIZE);
	r->bytes = (uint32_t)need;
	r->op = ev->op;
	r->thread = ev->thread;
	r->event_flags = ev->event_flags;
	r->start_ns = ev->start_ns;
	r->took_ns = ev->took_ns;
	r->cpu_ns = ev->cpu_ns;
	r->result = ev->result;
	record_fill(r, ev);
	atomic_store_explicit(&b->head, head + need, memory_order_release);
	return head + need - b->seen_tail;
}

static const struct record *buffer_record(const struct trace_buffer *b)
{
	return (const struct record *)(b->data + b->at % BUFFER_SIZE);
}

/* Pass over an unused end of the ring and note when the next event ended. */
static void buffer_settle(struct trace_buffer *b)
{
	if (buffer_empty(b))
		return;
	const struct record *r = buffer_record(b);
	if (!r->op) {
		b->at += r->bytes;
		r = buffer_record(b);
	}
	b->next_end_ns = r->start_ns + r->took_ns;
}

void buffer_look(struct trace_buffer *b, uint64_t now)
{
	uint64_t pending = atomic_load(&b->pending);

	if (pending == PENDING_NONE)
		b->horizon_ns = now;
	else if (pending != PENDING_CLOCK)
		b->horizon_ns = pending;
	/* else: as far as last time */
	b->limit = atomic_load_explicit(&b->head, memory_order_acquire);
	buffer_settle(b);
}

void buffer_take(struct trace_buffer *b, struct event *ev)
{
	const struct record *r = buffer_record(b);
	const struct op_desc *op = &op_descs[r->op];
	const char *texts = (const char *)&r->args[op->arg_count];

	memset(ev, 0, sizeof(*ev));
	ev->op = (enum op)r->op;
	ev->thread = r->thread;
	ev->event_flags = r->event_flags;
	ev->start_ns = r->start_ns;
	ev->took_ns = r->took_ns;
	ev->cpu_ns = r->cpu_ns;
	ev->result = r->result;
	for (unsigned a = 0; a < op->arg_count; a++) {
		const struct op_arg *arg = &op->args[a];
		if (!arg_is_text(arg)) {
			*event_number(ev, arg) = r->args[a];
			continue;
		}
		*event_text(ev, arg) = (struct text){texts, r->args[a]};
		texts += r->args[a];
	}
	b->at += r->bytes;
	buffer_settle(b);
}

void buffer_release(struct trace_buffer *b)
{
	atomic_store_explicit(&b->tail, b->at, memory_order_release);
}
