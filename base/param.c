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

static int set_value(const struct param *p, const char *value, void *settings, const char *what,
	struct error *err)
{
	void *slot = (char *)settings + p->offset;
	uint64_t max = p->max ? p->max : UINT64_MAX;
	uint64_t number = 0;
	int r = 0;

	if (p->type == PARAM_CHOICE)
		return set_choice(p, value, slot, what, err);
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

static int set_pair(const struct param *params, size_t count, char *pair, void *settings,
	const char *what, struct error *err)
{
	char *value = strchr(pair, '=');

	if (!value)
		return error_set(err, EINVAL, "%s: '%s' is not key=value", what, pair);
	*value++ = '\0';
	for (size_t i = 0; i < count; i++)
		if (!strcmp(params[i].key, pair))
			return set_value(&params[i], value, settings, what, err);
	const char *near =
		count ? nearest_name(pair, &params[0].key, count, sizeof(params[0])) : NULL;
	if (near)
		return error_set(
			err, EINVAL, "%s: unknown key '%s'; did you mean '%s'?", what, pair, near);
	return error_set(err, EINVAL, "%s: unknown key '%s'; 'fsreel workloads %s' lists the keys",
		what, pair, what);
}

int param_parse(const struct param *params, size_t count, const char *text, void *settings,
	const char *what, struct error *err)
{
	auto_free char *copy = xstrdup(text ? text : "");
	char *rest = copy;

	for (char *pair = strsep(&rest, ","); pair; pair = strsep(&rest, ",")) {
		if (!*pair)
			continue;
		int r = set_pair(params, count, pair, settings, what, err);
		if (r)
			return r;
	}
	return 0;
}

void param_value(const struct param *p, const void *settings, char *out, size_t size)
{
	const void *slot = (const char *)settings + p->offset;

	if (p->type == PARAM_CHOICE)
		snprintf(out, size, "%s", p->choices[*(const unsigned *)slot]);
	else
		snprintf(out, size, "%" PRIu64, *(const uint64_t *)slot);
}

/* True if `settings` holds the default of `p`. */
static bool is_default(const struct param *p, const void *settings)
{
	_Alignas(8) char initial[sizeof(uint64_t)] = {0};
	struct param at_zero = *p;
	char a[64], b[64];

	at_zero.offset = 0;
	param_defaults(&at_zero, 1, initial);
	param_value(&at_zero, initial, a, sizeof(a));
	param_value(p, settings, b, sizeof(b));
	return !strcmp(a, b);
}

char *param_format(const struct param *params, size_t count, const void *settings)
{
	struct bytes out = {0};

	for (size_t i = 0; i < count; i++) {
		char value[64];
		if (is_default(&params[i], settings))
			continue;
		param_value(&params[i], settings, value, sizeof(value));
		if (out.size)
			put_u8(&out, ',');
		put_bytes(&out, params[i].key, strlen(params[i].key));
		put_u8(&out, '=');
		put_bytes(&out, value, strlen(value));
	}
	put_u8(&out, 0);
	return (char *)out.data;
}
