/* SPDX-License-Identifier: MIT */
#include "bulk.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "bytes.h"
#include "reader.h"
#include "vec.h"

#define CACHE     4       /* frames expanded */
#define STEPS_MAX 1000000 /* pieces of one number; more, and it is made of itself */

struct frame_at {
	uint64_t first, count, offset;
};

/* One piece of an expanded frame: bytes, or two others. */
struct entry {
	uint64_t at, size;
	uint64_t first, second; /* 0: bytes */
};

struct expanded {
	const struct frame_at *frame; /* NULL: free */
	uint64_t used;
	struct bytes raw;
	VEC(struct entry) entries;
};

struct bulk {
	struct trace_reader *trace;
	VEC(struct frame_at) frames;   /* in order of numbers */
	VEC(struct bulk_place) places; /* by file and offset */
	VEC(struct bulk_final) finals; /* by file */
	struct expanded cache[CACHE];
	uint64_t clock;
};

/* ---- the index ---- */

static bool take_pieces(struct bulk *b, struct cursor *c, uint64_t offset)
{
	struct frame_at f = {.offset = offset};
	const struct frame_at *last = b->frames.count ? &b->frames.at[b->frames.count - 1] : NULL;

	f.first = get_varint(c);
	f.count = get_varint(c);
	if (c->bad || !f.first || !f.count || f.count > DATA_COUNT_MAX ||
		f.first > UINT64_MAX - f.count || (last && f.first < last->first + last->count))
		return false;
	vec_push(&b->frames, f);
	return true;
}

static bool take_places(struct bulk *b, struct cursor *c)
{
	uint64_t count = get_varint(c);

	if (count > DATA_COUNT_MAX)
		return false;
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		struct bulk_place p = {0};
		p.file = get_varint(c);
		p.offset = get_varint(c);
		p.number = get_varint(c);
		if (!c->bad)
			vec_push(&b->places, p);
	}
	return !c->bad;
}

static bool take_finals(struct bulk *b, struct cursor *c)
{
	uint64_t count = get_varint(c);

	if (count > DATA_COUNT_MAX)
		return false;
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		struct bulk_final f = {.file = get_varint(c)};
		f.size = get_varint(c);
		const uint8_t *digest = get_bytes(c, DATA_DIGEST);
		if (!digest)
			return false;
		memcpy(f.digest, digest, DATA_DIGEST);
		vec_push(&b->finals, f);
	}
	return !c->bad;
}

static bool take_frame(struct bulk *b, const uint8_t *payload, size_t size, uint64_t offset)
{
	struct cursor c = cursor_of(payload, size);
	uint8_t kind = get_u8(&c);

	if (kind == DATA_PIECES)
		return take_pieces(b, &c, offset);
	if (kind == DATA_FILES)
		return take_places(b, &c);
	return kind != DATA_FINAL || take_finals(b, &c);
}

static int by_place(const void *a, const void *b)
{
	const struct bulk_place *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_file(const void *a, const void *b)
{
	const struct bulk_final *x = a, *y = b;

	return x->file < y->file ? -1 : x->file > y->file;
}

static int read_index(struct bulk *b, struct error *err)
{
	uint64_t offset = 0;
	const uint8_t *payload;
	size_t size;
	int r;

	while ((r = trace_reader_data(b->trace, &offset, &payload, &size, err)) > 0)
		if (!take_frame(b, payload, size, offset))
			return error_set(err, EBADMSG, "byte %llu: the stored data are malformed",
				(unsigned long long)offset);
	if (b->places.count)
		qsort(b->places.at, b->places.count, sizeof(*b->places.at), by_place);
	if (b->finals.count)
		qsort(b->finals.at, b->finals.count, sizeof(*b->finals.at), by_file);
	return r;
}

int bulk_open(struct bulk **ret, const char *path, struct error *err)
{
	struct bulk *b = ALLOC(struct bulk);
	int r = trace_reader_open(&b->trace, path, err);

	*ret = NULL;
	if (!r)
		r = read_index(b, err);
	if (r < 0 || !(b->frames.count + b->finals.count))
		bulk_close(b);
	else
		*ret = b;
	return r;
}

int bulk_of_trace(struct bulk **ret, const struct trace_reader *trace, struct error *err)
{
	const char *content =
		json_string_value(json_object_get(trace_reader_meta(trace), "content"));

	*ret = NULL;
	if (!content || strcmp(content, "full") != 0)
		return 0;
	return bulk_open(ret, trace_reader_path(trace), err);
}

void bulk_close(struct bulk *b)
{
	if (!b)
		return;
	trace_reader_close(b->trace);
	for (size_t i = 0; i < CACHE; i++) {
		bytes_free(&b->cache[i].raw);
		vec_free(&b->cache[i].entries);
	}
	vec_free(&b->frames);
	vec_free(&b->places);
	vec_free(&b->finals);
	free(b);
}

/* ---- frames ---- */

static bool read_entries(struct expanded *x, struct cursor *c)
{
	uint64_t at = 0;

	x->entries.count = 0;
	for (uint64_t i = 0; i < x->frame->count; i++) {
		uint64_t head = get_varint(c);
		struct entry e = {.at = at, .size = head >> 1};
		if (head & 1) {
			e.size = 0;
			e.first = get_varint(c);
			e.second = get_varint(c);
		}
		if (c->bad || e.size > DATA_PIECE_MAX)
			return false;
		at += e.size;
		vec_push(&x->entries, e);
	}
	return at <= FRAME_MAX;
}

static bool expand(struct expanded *x, const uint8_t *payload, size_t size)
{
	struct cursor c = cursor_of(payload, size);

	get_u8(&c);
	get_varint(&c);
	get_varint(&c);
	if (!read_entries(x, &c))
		return false;
	uint64_t raw = get_varint(&c), stored = get_varint(&c);
	const uint8_t *data = get_bytes(&c, stored);
	uint64_t want = x->entries.count ? x->entries.at[x->entries.count - 1].at +
	                                           x->entries.at[x->entries.count - 1].size
	                                 : 0;
	if (!data || raw != want)
		return false;
	x->raw.size = 0;
	bytes_reserve(&x->raw, raw + 1);
	if (raw == stored)
		memcpy(x->raw.data, data, raw);
	return raw == stored || ZSTD_decompress(x->raw.data, raw, data, stored) == raw;
}

static const struct frame_at *frame_of(const struct bulk *b, uint64_t number)
{
	size_t low = 0, high = b->frames.count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (b->frames.at[mid].first + b->frames.at[mid].count <= number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < b->frames.count && b->frames.at[low].first <= number ? &b->frames.at[low]
	                                                                  : NULL;
}

static struct expanded *expanded_of(struct bulk *b, const struct frame_at *frame)
{
	struct expanded *x = &b->cache[0];
	uint64_t offset = frame->offset;
	const uint8_t *payload;
	struct error err;
	size_t size;

	for (size_t i = 0; i < CACHE; i++) {
		if (b->cache[i].frame == frame) {
			b->cache[i].used = ++b->clock;
			return &b->cache[i];
		}
		if (b->cache[i].used < x->used)
			x = &b->cache[i];
	}
	x->frame = frame;
	x->used = ++b->clock;
	if (trace_reader_data_at(b->trace, offset, &payload, &size, &err) > 0 &&
		expand(x, payload, size))
		return x;
	x->frame = NULL;
	x->used = 0;
	return NULL;
}

/* ---- reading ---- */

/* Copy a piece behind the `done` bytes there are, or put its parts on the list. */
static int64_t read_piece(struct bulk *b, uint64_t number, uint8_t *data, uint64_t room,
	uint64_t *ret_first, uint64_t *ret_second)
{
	const struct frame_at *frame = frame_of(b, number);
	struct expanded *x = frame ? expanded_of(b, frame) : NULL;

	if (!x)
		return frame ? -EBADMSG : -ENOENT;
	const struct entry *e = &x->entries.at[number - frame->first];
	*ret_first = e->first;
	*ret_second = e->second;
	uint64_t n = min_u64(e->size, room);
	if (n)
		memcpy(data, x->raw.data + e->at, n);
	return (int64_t)n;
}

int64_t bulk_read(struct bulk *b, uint64_t number, void *data, uint64_t size)
{
	VEC(uint64_t) todo = {0};
	uint64_t done = 0, first, second;
	int64_t r = 0;

	vec_push(&todo, number);
	for (size_t steps = 0; todo.count && done < size && r >= 0; steps++) {
		r = read_piece(b, todo.at[--todo.count], (uint8_t *)data + done, size - done,
			&first, &second);
		done += r > 0 ? (uint64_t)r : 0;
		if (r >= 0 && first) {
			vec_push(&todo, second);
			vec_push(&todo, first);
		}
		if (steps == STEPS_MAX)
			r = -EBADMSG;
	}
	vec_free(&todo);
	return r < 0 ? r : (int64_t)done;
}

const struct bulk_place *bulk_file(const struct bulk *b, uint64_t file, size_t *ret_count)
{
	size_t low = 0, high = b->places.count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (b->places.at[mid].file < file)
			low = mid + 1;
		else
			high = mid;
	}
	for (high = low; high < b->places.count && b->places.at[high].file == file;)
		high++;
	*ret_count = high - low;
	return *ret_count ? b->places.at + low : NULL;
}

const struct bulk_final *bulk_final(const struct bulk *b, uint64_t file)
{
	const struct bulk_final key = {.file = file};

	return b->finals.count ? bsearch(&key, b->finals.at, b->finals.count, sizeof(*b->finals.at),
					 by_file)
	                       : NULL;
}

bool bulk_knows_end(const struct bulk *b)
{
	return b->finals.count;
}
