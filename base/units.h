/* SPDX-License-Identifier: MIT */
/* Sizes, counts and times between numbers and people. */
#ifndef UNITS_H
#define UNITS_H

#include "error.h"

/* "512", "64k", "2G", "1.5M": powers of 1024. `what` names the value in the error. */
int parse_size(const char *text, uint64_t *ret_bytes, const char *what, struct error *err);
/* "12", "0.25": seconds, at most 10^9. */
int parse_seconds(const char *text, uint64_t *ret_ns, const char *what, struct error *err);
/* A plain decimal number within [min, max]. */
int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret, const char *what,
	struct error *err);

/* All of these write into `out` and return it. */
struct unit_text {
	char text[32];
};
const char *format_ns(uint64_t ns, struct unit_text *out);       /* "12.3 us", "4.56 s" */
const char *format_bytes(uint64_t bytes, struct unit_text *out); /* "1.5 MiB" */
const char *format_count(uint64_t n, struct unit_text *out);     /* "1,234,567" */
/* "1 event", "1,234 events": `one` is a short word that takes an s. */
const char *format_things(uint64_t n, const char *one, struct unit_text *out);

/* The element of `names` nearest to `word` if it is near enough to be a typing error, else NULL.
 * names[i] are read at base + i * stride as `const char *`. */
const char *nearest_name(const char *word, const void *base, size_t count, size_t stride);

#endif
