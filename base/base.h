/* SPDX-License-Identifier: MIT */
/* Small things every file uses: array sizes, rounding, attributes. */
#ifndef BASE_H
#define BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)                   (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define attr_printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define attr_must_check        __attribute__((warn_unused_result))
#define attr_noreturn          __attribute__((noreturn))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
