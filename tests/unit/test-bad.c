/* SPDX-License-Identifier: MIT */
/*
 * Malformed traces, one fault each, with checksums that are right: every one is refused with one
 * line that names the file, the byte and the fault.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "check.h"
#include "cleanup.h"
#include "crc32c.h"
#include "format.h"
#include "io.h"
#include "reader.h"
#include "vec.h"
#include "writer.h"

/* A trace taken apart into its frames, so that a fault can be put into one. */
struct part {
	struct frame_header head;
	struct bytes payload;
};

struct parts {
	uint8_t file_header[FILE_HEADER_SIZE];
	struct part at[16];
	unsigned count;
};

static void make_good(const char *path)
{
	struct trace_writer *w;
	struct error err = {0};
	const struct tree_entry root = {.id = 1, .mode = 040755};

	if (!CHECK_EQ(trace_writer_open(&w, path, NULL, &err), 0))
		return;
	trace_writer_tree(w, &root, &err);
	struct trace_buffer *b = trace_buffer_new(w);
	for (uint64_t i = 0; i < 20; i++) {
		struct event ev = {.op = OP_lookup,
			.start_ns = i * 100,
			.took_ns = i,
			.dir = 1,
			.name = {"some name", i % 9},
			.file = i};
		trace_put(b, &ev);
	}
	CHECK_EQ(trace_writer_close(w, NULL, &err), 0);
}

static struct part *part_of(struct parts *p, enum frame_type type)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->at[i].head.type == type)
			return &p->at[i];
	CHECK(false);
	return &p->at[0];
}

static void take_apart(const char *path, struct parts *p)
{
	uint8_t data[8192];
	auto_fclose FILE *f = fopen(path, "r");

	memset(p, 0, sizeof(*p));
	if (!CHECK(f != NULL))
		return;
	struct cursor c = cursor_of(data, fread(data, 1, sizeof(data), f));
	memcpy(p->file_header, get_bytes(&c, FILE_HEADER_SIZE), FILE_HEADER_SIZE);
	while (cursor_left(&c) && p->count < ARRAY_SIZE(p->at)) {
		struct part *part = &p->at[p->count++];
		part->head.type = get_u8(&c);
		part->head.flags = get_u8(&c);
		get_u16(&c);
		part->head.raw = get_u32(&c);
		part->head.stored = get_u32(&c);
		part->head.crc = get_u32(&c);
		put_bytes(&part->payload, get_bytes(&c, part->head.stored), part->head.stored);
	}
	CHECK(!c.bad);
}

static void put_part(FILE *f, const struct part *p)
{
	uint8_t head[FRAME_HEADER_SIZE];
	struct frame_header h = p->head;

	frame_header_put(head, &h);
	/* A wrong checksum is one of the faults. */
	h.crc = h.crc == 1 ? 1 : crc32c(crc32c(0, head, 12), p->payload.data, p->payload.size);
	frame_header_put(head, &h);
	fwrite(head, 1, sizeof(head), f);
	if (p->payload.size)
		fwrite(p->payload.data, 1, p->payload.size, f);
}

static void put_together(const char *path, struct parts *p)
{
	auto_fclose FILE *f = fopen(path, "w");

	if (!CHECK(f != NULL))
		return;
	fwrite(p->file_header, 1, FILE_HEADER_SIZE, f);
	for (unsigned i = 0; i < p->count; i++) {
		put_part(f, &p->at[i]);
		bytes_free(&p->at[i].payload);
	}
}

/* ---- the faults ---- */

static void no_magic(struct parts *p)
{
	p->file_header[0] ^= 1;
}

static void other_major(struct parts *p)
{
	p->file_header[8] = 9;
}

static void wrong_checksum(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->head.crc = 1;
}

static void too_large(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->head.raw = FRAME_MAX + 1;
}

static void unknown_flag(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->head.flags |= 0x40;
}

static void two_lengths(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->head.raw++;
}

static void not_compressed(struct parts *p)
{
	part_of(p, FRAME_OPS)->payload.data[0] ^= 0xff;
}

static void other_length(struct parts *p)
{
	part_of(p, FRAME_OPS)->head.raw++;
}

static void meta_no_json(struct parts *p)
{
	part_of(p, FRAME_META)->payload.data[0] = '(';
}

static void no_meta(struct parts *p)
{
	part_of(p, FRAME_META)->head.type = FRAME_TREE;
}

static void second_meta(struct parts *p)
{
	part_of(p, FRAME_THREADS)->head.type = FRAME_META;
}

static void unknown_frame(struct parts *p)
{
	part_of(p, FRAME_TREE)->head.type = 99;
}

static void short_thread(struct parts *p)
{
	struct part *part = part_of(p, FRAME_THREADS);

	part->head.flags = 0;
	part->payload.size = part->head.raw = part->head.stored = 31;
	bytes_reserve(&part->payload, 31);
}

static void no_threads(struct parts *p)
{
	struct part *part = part_of(p, FRAME_THREADS);

	part->head.flags = 0;
	part->payload.size = part->head.raw = part->head.stored = 0;
}

static void long_tree(struct parts *p)
{
	part_of(p, FRAME_TREE)->payload.data[2] = 0x7f; /* the size of the root's name */
}

static void no_events_in_block(struct parts *p)
{
	memset(part_of(p, FRAME_EVENTS)->payload.data, 0, 4);
}

static void more_events_than_may_be(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->payload.data[2] = 1;
}

static void other_count(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->payload.data[0]++;
}

static void unknown_operation(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->payload.data[21] = 127;
}

static void unknown_prediction(struct parts *p)
{
	part_of(p, FRAME_EVENTS)->payload.data[23] |= 0x0f; /* how THREAD is packed */
}

static void block_compressed(struct parts *p)
{
	struct part *part = part_of(p, FRAME_EVENTS), *ops = part_of(p, FRAME_OPS);

	part->payload.size = 0;
	put_bytes(&part->payload, ops->payload.data, ops->payload.size);
	part->head = ops->head;
	part->head.type = FRAME_EVENTS;
}

static void short_end(struct parts *p)
{
	struct part *part = part_of(p, FRAME_END);

	part->payload.size = part->head.raw = part->head.stored = END_SIZE - 1;
}

static void after_end(struct parts *p)
{
	p->at[p->count] = p->at[p->count - 2];
	memset(&p->at[p->count].payload, 0, sizeof(p->at[0].payload));
	p->at[p->count].head.raw = p->at[p->count].head.stored = 0;
	p->count++;
}

static const struct {
	const char *name;
	void (*put)(struct parts *p);
	const char *text; /* of the message */
} faults[] = {
	{"no magic", no_magic, "does not begin as one"},
	{"other major", other_major, "is a trace of format 9"},
	{"wrong checksum", wrong_checksum, "checksum"},
	{"too large", too_large, "larger than any may be"},
	{"unknown flag", unknown_flag, "flags that this version does not know"},
	{"two lengths", two_lengths, "two lengths"},
	{"not compressed", not_compressed, "does not decompress"},
	{"other length", other_length, "does not decompress"},
	{"META is no JSON", meta_no_json, "not a JSON object"},
	{"no META", no_meta, "META is expected"},
	{"second META", second_meta, "twice"},
	{"unknown frame", unknown_frame, "newer version"},
	{"short thread", short_thread, "declaration of threads"},
	{"no threads", no_threads, "thread that is not declared"},
	{"long tree", long_tree, "starting state"},
	{"no events in block", no_events_in_block, "head"},
	{"more events than may be", more_events_than_may_be, "head"},
	{"other count", other_count, "counts"},
	{"unknown operation", unknown_operation, "counts"},
	{"unknown prediction", unknown_prediction, "column"},
	{"block compressed", block_compressed, "as a whole"},
	{"short END", short_end, "too short"},
	{"after END", after_end, "after END"},
};

/* 0 or the first error of opening and reading everything. */
static int read_all(const char *path, struct error *err)
{
	struct trace_reader *r = NULL;
	struct tree_entry entry;
	struct event ev;
	int e = trace_reader_open(&r, path, err);

	while (e == 0 && (e = trace_reader_tree(r, &entry, err)) > 0)
		e = 0;
	while (e == 0 && (e = trace_reader_next(r, &ev, err)) > 0)
		e = 0;
	/* Asked again, it must not say that all is well. */
	if (e < 0 && r)
		CHECK(trace_reader_next(r, &ev, NULL) <= 0 && !trace_reader_health(r)->complete);
	trace_reader_close(r);
	return e;
}

TEST(each_fault_is_refused_and_named)
{
	struct error err = {0};
	char *dir = make_temp_dir(&err);
	auto_free char *good = xasprintf("%s/good", dir), *bad = xasprintf("%s/bad", dir);
	struct parts p;

	make_good(good);
	CHECK_EQ(read_all(good, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		take_apart(good, &p);
		faults[i].put(&p);
		put_together(bad, &p);
		err.text[0] = '\0';
		if (!CHECK(read_all(bad, &err) < 0) || !CHECK(strstr(err.text, faults[i].text)) ||
			!CHECK(strstr(err.text, bad)) || !CHECK(!strchr(err.text, '\n')) ||
			!CHECK(i < 2 || strstr(err.text, "byte ")))
			fprintf(stderr, "%s: '%s'\n", faults[i].name, err.text);
	}
	remove_tree(dir);
	free(dir);
}

/* A frame that may be passed over is. */
TEST(skippable_frames_are_skipped)
{
	struct error err = {0};
	char *dir = make_temp_dir(&err);
	auto_free char *path = xasprintf("%s/good", dir);
	struct parts p;

	make_good(path);
	take_apart(path, &p);
	part_of(&p, FRAME_TREE)->head.flags |= FRAME_SKIPPABLE;
	part_of(&p, FRAME_TREE)->head.type = 99;
	put_together(path, &p);
	CHECK_EQ(read_all(path, &err), 0);
	remove_tree(dir);
	free(dir);
}

/* What is no file of ours, and no file at all. */
TEST(other_things_are_refused)
{
	struct error err = {0};
	struct trace_reader *r = NULL;

	CHECK(trace_reader_open(&r, "/nowhere/x", &err) < 0);
	CHECK(strstr(err.text, "/nowhere/x") != NULL);
	CHECK(trace_reader_open(&r, "/dev/zero", &err) < 0);
	CHECK(strstr(err.text, "regular file") != NULL);
	CHECK(trace_reader_open(&r, "/tmp", &err) < 0);
	CHECK(trace_reader_open(&r, "/proc/self/exe", &err) < 0);
	CHECK(strstr(err.text, "not a trace") != NULL);
}
