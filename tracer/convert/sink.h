/* SPDX-License-Identifier: MIT */
/* Buffered output that formats numbers quickly: what exporters write text with. */
#ifndef SINK_H
#define SINK_H

#include <string.h>

#include "error.h"

#define SINK_ROOM 65536

/* Not thread-safe. The first failure is kept; what follows it is dropped. */
struct sink {
	int fd;
	int failed; /* 0, or -errno of the first write that failed */
	size_t used;
	char room[SINK_ROOM];
};

/* Write to `fd`, which stays the caller's. */
struct sink *sink_new(int fd);
void sink_free(struct sink *s);
/* Write what is buffered. 0, or -errno of this write or an earlier one. */
int sink_flush(struct sink *s);

void sink_bytes(struct sink *s, const char *data, size_t size);
void sink_text(struct sink *s, const char *text);
void sink_u64(struct sink *s, uint64_t v);
void sink_i64(struct sink *s, int64_t v);
/* As a decimal number of microseconds with three digits behind the point. */
void sink_us(struct sink *s, uint64_t ns);

/* Literal text, whose length the compiler knows. */
#define sink_lit(s, text) sink_bytes(s, "" text "", sizeof(text) - 1)

static inline void sink_char(struct sink *s, char c)
{
	if (s->used == SINK_ROOM)
		(void)sink_flush(s);
	s->room[s->used++] = c;
}

#endif
