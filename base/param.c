/* SPDX-License-Identifier: MIT */
#include "param.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "cleanup.h"
#include "units.h"
#include "vec.h"

static int set_choice(const struct param *p, const char *value, unsigned *slot, const char *what,
	struct error *err)
{
	char list[256] = "";

	for (unsigned i = 0; p->choices[i]; i++) {
		if (!strcasecmp(p->choices[i], value)) {
			*slot = i;
			return 0;
		}
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", p->choices[i]);
	}
	return error_set(err, EINVAL, "%s: %s='%s' is not one of %s", what, p->key, value, list);
}

static int set_text(
	const struct param *p, const char *value, char *slot, const char *what, struct error *err)
{
	size_t len = strlen(value);

	if (len < p->min)
		return error_set(err, EINVAL, "%s: %s is empty", what, p->key);
	if (len >= p->max)
		return error_set(err, ERANGE, "%s: %s is longer than %" PRIu64 " bytes", what,
			p->key, p->max - 1);
	memcpy(slot, value, len + 1);
	return 0;
}

/* The bits from min to max. */
static uint64_t whole_set(const struct param *p)
{
	return (UINT64_C(2) << p->max) - (UINT64_C(1) << p->min);
}

/* "3" or "3-7" */
static int add_range(
	const struct param *p, char *range, uint64_t *set, const char *what, struct error *err)
{
	char *first = strsep(&range, "-"), *last = range ? range : first;
	uint64_t low = 0, high = 0;
	int r = parse_number(first, p->min, p->max, &low, p->key, err);

	if (!r)
		r = parse_number(last, low, p->max, &high, p->key, err);
	if (r)
		return error_wrap(err, "%s", what);
	for (; low <= high; low++)
		*set |= UINT64_C(1) << low;
	return 0;
}

static int set_set(const struct param *p, const char *value, uint64_t *slot, const char *what,
	struct error *err)
{
	auto_free char *copy = xstrdup(value);
	char *rest = copy;
	uint64_t set = 0;
	int r = 0;

	if (!strcasecmp(value, "all")) {
		*slot = whole_set(p);
		return 0;
	}
	for (char *one = strsep(&rest, ","); one && !r; one = strsep(&rest, ","))
		r = add_range(p, one, &set, what, err);
	if (!r && !set)
		r = error_set(err, ERANGE, "%s: %s=%s holds no number", what, p->key, value);
	if (!r)
		*slot = set;
	return r;
}

/* "0.25" is 250. */
static int parse_milli(const char *value, uint64_t *ret, const char *key, struct error *err)
{
	size_t whole = strspn(value, "0123456789");
	const char *part = value + whole + (value[whole] == '.');
	size_t digits = strspn(part, "0123456789");

	if (whole + digits == 0 || whole > 15 || digits > 3 || part[digits])
		return error_set(err, EINVAL,
			"%s: '%s' is not a number with at most three decimals", key, value);
	*ret = strtoull(value, NULL, 10) * 1000;
	for (size_t i = 0, unit = 100; i < digits; i++, unit /= 10)
		*ret += (uint64_t)(part[i] - '0') * unit;
	return 0;
}

static bool is_text(const struct param *p)
{
	return p->type == PARAM_TEXT || p->type == PARAM_REST;
}

static char *milli_text(uint64_t v)
{
	char *text = xasprintf("%" PRIu64 ".%03" PRIu64, v / 1000, v % 1000);

	for (size_t n = strlen(text); text[n - 1] == '0' || text[n - 1] == '.'; n--) {
		bool point = text[n - 1] == '.';
		text[n - 1] = '\0';
		if (point)
			break;
	}
	return text;
}

static int refuse_number(
	const struct param *p, const char *value, const char *what, struct error *err)
{
	uint64_t max = p->max ? p->max : UINT64_MAX;
	bool milli = p->type == PARAM_MILLI;
	auto_free char *low = milli ? milli_text(p->min) : xasprintf("%" PRIu64, p->min);
	auto_free char *high = milli ? milli_text(max) : xasprintf("%" PRIu64, max);

	return error_set(
		err, ERANGE, "%s: %s=%s is not between %s and %s", what, p->key, value, low, high);
}

static int set_value(const struct param *p, const char *value, void *settings, const char *what,
	struct error *err)
{
	void *slot = (char *)settings + p->offset;
	uint64_t max = p->max ? p->max : UINT64_MAX;
	uint64_t number = 0;
	int r = 0;

	if (p->type == PARAM_CHOICE)
		return set_choice(p, value, slot, what, err);
	if (is_text(p))
		return set_text(p, value, slot, what, err);
	if (p->type == PARAM_SET)
		return set_set(p, value, slot, what, err);
	if (p->type == PARAM_SIZE)
		r = parse_size(value, &number, p->key, err);
	else if (p->type == PARAM_MILLI)
		r = parse_milli(value, &number, p->key, err);
	else
		r = parse_number(value, 0, UINT64_MAX, &number, p->key, err);
	if (r)
		return error_wrap(err, "%s", what);
	if (number < p->min || number > max)
		return refuse_number(p, value, what, err);
	*(uint64_t *)slot = number;
	return 0;
}

void param_defaults(const struct param *params, size_t count, void *settings)
{
	struct error err;

	for (size_t i = 0; i < count; i++) {
		int r = set_value(&params[i], params[i].initial, settings, params[i].key, &err);
		assert(!r);
	}
}

static const struct param *param_by_key(const struct param *params, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(params[i].key, key))
			return &params[i];
	return NULL;
}

static int unknown_key(const struct param *params, size_t count, const char *key, const char *what,
	struct error *err)
{
	const char *near =
		count ? nearest_name(key, &params[0].key, count, sizeof(params[0])) : NULL;

	if (near)
		return error_set(
			err, EINVAL, "%s: unknown key '%s'; did you mean '%s'?", what, key, near);
	return error_set(err, EINVAL, "%s: unknown key '%s'; 'fsreel workloads %s' lists the keys",
		what, key, what);
}

/* True if what stands at `text` is no key=value. */
static bool is_bare(const char *text)
{
	return *text && text[strcspn(text, "=,")] != '=';
}

/* The pair at *rest, which then stands at the next one or is NULL. */
static int set_pair(const struct param *params, size_t count, char **rest, void *settings,
	const char *what, struct error *err)
{
	char *pair = *rest;
	char *value = pair + strcspn(pair, "=,");
	bool is_pair = *value == '=';
	const struct param *p = NULL;

	if (is_pair) {
		*value++ = '\0';
		p = param_by_key(params, count, pair);
	}
	*rest = value;
	if (!p || p->type != PARAM_REST)
		strsep(rest, ",");
	else
		*rest = NULL;
	while (p && p->type == PARAM_SET && *rest && is_bare(*rest)) {
		(*rest)[-1] = ',';
		strsep(rest, ",");
	}
	if (!is_pair)
		return *pair ? error_set(err, EINVAL, "%s: '%s' is not key=value", what, pair) : 0;
	return p ? set_value(p, value, settings, what, err)
	         : unknown_key(params, count, pair, what, err);
}

int param_parse(const struct param *params, size_t count, const char *text, void *settings,
	const char *what, struct error *err)
{
	auto_free char *copy = xstrdup(text ? text : "");
	char *rest = copy;
	int r = 0;

	while (rest && !r)
		r = set_pair(params, count, &rest, settings, what, err);
	return r;
}

/* "all", "1,3,6-9" */
static char *set_text_of(const struct param *p, uint64_t set)
{
	char *text = xstrdup("");

	if (set == whole_set(p)) {
		free(text);
		return xstrdup("all");
	}
	for (unsigned low = 0, next; low < 64; low = next) {
		for (next = low; next < 64 && set >> next & 1; next++)
			;
		if (next == low) {
			next++;
			continue;
		}
		const char *comma = *text ? "," : "";
		char *longer = next == low + 1 ? xasprintf("%s%s%u", text, comma, low)
		                               : xasprintf("%s%s%u-%u", text, comma, low, next - 1);
		free(text);
		text = longer;
	}
	return text;
}

char *param_value(const struct param *p, const void *settings)
{
	const void *slot = (const char *)settings + p->offset;

	if (p->type == PARAM_CHOICE)
		return xstrdup(p->choices[*(const unsigned *)slot]);
	if (is_text(p))
		return xstrdup(slot);
	if (p->type == PARAM_SET)
		return set_text_of(p, *(const uint64_t *)slot);
	if (p->type == PARAM_MILLI)
		return milli_text(*(const uint64_t *)slot);
	return xasprintf("%" PRIu64, *(const uint64_t *)slot);
}

/* True if `settings` holds the default of `p`. */
static bool is_default(const struct param *p, const void *settings)
{
	auto_free void *initial = xcalloc(1, p->offset + max_u64(p->max * is_text(p), 8));

	param_defaults(p, 1, initial);
	auto_free char *a = param_value(p, initial);
	auto_free char *b = param_value(p, settings);
	return !strcmp(a, b);
}

char *param_format(const struct param *params, size_t count, const void *settings)
{
	struct bytes out = {0};

	for (size_t i = 0; i < count; i++) {
		if (is_default(&params[i], settings))
			continue;
		auto_free char *value = param_value(&params[i], settings);
		if (out.size)
			put_u8(&out, ',');
		put_bytes(&out, params[i].key, strlen(params[i].key));
		put_u8(&out, '=');
		put_bytes(&out, value, strlen(value));
	}
	put_u8(&out, 0);
	return (char *)out.data;
}
