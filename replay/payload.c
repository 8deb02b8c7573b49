/* SPDX-License-Identifier: MIT */
#include "payload.h"

#include <stdlib.h>

#include "vec.h"

#define ALIGN 4096

struct payload {
	void *pools[CONTENT_LIMIT];
};

/* What a class that a trace does not know is written as: data that nobody can compress. */
static enum content known_content(enum content content)
{
	return content == CONTENT_UNKNOWN || content >= CONTENT_LIMIT ? CONTENT_RANDOM : content;
}

struct payload *payload_new(void)
{
	struct payload *p = ALLOC(struct payload);

	for (unsigned i = 0; i < CONTENT_LIMIT; i++) {
		if (known_content((enum content)i) != (enum content)i)
			continue;
		p->pools[i] = xaligned(ALIGN, PAYLOAD_SIZE);
		content_fill((enum content)i, i + 1, p->pools[i], PAYLOAD_SIZE);
	}
	return p;
}

void payload_free(struct payload *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < CONTENT_LIMIT; i++)
		free(p->pools[i]);
	free(p);
}

const void *payload_pool(const struct payload *p, enum content content)
{
	return p->pools[known_content(content)];
}

const void *payload_at(
	const struct payload *p, enum content content, uint64_t offset, uint64_t size)
{
	if (size > PAYLOAD_SIZE)
		return NULL;
	/* Neighbouring pages of a file get different data; the same page always the same. */
	uint64_t places = (PAYLOAD_SIZE - size) / ALIGN + 1;
	uint64_t page = (offset / ALIGN) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	return (const char *)payload_pool(p, content) + (page * places >> 32) * ALIGN;
}

unsigned payload_iov(const void *pool, uint64_t size, struct iovec iov[PAYLOAD_IOVS])
{
	unsigned n = 0;

	for (; size > 0 && n < PAYLOAD_IOVS; n++) {
		iov[n].iov_base = (void *)(uintptr_t)pool;
		iov[n].iov_len = min_u64(size, PAYLOAD_SIZE);
		size -= iov[n].iov_len;
	}
	return n;
}
