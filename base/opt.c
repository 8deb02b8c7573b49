/* SPDX-License-Identifier: MIT */
#include "opt.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cleanup.h"
#include "units.h"
#include "vec.h"

/* getopt_long() reports option i as FIRST_CODE + i, so that a letter is never needed. */
enum { FIRST_CODE = 256 };

static int store_choice(const struct opt *o, const char *arg, struct error *err)
{
	for (unsigned i = 0; o->choices[i]; i++)
		if (!strcmp(o->choices[i], arg)) {
			*(unsigned *)o->value = i;
			return 0;
		}
	error_set(err, EINVAL, "--%s: '%s' is not one of", o->name, arg);
	for (unsigned i = 0; o->choices[i]; i++) {
		size_t used = strlen(err->text);
		snprintf(err->text + used, sizeof(err->text) - used, "%s %s", i ? "," : "",
			o->choices[i]);
	}
	return -EINVAL;
}

static int store(const struct opt *o, const char *arg, struct error *err)
{
	auto_free char *what = xasprintf("--%s", o->name);

	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		return 0;
	case OPT_STRING:
		*(const char **)o->value = arg;
		return 0;
	case OPT_LIST:
		vec_push((struct opt_list *)o->value, arg);
		return 0;
	case OPT_NUMBER:
		return parse_number(arg, 0, UINT64_MAX, o->value, what, err);
	case OPT_SIZE:
		return parse_size(arg, o->value, what, err);
	case OPT_CHOICE:
		return store_choice(o, arg, err);
	}
	return -EINVAL;
}

static int unknown_option(const struct opt *opts, size_t count, const char *word, struct error *err)
{
	const char *name = word + strspn(word, "-");
	auto_free char *bare = strndup(name, strcspn(name, "="));
	const char *near =
		bare && count ? nearest_name(bare, &opts[0].name, count, sizeof(opts[0])) : NULL;

	if (near)
		return error_set(
			err, EINVAL, "unknown option '%s'; did you mean --%s?", word, near);
	return error_set(err, EINVAL, "unknown option '%s'; see --help", word);
}

static void build_getopt(const struct opt *opts, size_t count, struct option *longs, char *shorts)
{
	for (size_t i = 0; i < count; i++) {
		bool arg = opts[i].type != OPT_FLAG;
		longs[i] = (struct option){opts[i].name, arg ? required_argument : no_argument,
			NULL, FIRST_CODE + (int)i};
		if (!opts[i].letter)
			continue;
		*shorts++ = opts[i].letter;
		if (arg)
			*shorts++ = ':';
	}
	*shorts = '\0';
}

static const struct opt *by_code(const struct opt *opts, size_t count, int code)
{
	if (code >= FIRST_CODE)
		return &opts[code - FIRST_CODE];
	size_t i = 0;
	while (opts[i].letter != code)
		i++;
	assert(i < count);
	return &opts[i];
}

int opt_parse(const struct opt *opts, size_t count, int argc, char **argv, bool in_order,
	struct error *err)
{
	auto_free struct option *longs = ALLOC_ARRAY(struct option, count + 1);
	auto_free char *shorts = xmalloc(2 * count + 3);

	/* A leading ':' tells a missing argument from an unknown option; '+' stops at an operand.
	 */
	char *letters = stpcpy(shorts, in_order ? "+:" : ":");
	build_getopt(opts, count, longs, letters);
	optind = 0;
	opterr = 0;
	for (;;) {
		int code = getopt_long(argc, argv, shorts, longs, NULL);
		if (code == -1)
			return optind;
		const char *word = argv[optind - 1];
		if (code == ':')
			return error_set(err, EINVAL, "option '%s' needs an argument", word);
		if (code == '?')
			return unknown_option(opts, count, word, err);
		const struct opt *o = by_code(opts, count, code);
		int r = store(o, optarg, err);
		if (r)
			return r;
	}
}

void opt_help(const struct opt *opts, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		char left[64];
		int n = 0;
		if (opts[i].letter)
			n = snprintf(left, sizeof(left), "-%c, ", opts[i].letter);
		snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", opts[i].name,
			opts[i].arg ? " " : "", opts[i].arg ? opts[i].arg : "");
		fprintf(out, "  %-26s %s\n", left, opts[i].help);
	}
}
