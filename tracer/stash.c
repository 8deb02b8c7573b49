/* SPDX-License-Identifier: MIT */
/*
 *   window, a ring of bytes:    ... [ piece ][ piece ][ piece ] ( free ) ...
 *   pieces, a ring beside it:        oldest             newest
 *   known:   (hash, size) -> the newest such piece
 *
 * A piece leaves the ring when its bytes are overwritten; equal data that comes later is stored again.
 */
#include "stash.h"

#include <pthread.h>
#include <string.h>
#include <zstd.h>

#include "format.h"
#include "map.h"
#include "vec.h"

#define WINDOW      (UINT64_C(32) << 20)
#define PIECES      65536 /* a power of two */
#define FRAME_BYTES (1u << 20)

struct piece {
	uint64_t hash, number;
	uint64_t at; /* position ever; modulo WINDOW in the ring */
	uint32_t size;
};

struct stash {
	pthread_mutex_t lock;
	stash_write *write;
	void *arg;
	int failed;

	uint8_t *window;
	uint64_t end; /* position behind the newest piece */
	struct piece *pieces;
	uint64_t oldest, newest; /* numbers of pieces in the ring */
	struct map known;        /* (hash, size) -> number in the ring */

	uint64_t next;            /* number to give */
	uint64_t first, count;    /* of the frame in the making */
	struct bytes heads, data; /* of it */
	struct bytes files, final;
	uint64_t file_count, final_count;
	struct bytes payload;
};

struct stash *stash_new(stash_write *write, void *arg)
{
	struct stash *s = ALLOC(struct stash);

	pthread_mutex_init(&s->lock, NULL);
	s->write = write;
	s->arg = arg;
	s->window = xmalloc(WINDOW);
	s->pieces = ALLOC_ARRAY(struct piece, PIECES);
	s->next = s->first = 1;
	return s;
}

void stash_free(struct stash *s)
{
	if (!s)
		return;
	free(s->window);
	free(s->pieces);
	map_free(&s->known);
	bytes_free(&s->heads);
	bytes_free(&s->data);
	bytes_free(&s->files);
	bytes_free(&s->final);
	bytes_free(&s->payload);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- frames ---- */

static void write_payload(struct stash *s)
{
	int r = s->failed ? 0 : s->write(s->arg, &s->payload);

	if (r < 0)
		s->failed = r;
}

static void put_packed(struct bytes *out, const struct bytes *raw)
{
	size_t room = ZSTD_compressBound(raw->size);

	put_varint(out, raw->size);
	bytes_reserve(out, room + 10);
	/* Behind the longest length there may be, then moved up to the real one. */
	size_t n = ZSTD_compress(out->data + out->size + 10, room, raw->data, raw->size, 1);
	if (ZSTD_isError(n) || n >= raw->size) {
		put_varint(out, raw->size);
		put_bytes(out, raw->data, raw->size);
		return;
	}
	const uint8_t *packed = out->data + out->size + 10;
	put_varint(out, n);
	memmove(out->data + out->size, packed, n);
	out->size += n;
}

static void flush_pieces(struct stash *s)
{
	if (!s->count)
		return;
	s->payload.size = 0;
	put_u8(&s->payload, DATA_PIECES);
	put_varint(&s->payload, s->first);
	put_varint(&s->payload, s->count);
	put_bytes(&s->payload, s->heads.data, s->heads.size);
	put_packed(&s->payload, &s->data);
	write_payload(s);
	s->first = s->next;
	s->count = s->heads.size = s->data.size = 0;
}

static void flush_list(struct stash *s, enum data_kind kind, struct bytes *list, uint64_t *count)
{
	if (!*count)
		return;
	s->payload.size = 0;
	put_u8(&s->payload, (uint8_t)kind);
	put_varint(&s->payload, *count);
	put_bytes(&s->payload, list->data, list->size);
	write_payload(s);
	*count = list->size = 0;
}

static void flush_if_full(struct stash *s)
{
	if (s->data.size >= FRAME_BYTES || s->count == DATA_COUNT_MAX)
		flush_pieces(s);
	if (s->file_count == DATA_COUNT_MAX)
		flush_list(s, DATA_FILES, &s->files, &s->file_count);
	if (s->final_count == DATA_COUNT_MAX / 4)
		flush_list(s, DATA_FINAL, &s->final, &s->final_count);
}

int stash_flush(struct stash *s)
{
	pthread_mutex_lock(&s->lock);
	flush_pieces(s);
	flush_list(s, DATA_FILES, &s->files, &s->file_count);
	flush_list(s, DATA_FINAL, &s->final, &s->final_count);
	int r = s->failed;
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* ---- what was stored lately ---- */

static struct piece *piece_at(const struct stash *s, uint64_t n)
{
	return &s->pieces[n & (PIECES - 1)];
}

static const struct piece *find(const struct stash *s, const void *data, size_t size, uint64_t hash)
{
	const uint64_t *n = map_get(&s->known, hash, size);
	const struct piece *p = n ? piece_at(s, *n) : NULL;

	return p && !memcmp(s->window + p->at % WINDOW, data, size) ? p : NULL;
}

static void forget_oldest(struct stash *s)
{
	const struct piece *p = piece_at(s, s->oldest);
	const uint64_t *n = map_get(&s->known, p->hash, p->size);

	if (n && *n == s->oldest)
		map_del(&s->known, p->hash, p->size);
	s->oldest++;
}

static void remember(struct stash *s, const void *data, size_t size, uint64_t hash, uint64_t number)
{
	uint64_t at = s->end;

	if (at % WINDOW + size > WINDOW)
		at += WINDOW - at % WINDOW;
	while (s->oldest < s->newest && (piece_at(s, s->oldest)->at + WINDOW < at + size ||
						s->newest - s->oldest == PIECES))
		forget_oldest(s);
	memcpy(s->window + at % WINDOW, data, size);
	*piece_at(s, s->newest) = (struct piece){hash, number, at, (uint32_t)size};
	map_put(&s->known, hash, size, s->newest++);
	s->end = at + size;
}

/* ---- putting ---- */

static uint64_t next_number(struct stash *s)
{
	s->count++;
	return s->next++;
}

uint64_t stash_put(struct stash *s, const void *data, size_t size, uint64_t hash)
{
	uint64_t number = 0;

	if (!size || size > DATA_PIECE_MAX)
		return 0;
	pthread_mutex_lock(&s->lock);
	const struct piece *same = find(s, data, size, hash);
	if (same) {
		number = same->number;
	} else if (!s->failed) {
		number = next_number(s);
		put_varint(&s->heads, (uint64_t)size << 1);
		put_bytes(&s->data, data, size);
		remember(s, data, size, hash, number);
		flush_if_full(s);
	}
	pthread_mutex_unlock(&s->lock);
	return number;
}

uint64_t stash_join(struct stash *s, uint64_t first, uint64_t second)
{
	if (!first || !second)
		return 0;
	pthread_mutex_lock(&s->lock);
	uint64_t number = next_number(s);
	put_varint(&s->heads, 1);
	put_varint(&s->heads, first);
	put_varint(&s->heads, second);
	flush_if_full(s);
	pthread_mutex_unlock(&s->lock);
	return number;
}

void stash_file(struct stash *s, uint64_t file, uint64_t offset, uint64_t number)
{
	pthread_mutex_lock(&s->lock);
	put_varint(&s->files, file);
	put_varint(&s->files, offset);
	put_varint(&s->files, number);
	s->file_count++;
	flush_if_full(s);
	pthread_mutex_unlock(&s->lock);
}

void stash_final(struct stash *s, uint64_t file, uint64_t size, const uint8_t *digest)
{
	pthread_mutex_lock(&s->lock);
	put_varint(&s->final, file);
	put_varint(&s->final, size);
	put_bytes(&s->final, digest, DATA_DIGEST);
	s->final_count++;
	flush_if_full(s);
	pthread_mutex_unlock(&s->lock);
}
