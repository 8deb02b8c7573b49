/* SPDX-License-Identifier: MIT */
/*
 * A frame is read, compared with its checksum and expanded; then it is looked at. One frame and one
 * decoded block are in memory at a time. What ends the file early makes it torn, not bad: all whole
 * frames before are delivered. Anything else that is not as docs/format.md says is an error with
 * the byte where it is.
 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "block.h"
#include "cleanup.h"
#include "crc32c.h"
#include "io.h"
#include "treecode.h"
#include "vec.h"

#define META_MAX    (1u << 20)
#define THREAD_SIZE 32 /* of one in a THREADS frame */

struct trace_reader {
	int fd;
	char *path;
	uint64_t size;
	uint64_t pos;   /* of the next frame */
	uint64_t start; /* of the first frame after OPS */

	struct frame_header head; /* of the current frame; type 0 = none */
	uint64_t at;              /* and where it is */
	struct bytes stored, raw; /* buffers */
	const uint8_t *payload;
	struct cursor rest; /* of a TREE frame, or of EDGES */
	uint64_t waits_left, wait_ns;

	json_t *meta;
	struct op_table table;
	struct block_reader *block;
	bool in_block, ended, seeked;
	struct tree_room room;
	VEC(struct trace_thread) threads;
	uint64_t threads_to; /* THREADS frames before this have been taken */
	struct trace_health health;
	struct error fault; /* what is wrong with the file; from then on the only answer */
};

static int again(const struct trace_reader *r, struct error *err)
{
	return r->fault.code ? error_set(err, r->fault.code, "%s", r->fault.text) : 0;
}

static int bad(struct trace_reader *r, struct error *err, const char *what)
{
	error_set(&r->fault, EBADMSG, "%s: byte %" PRIu64 ": %s", r->path, r->at, what);
	return again(r, err);
}

/* ---- frames ---- */

static void parse_header(const uint8_t b[FRAME_HEADER_SIZE], struct frame_header *h)
{
	struct cursor c = cursor_of(b, FRAME_HEADER_SIZE);

	h->type = get_u8(&c);
	h->flags = get_u8(&c);
	get_u16(&c);
	h->raw = get_u32(&c);
	h->stored = get_u32(&c);
	h->crc = get_u32(&c);
}

static int torn(struct trace_reader *r)
{
	r->health.torn = true;
	r->health.torn_at = r->at;
	r->pos = r->size;
	r->head.type = 0;
	return 0;
}

static int check_header(
	struct trace_reader *r, const uint8_t head[FRAME_HEADER_SIZE], struct error *err)
{
	const struct frame_header *h = &r->head;

	if (h->flags & ~(FRAME_ZSTD | FRAME_SKIPPABLE) || head[2] || head[3])
		return bad(r, err, "the frame has flags that this version does not know");
	if (h->raw > FRAME_MAX || h->stored > FRAME_MAX)
		return bad(r, err, "the frame is larger than any may be");
	if (!(h->flags & FRAME_ZSTD) && h->raw != h->stored)
		return bad(r, err, "the frame's two lengths contradict each other");
	return 0;
}

static int expand(struct trace_reader *r, struct error *err)
{
	const struct frame_header *h = &r->head;

	r->payload = r->stored.data;
	if (!(h->flags & FRAME_ZSTD))
		return 0;
	r->raw.size = 0;
	bytes_reserve(&r->raw, h->raw + COLUMN_SLACK);
	if (ZSTD_decompress(r->raw.data, h->raw, r->stored.data, h->stored) != h->raw)
		return bad(r, err, "the frame does not decompress to its stated length");
	r->payload = r->raw.data;
	return 0;
}

/* Read the header at r->pos: 1, 0 at the end of the file (torn or not), or -errno. */
static int read_header(struct trace_reader *r, uint8_t head[FRAME_HEADER_SIZE], struct error *err)
{
	r->at = r->pos;
	r->head.type = 0;
	if (r->pos >= r->size)
		return 0;
	if (r->size - r->pos < FRAME_HEADER_SIZE)
		return torn(r);
	ssize_t n = pread_full(r->fd, head, FRAME_HEADER_SIZE, (off_t)r->pos);
	if (n < 0)
		return error_errno(err, (int)n, "cannot read %s", r->path);
	parse_header(head, &r->head);
	/* The writer fills in the header last. */
	if (n < FRAME_HEADER_SIZE || !r->head.type)
		return torn(r);
	int e = check_header(r, head, err);
	if (e < 0)
		return e;
	if (r->head.stored > r->size - r->pos - FRAME_HEADER_SIZE)
		return torn(r);
	return 1;
}

static int read_whole_frame(struct trace_reader *r, struct error *err)
{
	uint8_t head[FRAME_HEADER_SIZE];
	int e = read_header(r, head, err);

	if (e <= 0)
		return e;
	size_t size = r->head.stored;
	r->stored.size = 0;
	bytes_reserve(&r->stored, size + COLUMN_SLACK);
	ssize_t n = pread_full(r->fd, r->stored.data, size, (off_t)(r->pos + FRAME_HEADER_SIZE));
	if (n < 0)
		return error_errno(err, (int)n, "cannot read %s", r->path);
	if ((size_t)n < size)
		return torn(r);
	if (crc32c(crc32c(0, head, 12), r->stored.data, size) != r->head.crc)
		return bad(r, err, "the frame's checksum is wrong");
	r->pos += FRAME_HEADER_SIZE + size;
	e = expand(r, err);
	return e < 0 ? e : 1;
}

/* The next frame, whole and checked: 1, 0 at the end of the file, or -errno. */
static int read_frame(struct trace_reader *r, struct error *err)
{
	int e = read_whole_frame(r, err);

	if (e < 0)
		r->head.type = 0;
	return e;
}

/* ---- what the frames hold ---- */

static int take_meta(struct trace_reader *r, struct error *err)
{
	json_error_t e;

	if (r->head.raw > META_MAX)
		return bad(r, err, "META is too long");
	r->meta = json_loadb((const char *)r->payload, r->head.raw, 0, &e);
	return json_is_object(r->meta) ? 0 : bad(r, err, "META is not a JSON object");
}

static int take_ops(struct trace_reader *r, struct error *err)
{
	struct cursor c = cursor_of(r->payload, r->head.raw);
	char place[512];

	snprintf(place, sizeof(place), "%s: byte %" PRIu64, r->path, r->at);
	int e = op_table_decode(&r->table, &c, place, err);
	if (!e)
		r->block = block_reader_new(&r->table);
	return e;
}

static int take_threads(struct trace_reader *r, struct error *err)
{
	struct cursor c = cursor_of(r->payload, r->head.raw);

	if (r->at < r->threads_to)
		return 0;
	if (r->head.raw % THREAD_SIZE || r->threads.count + r->head.raw / THREAD_SIZE > THREADS_MAX)
		return bad(r, err, "the declaration of threads is malformed");
	while (cursor_left(&c)) {
		struct trace_thread t = {
			.tid = get_u32(&c),
			.tgid = get_u32(&c),
			.uid = get_u32(&c),
			.gid = get_u32(&c),
		};
		memcpy(t.comm, get_bytes(&c, sizeof(t.comm)), sizeof(t.comm));
		t.comm[sizeof(t.comm) - 1] = '\0';
		vec_push(&r->threads, t);
	}
	r->threads_to = r->at + 1;
	return 0;
}

static void parse_end(const uint8_t *payload, struct trace_totals *ret, uint64_t *ret_index_at)
{
	struct cursor c = cursor_of(payload, END_SIZE);

	ret->events = get_u64(&c);
	ret->lost = get_u64(&c);
	ret->threads = get_u64(&c);
	ret->elapsed_ns = get_u64(&c);
	*ret_index_at = get_u64(&c);
	ret->file_bytes = get_u64(&c);
}

static int take_end(struct trace_reader *r, struct error *err)
{
	struct trace_totals totals;
	uint64_t index_at;

	if (r->head.raw < END_SIZE)
		return bad(r, err, "END is too short");
	if (r->pos != r->size)
		return bad(r, err, "there is something after END");
	parse_end(r->payload, &totals, &index_at);
	r->ended = true;
	r->health.lost = totals.lost;
	r->health.complete = totals.file_bytes == r->size &&
	                     (r->seeked || (totals.events == r->health.events + r->health.unknown &&
						   totals.threads == r->threads.count));
	return 0;
}

static int take_block(struct trace_reader *r, struct error *err)
{
	if (r->head.flags & FRAME_ZSTD)
		return bad(r, err, "a block of events is compressed as a whole");
	const char *wrong = block_open(r->block, r->payload, r->head.raw);
	if (wrong)
		return bad(r, err, wrong);
	r->in_block = true;
	return 0;
}

static void open_waits(struct trace_reader *r)
{
	r->rest = cursor_of(r->payload, r->head.raw);
	r->waits_left = get_varint(&r->rest);
	r->wait_ns = 0;
}

/* Look at the current frame; 0 or -errno. Nothing to do for a TREE frame here. */
static int take_frame(struct trace_reader *r, struct error *err)
{
	switch ((enum frame_type)r->head.type) {
	case FRAME_META:
	case FRAME_OPS:
		return bad(r, err, "META or OPS is there twice");
	case FRAME_THREADS:
		return take_threads(r, err);
	case FRAME_EVENTS:
		return take_block(r, err);
	case FRAME_END:
		return take_end(r, err);
	case FRAME_EDGES:
		open_waits(r);
		r->health.waits += r->waits_left;
		r->health.wait_bytes += FRAME_HEADER_SIZE + r->head.stored;
		r->waits_left = 0;
		return 0;
	case FRAME_TREE:
	case FRAME_INDEX:
	case FRAME_DATA:
		return 0;
	}
	return r->head.flags & FRAME_SKIPPABLE
	               ? 0
	               : bad(r, err, "a frame of a newer version, which this one cannot pass over");
}

/* ---- open and close ---- */

static int check_file_header(struct trace_reader *r, struct error *err)
{
	uint8_t head[FILE_HEADER_SIZE] = {0};
	ssize_t n = pread_full(r->fd, head, sizeof(head), 0);

	if (n < 0)
		return error_errno(err, (int)n, "cannot read %s", r->path);
	if (n < (ssize_t)sizeof(head) || memcmp(head, FORMAT_MAGIC, FORMAT_MAGIC_SIZE))
		return error_set(
			err, EINVAL, "%s is not a trace: it does not begin as one", r->path);
	unsigned major = head[8] | (unsigned)head[9] << 8;
	if (major != FORMAT_MAJOR)
		return error_set(err, EINVAL, "%s is a trace of format %u; this fsreel reads %u",
			r->path, major, FORMAT_MAJOR);
	r->pos = FILE_HEADER_SIZE;
	return 0;
}

static int read_first(
	struct trace_reader *r, enum frame_type type, const char *name, struct error *err)
{
	int e = read_frame(r, err);

	if (e < 0)
		return e;
	if (!e)
		return error_set(err, EBADMSG, "%s: byte %" PRIu64 ": the file ends before its %s",
			r->path, r->at, name);
	if (r->head.type != type)
		return error_set(err, EBADMSG, "%s: byte %" PRIu64 ": %s is expected here", r->path,
			r->at, name);
	return type == FRAME_META ? take_meta(r, err) : take_ops(r, err);
}

static int open_file(struct trace_reader *r, struct error *err)
{
	struct stat st;

	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st))
		return error_errno(err, errno, "cannot open %s", r->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s is not a regular file", r->path);
	r->size = (uint64_t)st.st_size;
	int e = check_file_header(r, err);
	if (!e)
		e = read_first(r, FRAME_META, "META", err);
	if (!e)
		e = read_first(r, FRAME_OPS, "OPS", err);
	r->start = r->pos;
	r->head.type = 0;
	return e;
}

int trace_reader_open(struct trace_reader **ret, const char *path, struct error *err)
{
	struct trace_reader *r = ALLOC(struct trace_reader);

	r->path = xstrdup(path);
	int e = open_file(r, err);
	if (e < 0) {
		trace_reader_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void trace_reader_close(struct trace_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	json_decref(r->meta);
	block_reader_free(r->block);
	bytes_free(&r->stored);
	bytes_free(&r->raw);
	tree_room_free(&r->room);
	vec_free(&r->threads);
	free(r->path);
	free(r);
}

/* ---- what callers ask ---- */

const json_t *trace_reader_meta(const struct trace_reader *r)
{
	return r->meta;
}

size_t trace_reader_threads(const struct trace_reader *r)
{
	return r->threads.count;
}

const struct trace_thread *trace_reader_thread(const struct trace_reader *r, size_t index)
{
	return &r->threads.at[index];
}

const struct trace_health *trace_reader_health(const struct trace_reader *r)
{
	return &r->health;
}

int trace_reader_digest(struct trace_reader *r, char digest[65], struct error *err)
{
	EVP_MD_CTX *sum = EVP_MD_CTX_new();
	auto_free uint8_t *buffer = xmalloc(1 << 20);
	uint8_t out[EVP_MAX_MD_SIZE];
	ssize_t n = 0;

	EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
	for (uint64_t at = 0; at < r->size; at += (uint64_t)n) {
		n = pread_full(r->fd, buffer, min_u64(1 << 20, r->size - at), (off_t)at);
		if (n <= 0)
			break;
		EVP_DigestUpdate(sum, buffer, (size_t)n);
	}
	EVP_DigestFinal_ex(sum, out, NULL);
	EVP_MD_CTX_free(sum);
	if (n < 0)
		return error_errno(err, (int)n, "cannot read %s", r->path);
	for (int i = 0; i < 32; i++)
		snprintf(&digest[2 * i], 3, "%02x", out[i]);
	return 0;
}

int trace_reader_tree(struct trace_reader *r, struct tree_entry *entry, struct error *err)
{
	if (r->fault.code)
		return again(r, err);
	for (;;) {
		if (r->head.type == FRAME_TREE && cursor_left(&r->rest)) {
			if (tree_decode(&r->rest, entry, &r->room))
				return 1;
			return bad(r, err, "an entry of the starting state is malformed");
		}
		/* Any other frame waits for trace_reader_next(). */
		if (r->head.type && r->head.type != FRAME_TREE)
			return 0;
		int e = read_frame(r, err);
		if (e <= 0)
			return e;
		r->rest = cursor_of(r->payload, r->head.raw);
		if (r->head.type != FRAME_TREE)
			return 0;
	}
}

static int check_event(struct trace_reader *r, const struct event *ev, struct error *err)
{
	if (ev->thread >= r->threads.count)
		return bad(r, err, "an event of this block names a thread that is not declared");
	if (event_end_ns(ev) < ev->start_ns || event_end_ns(ev) > INT64_MAX)
		return bad(r, err, "an event of this block has an impossible time");
	return 0;
}

/* The next event of the open block that this build knows: 1, 0 at its end, or -errno. */
static int next_in_block(struct trace_reader *r, struct event *ev, struct error *err)
{
	const struct row *row;

	for (;;) {
		int e = block_next(r->block, ev, &row);
		if (e < 0)
			return bad(r, err, "a column of the block is malformed");
		if (!e)
			return 0;
		e = check_event(r, ev, err);
		if (e < 0)
			return e;
		if (row->known) {
			r->health.events++;
			return 1;
		}
		r->health.unknown++;
	}
}

int trace_reader_next(struct trace_reader *r, struct event *ev, struct error *err)
{
	if (r->fault.code)
		return again(r, err);
	for (;;) {
		int e = r->in_block ? next_in_block(r, ev, err) : 0;
		if (e)
			return e;
		if (r->in_block || !r->head.type) {
			r->in_block = false;
			e = read_frame(r, err);
			if (e <= 0)
				return e;
		}
		e = take_frame(r, err);
		if (e < 0)
			return e;
		if (!r->in_block)
			r->head.type = 0;
	}
}

int trace_reader_wait(struct trace_reader *r, struct trace_wait *ret, struct error *err)
{
	if (r->fault.code)
		return again(r, err);
	while (!r->waits_left) {
		int e = read_frame(r, err);
		if (e > 0 && r->head.type == FRAME_THREADS)
			e = take_threads(r, err);
		else if (e > 0 && r->head.type == FRAME_EDGES)
			open_waits(r);
		else if (e <= 0)
			return e;
		if (e < 0)
			return e;
	}
	r->waits_left--;
	if (!wait_decode(&r->rest, &r->wait_ns, ret) || ret->cause >= WAIT_CAUSES ||
		ret->thread >= r->threads.count || ret->waker >= r->threads.count)
		return bad(r, err, "a wait is malformed");
	return 1;
}

/* ---- stored data ---- */

int trace_reader_data_at(struct trace_reader *r, uint64_t offset, const uint8_t **ret_payload,
	size_t *ret_size, struct error *err)
{
	r->pos = offset;
	int e = read_frame(r, err);
	if (e <= 0)
		return e;
	if (r->head.type != FRAME_DATA)
		return bad(r, err, "there are no stored data here");
	*ret_payload = r->payload;
	*ret_size = r->head.raw;
	return 1;
}

int trace_reader_data(struct trace_reader *r, uint64_t *ret_offset, const uint8_t **ret_payload,
	size_t *ret_size, struct error *err)
{
	uint8_t head[FRAME_HEADER_SIZE];
	int e;

	while ((e = read_header(r, head, err)) > 0 && r->head.type != FRAME_DATA)
		r->pos += FRAME_HEADER_SIZE + r->head.stored;
	*ret_offset = r->pos;
	return e > 0 ? trace_reader_data_at(r, r->pos, ret_payload, ret_size, err) : e;
}

const char *trace_reader_path(const struct trace_reader *r)
{
	return r->path;
}

/* ---- moving ---- */

static int read_totals(
	struct trace_reader *r, struct trace_totals *ret_totals, uint64_t *ret_index_at)
{
	uint8_t b[FRAME_HEADER_SIZE + END_SIZE];
	struct frame_header h;

	if (r->size < FILE_HEADER_SIZE + sizeof(b) ||
		pread_full(r->fd, b, sizeof(b), (off_t)(r->size - sizeof(b))) != sizeof(b))
		return -ENODATA;
	parse_header(b, &h);
	if (h.type != FRAME_END || h.stored != END_SIZE ||
		crc32c(crc32c(0, b, 12), b + FRAME_HEADER_SIZE, END_SIZE) != h.crc)
		return -ENODATA;
	parse_end(b + FRAME_HEADER_SIZE, ret_totals, ret_index_at);
	return 0;
}

int trace_reader_totals(struct trace_reader *r, struct trace_totals *ret_totals)
{
	uint64_t index_at;

	return read_totals(r, ret_totals, &index_at);
}

int trace_reader_rewind(struct trace_reader *r, struct error *err)
{
	(void)err;
	r->pos = r->start;
	r->head.type = 0;
	r->in_block = r->ended = r->seeked = false;
	r->waits_left = 0;
	r->health = (struct trace_health){0};
	r->fault.code = 0;
	return 0;
}

/* Take the THREADS frame at `at`. */
static int read_threads_at(struct trace_reader *r, uint64_t at, struct error *err)
{
	r->pos = at;
	int e = read_frame(r, err);
	if (e < 0)
		return e;
	if (!e || r->head.type != FRAME_THREADS)
		return bad(r, err, "INDEX points at something else here");
	return take_threads(r, err);
}

/* By INDEX: take the threads declared before, and go to the last block that is before `ns`. */
static int seek_by_index(struct trace_reader *r, uint64_t ns, struct error *err)
{
	struct cursor c = cursor_of(r->payload, r->head.raw);
	uint64_t target = r->start, at = 0, end_ns = 0;
	VEC(uint64_t) frames = {0};

	uint64_t count = get_varint(&c);
	if (count > INDEX_MAX)
		c.bad = true;
	for (; count && !c.bad; count--)
		vec_push(&frames, get_varint(&c));
	for (uint64_t n = get_varint(&c); n && !c.bad; n--) {
		at += get_varint(&c);
		get_varint(&c);
		end_ns += get_varint(&c);
		if (end_ns >= ns)
			break;
		target = at;
	}
	int e = c.bad || target < r->start || target >= r->size ? bad(r, err, "INDEX is malformed")
	                                                        : 0;
	for (size_t i = 0; !e && i < frames.count && frames.at[i] < target; i++)
		if (frames.at[i] >= r->threads_to)
			e = read_threads_at(r, frames.at[i], err);
	vec_free(&frames);
	r->pos = target;
	return e;
}

/* Pass over the frame whose header was read, taking what must be known of it; 1 = stop here. */
static int hop(struct trace_reader *r, uint64_t ns, struct error *err)
{
	uint8_t b[32];
	struct block_info info;
	uint64_t at = r->pos, next = at + FRAME_HEADER_SIZE + r->head.stored;

	if (r->head.type == FRAME_THREADS) {
		int e = read_threads_at(r, at, err);
		return e;
	}
	if (r->head.type == FRAME_END)
		return 1;
	if (r->head.type == FRAME_EVENTS) {
		ssize_t n = pread_full(r->fd, b, sizeof(b), (off_t)at + FRAME_HEADER_SIZE);
		if (n < 0)
			return error_errno(err, (int)n, "cannot read %s", r->path);
		if (!block_peek(b, min_u64((uint64_t)n, r->head.stored), &info))
			return bad(r, err, "the block's head is malformed");
		if (info.end_ns >= ns)
			return 1;
	}
	r->pos = next;
	return 0;
}

int trace_reader_seek(struct trace_reader *r, uint64_t ns, struct error *err)
{
	struct trace_totals totals;
	uint64_t index_at = 0;
	uint8_t head[FRAME_HEADER_SIZE];
	int e = trace_reader_rewind(r, err);

	r->seeked = true;
	if (!read_totals(r, &totals, &index_at) && index_at >= r->start && index_at < r->size) {
		r->pos = index_at;
		e = read_frame(r, err);
		if (e > 0 && r->head.type == FRAME_INDEX)
			e = seek_by_index(r, ns, err);
		else
			r->pos = r->start;
	}
	while (e >= 0) {
		e = read_header(r, head, err);
		if (e <= 0)
			break;
		e = hop(r, ns, err);
		if (e)
			break;
	}
	r->head.type = 0;
	return e < 0 ? e : 0;
}
