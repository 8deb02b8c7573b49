/* SPDX-License-Identifier: MIT */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
