/* SPDX-License-Identifier: MIT */
#include "vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *checked(void *p)
{
	if (!p) {
		fputs("fsreel: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size));
}

void *xrealloc(void *p, size_t count, size_t size)
{
	return checked(reallocarray(p, count ? count : 1, size));
}

void *xaligned(size_t align, size_t size)
{
	return checked(aligned_alloc(align, size));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *s = NULL;

	va_start(args, fmt);
	int n = vasprintf(&s, fmt, args);
	va_end(args);
	return checked(n < 0 ? NULL : s);
}

void vec_grow_(void **at, size_t *capacity, size_t size)
{
	*capacity = *capacity ? *capacity * 2 : 8;
	*at = xrealloc(*at, *capacity, size);
}
