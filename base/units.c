/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse_size(const char *text, uint64_t *ret_bytes, const char *what, struct error *err)
{
	static const char suffixes[] = "kmgt";
	char *end = NULL;

	errno = 0;
	double value = strtod(text, &end);
	if (end == text || errno || !(value >= 0) || !isfinite(value))
		return error_set(err, EINVAL,
			"%s: '%s' is not a size; use a number with k, M, G or T", what, text);
	if (*end) {
		const char *s = strchr(suffixes, *end | 0x20);
		if (!s || (end[1] && strcmp(end + 1, "iB") && strcmp(end + 1, "B")))
			return error_set(err, EINVAL,
				"%s: '%s' is not a size; use a number with k, M, G or T", what,
				text);
		value = ldexp(value, 10 * (int)(s - suffixes + 1));
	}
	if (value >= 9.2e18)
		return error_set(err, ERANGE, "%s: '%s' is too large", what, text);
	*ret_bytes = (uint64_t)value;
	return 0;
}

int parse_seconds(const char *text, uint64_t *ret_ns, const char *what, struct error *err)
{
	char *end = NULL;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0) || seconds > 1e9)
		return error_set(err, EINVAL, "%s: '%s' is not a time in seconds", what, text);
	*ret_ns = (uint64_t)llround(seconds * 1e9);
	return 0;
}

int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret, const char *what,
	struct error *err)
{
	char *end = NULL;

	errno = 0;
	uint64_t value = strtoull(text, &end, 10);
	if (end == text || *end || errno || text[0] < '0' || text[0] > '9')
		return error_set(err, EINVAL, "%s: '%s' is not a number", what, text);
	if (value < min || value > max)
		return error_set(err, ERANGE, "%s: %s is not between %llu and %llu", what, text,
			(unsigned long long)min, (unsigned long long)max);
	*ret = value;
	return 0;
}

const char *format_ns(uint64_t ns, struct unit_text *out)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && (double)ns < units[i].scale)
		i++;
	double v = (double)ns / units[i].scale;
	snprintf(out->text, sizeof(out->text), "%.*f %s",
		units[i].scale == 1 || v >= 100 ? 0
		: v >= 10                       ? 1
						: 2,
		v, units[i].unit);
	return out->text;
}

const char *format_bytes(uint64_t bytes, struct unit_text *out)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && v >= 1024) {
		v /= 1024;
		i++;
	}
	snprintf(out->text, sizeof(out->text), "%.*f %s", i == 0 || v >= 100 ? 0 : 1, v, units[i]);
	return out->text;
}

const char *format_count(uint64_t n, struct unit_text *out)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *p = out->text;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return out->text;
}

const char *format_things(uint64_t n, const char *one, struct unit_text *out)
{
	size_t used = strlen(format_count(n, out));

	snprintf(out->text + used, sizeof(out->text) - used, " %s%s", one, n == 1 ? "" : "s");
	return out->text;
}

/* Levenshtein distance of two short words. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64];
	size_t n = strlen(b);

	if (n >= ARRAY_SIZE(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = min_u64(min_u64(row[j], row[j - 1]) + 1, change);
		}
	}
	return row[n];
}

const char *nearest_name(const char *word, const void *base, size_t count, size_t stride)
{
	const char *best = NULL;
	size_t best_distance = strlen(word) / 2 + 1;

	for (size_t i = 0; i < count; i++) {
		const char *name;
		memcpy(&name, (const char *)base + i * stride, sizeof(name));
		size_t d = name ? edit_distance(word, name) : SIZE_MAX;
		if (d < best_distance) {
			best = name;
			best_distance = d;
		}
	}
	return best;
}
