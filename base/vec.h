/* SPDX-License-Identifier: MIT */
/*
 * Memory that does not fail, and typed growing arrays.
 *
 * Running out of memory is not handled: x*() print one line and abort. Sizes that come from a file
 * are bounded by the reader before they reach these.
 */
#ifndef VEC_H
#define VEC_H

#include <stdlib.h>

#include "base.h"

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* Reallocate to count * size bytes, overflow checked. */
void *xrealloc(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
/* `size` bytes at a multiple of `align` (a power of two that divides size), not cleared; free(). */
void *xaligned(size_t align, size_t size) __attribute__((malloc, returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) attr_printf(1, 2) __attribute__((returns_nonnull));

#define ALLOC(type)          ((type *)xcalloc(1, sizeof(type)))
#define ALLOC_ARRAY(type, n) ((type *)xcalloc((n), sizeof(type)))

/* `VEC(struct step) steps;` zero is empty. Elements move when it grows: keep indexes. */
#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

/* Append a copy. */
#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		if ((v)->count == (v)->capacity)                                                   \
			vec_grow_((void **)&(v)->at, &(v)->capacity, sizeof(*(v)->at));            \
		(v)->at[(v)->count++] = (__VA_ARGS__);                                             \
	} while (0)

#define vec_each(item, v)                                                                          \
	for (__typeof__(&*(v)->at) item = (v)->at; item && item < (v)->at + (v)->count; item++)

#define vec_free(v)                                                                                \
	do {                                                                                       \
		free((v)->at);                                                                     \
		(v)->at = NULL;                                                                    \
		(v)->count = (v)->capacity = 0;                                                    \
	} while (0)

void vec_grow_(void **at, size_t *capacity, size_t size);

#endif
