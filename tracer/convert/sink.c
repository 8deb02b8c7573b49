/* SPDX-License-Identifier: MIT */
#include "sink.h"

#include "io.h"
#include "vec.h"

struct sink *sink_new(int fd)
{
	struct sink *s = xmalloc(sizeof(*s));

	s->fd = fd;
	s->failed = 0;
	s->used = 0;
	return s;
}

void sink_free(struct sink *s)
{
	free(s);
}

int sink_flush(struct sink *s)
{
	if (!s->failed && s->used)
		s->failed = write_all(s->fd, s->room, s->used);
	s->used = 0;
	return s->failed;
}

void sink_bytes(struct sink *s, const char *data, size_t size)
{
	while (size) {
		if (s->used == SINK_ROOM)
			(void)sink_flush(s);
		size_t n = min_u64(size, SINK_ROOM - s->used);
		memcpy(s->room + s->used, data, n);
		s->used += n;
		data += n;
		size -= n;
	}
}

void sink_text(struct sink *s, const char *text)
{
	sink_bytes(s, text, strlen(text));
}

void sink_u64(struct sink *s, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	sink_bytes(s, digits + at, sizeof(digits) - at);
}

void sink_i64(struct sink *s, int64_t v)
{
	if (v < 0)
		sink_char(s, '-');
	sink_u64(s, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void sink_us(struct sink *s, uint64_t ns)
{
	const unsigned part = (unsigned)(ns % 1000);

	sink_u64(s, ns / 1000);
	sink_char(s, '.');
	sink_char(s, (char)('0' + part / 100));
	sink_char(s, (char)('0' + part / 10 % 10));
	sink_char(s, (char)('0' + part % 10));
}
