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

static bool is_text(const struct param *p)
{
	return p->type == PARAM_TEXT || p->type == PARAM_REST;
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
	if (p->type == PARAM_SIZE)
		r = parse_size(value, &number, p->key, err);
	else
		r = parse_number(value, 0, UINT64_MAX, &number, p->key, err);
	if (r)
		return error_wrap(err, "%s", what);
	if (number < p->min || number > max)
		return error_set(err, ERANGE, "%s: %s=%s is not between %" PRIu64 " and %" PRIu64,
			what, p->key, value, p->min, max);
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

char *param_value(const struct param *p, const void *settings)
{
	const void *slot = (const char *)settings + p->offset;

	if (p->type == PARAM_CHOICE)
		return xstrdup(p->choices[*(const unsigned *)slot]);
	if (is_text(p))
		return xstrdup(slot);
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
