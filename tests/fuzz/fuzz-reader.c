/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace: reading, checking and printing it end with an answer. The bytes are tried
 * as they are, and again with the checksums of their frames made right, which no fuzzer would find.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bulk.h"
#include "cleanup.h"
#include "consistency.h"
#include "crc32c.h"
#include "format.h"
#include "io.h"
#include "paths.h"
#include "print.h"
#include "reader.h"
#include "vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *null_out;

static uint32_t word_at(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void repair_checksums(uint8_t *data, size_t size)
{
	size_t at = FILE_HEADER_SIZE;

	while (at + FRAME_HEADER_SIZE <= size) {
		uint32_t stored = word_at(data + at + 8);
		uint8_t *payload = data + at + FRAME_HEADER_SIZE;
		if (stored > size - at - FRAME_HEADER_SIZE)
			break;
		uint32_t crc = crc32c(crc32c(0, data + at, 12), payload, stored);
		for (int i = 0; i < 4; i++)
			data[at + 12 + (size_t)i] = (uint8_t)(crc >> 8 * i);
		at += FRAME_HEADER_SIZE + stored;
	}
}

static void use_event(
	struct trace_reader *r, struct paths *paths, struct consistency *c, const struct event *ev)
{
	const struct trace_thread *t = trace_reader_thread(r, ev->thread);

	consistency_event(c, ev);
	print_event(null_out, ev, paths, t);
	json_decref(event_json(ev, paths, t));
	paths_event(paths, ev);
	paths_class(paths, ev->file);
}

static void read_all(struct trace_reader *r)
{
	struct paths *paths = paths_new();
	struct consistency *c = consistency_new();
	struct error err;
	struct tree_entry entry;
	struct event ev;
	uint64_t middle = 0;

	while (trace_reader_tree(r, &entry, &err) > 0) {
		consistency_tree(c, &entry);
		paths_tree(paths, &entry);
		print_tree_entry(null_out, &entry, paths);
		json_decref(tree_entry_json(&entry, paths));
	}
	while (trace_reader_next(r, &ev, &err) > 0) {
		use_event(r, paths, c, &ev);
		middle = ev.start_ns;
	}
	if (trace_reader_seek(r, middle, &err) == 0)
		trace_reader_next(r, &ev, &err);
	trace_reader_rewind(r, &err);
	trace_reader_next(r, &ev, &err);
	consistency_free(c);
	paths_free(paths);
}

static void read_waits(struct trace_reader *r)
{
	struct trace_wait w;
	struct error err;

	trace_reader_rewind(r, &err);
	while (trace_reader_wait(r, &w, &err) > 0)
		print_wait(null_out, &w, trace_reader_thread(r, w.thread),
			w.waker ? trace_reader_thread(r, w.waker) : NULL);
}

static void read_bulk(const char *path)
{
	static uint8_t data[1 << 16];
	struct bulk *b = NULL;
	struct error err;
	size_t count = 0;

	if (bulk_open(&b, path, &err) < 0 || !b)
		return;
	for (uint64_t i = 0; i < 20; i++) {
		bulk_read(b, i, data, sizeof(data));
		const struct bulk_place *p = bulk_file(b, i, &count);
		if (count)
			bulk_read(b, p->number, data, sizeof(data));
		bulk_final(b, i);
	}
	bulk_close(b);
}

static void read_file(const char *path)
{
	struct trace_reader *r = NULL;
	struct trace_totals totals;
	struct error err;

	if (trace_reader_open(&r, path, &err) < 0)
		return;
	read_bulk(path);
	trace_reader_totals(r, &totals);
	read_all(r);
	read_waits(r);
	trace_reader_close(r);
}

static void try_bytes(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("fuzz", MFD_CLOEXEC);
	auto_free char *path = xasprintf("/proc/self/fd/%d", fd);

	if (write_all(fd, data, size) == 0)
		read_file(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free uint8_t *copy = xmalloc(size);

	if (!null_out)
		null_out = fopen("/dev/null", "w");
	if (!null_out)
		return 0;
	try_bytes(data, size);
	memcpy(copy, data, size);
	repair_checksums(copy, size);
	if (memcmp(copy, data, size))
		try_bytes(copy, size);
	return 0;
}
