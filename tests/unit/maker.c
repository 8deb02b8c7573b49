/* SPDX-License-Identifier: MIT */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rng.h"

static void must(int r, const struct error *err)
{
	if (r < 0) {
		fprintf(stderr, "cannot make a trace: %s\n", err->text);
		abort();
	}
}

void maker_open(struct maker *m, const char *path, unsigned threads)
{
	struct error err = {0};
	json_t *meta = json_object();

	*m = (struct maker){.next_file = TREE_ROOT + 1};
	must(trace_writer_open(&m->writer, path, meta, &err), &err);
	json_decref(meta);
	const struct tree_entry root = {.id = TREE_ROOT, .mode = S_IFDIR | 0755};
	must(trace_writer_tree(m->writer, &root, &err), &err);
	for (unsigned i = 1; i <= threads; i++) {
		const struct trace_thread t = {.tid = 100 + i, .tgid = 100, .comm = "test"};
		if (trace_writer_thread(m->writer, &t) != i)
			abort();
	}
}

void maker_close(struct maker *m)
{
	struct error err = {0};

	must(trace_writer_close(m->writer, NULL, &err), &err);
}

struct text maker_text(const char *s)
{
	return (struct text){s, strlen(s)};
}

uint64_t maker_dir(struct maker *m, uint64_t parent, const char *name)
{
	struct error err = {0};
	const struct tree_entry e = {.id = m->next_file++,
		.parent = parent,
		.name = maker_text(name),
		.mode = S_IFDIR | 0755};

	must(trace_writer_tree(m->writer, &e, &err), &err);
	return e.id;
}

uint64_t maker_file(struct maker *m, uint64_t parent, const char *name, uint64_t size)
{
	struct error err = {0};
	const struct tree_extent all = {0, size};
	const struct tree_entry e = {.id = m->next_file++,
		.parent = parent,
		.name = maker_text(name),
		.mode = S_IFREG | 0644,
		.size = size,
		.content = 10,
		.extents = &all,
		.extent_count = size > 0};

	must(trace_writer_tree(m->writer, &e, &err), &err);
	return e.id;
}

void maker_event(struct maker *m, const struct event *ev)
{
	if (!m->buffer)
		m->buffer = trace_buffer_new(m->writer);
	trace_put(m->buffer, ev);
	if (event_end_ns(ev) > m->now_ns)
		m->now_ns = event_end_ns(ev);
}

void maker_put_next(struct maker *m, struct event ev)
{
	ev.start_ns = m->now_ns + 50;
	ev.took_ns = 50;
	maker_event(m, &ev);
}

static uint64_t random_number(struct rng *rng, enum arg_kind kind)
{
	switch (kind) {
	case KIND_FILE:
		return rng_below(rng, 12);
	case KIND_HANDLE:
		return rng_below(rng, 8);
	case KIND_OFFSET:
	case KIND_SIZE:
		return rng_below(rng, 20) ? rng_below(rng, 40000)
		                          : rng_next(rng) >> rng_below(rng, 60);
	case KIND_MODE:
		return (rng_below(rng, 2) ? S_IFREG : rng_next(rng) & S_IFMT) | 0700;
	case KIND_FLAGS:
		return rng_below(rng, 2) ? 2 : rng_next(rng) >> rng_below(rng, 64);
	case KIND_NAME:
	case KIND_NUMBER:
	case KIND_TIME:
	case KIND_BYTES:
	case KIND_CONTENT:
	case KIND_HASH:
	case KIND_COUNT:
		break;
	}
	return rng_below(rng, 4);
}

static struct text random_name(struct rng *rng)
{
	static const char *const names[] = {"a", "b", "c", "d", "..", "a/b", "", "user.a"};

	return maker_text(names[rng_below(rng, sizeof(names) / sizeof(*names))]);
}

void maker_put_random(struct maker *m, struct rng *rng, unsigned threads)
{
	struct event ev = {.op = (enum op)rng_below(rng, OP_LIMIT)};
	const struct op_desc *op = &op_descs[ev.op];

	if (!op->name)
		return;
	for (unsigned i = 0; i < op->arg_count; i++) {
		if (arg_is_text(&op->args[i]))
			*event_text(&ev, &op->args[i]) = random_name(rng);
		else
			*event_number(&ev, &op->args[i]) =
				random_number(rng, (enum arg_kind)op->args[i].kind);
	}
	ev.thread = (uint32_t)rng_below(rng, threads + 1);
	ev.event_flags = rng_below(rng, 10) == 0;
	ev.result = rng_below(rng, 4) ? (int64_t)rng_below(rng, 2) * 100 : -2;
	ev.took_ns = rng_below(rng, 4) ? rng_below(rng, 100) : rng_below(rng, 5000);
	uint64_t end = m->now_ns + rng_below(rng, 100);
	ev.took_ns = ev.took_ns < end ? ev.took_ns : end;
	ev.start_ns = end - ev.took_ns;
	maker_event(m, &ev);
}
