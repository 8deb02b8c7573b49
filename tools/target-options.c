/* SPDX-License-Identifier: MIT */
#include "target-options.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "interrupt.h"
#include "vec.h"

void target_options_operands(struct target_options *o, int count, char **words)
{
	for (int i = 0; i < count; i++)
		vec_push(&o->on, words[i]);
}

void target_options_done(struct target_options *o)
{
	vec_free(&o->on);
	vec_free(&o->labels);
}

static int add_target(
	struct target_set *set, const struct target_options *o, const char *spec, struct error *err)
{
	const char *label = set->count < o->labels.count ? o->labels.at[set->count] : NULL;
	struct target *t;
	int r = target_new(&t, spec, label, err);

	if (r)
		return r;
	set->at = xrealloc(set->at, set->count + 1, sizeof(*set->at));
	set->at[set->count++] = t;
	for (size_t i = 0; i + 1 < set->count; i++)
		if (!strcmp(target_label(set->at[i]), target_label(t)))
			return error_set(err, EEXIST,
				"two targets are called '%s'; tell them apart with --label",
				target_label(t));
	return target_available(t, err);
}

/* "ext4,xfs" is two targets; "ext4:noatime,commit=30" is one. */
static int add_targets(
	struct target_set *set, const struct target_options *o, const char *word, struct error *err)
{
	auto_free char *copy = xstrdup(word);
	char *rest = copy;

	if (strchr(word, ':'))
		return add_target(set, o, word, err);
	for (char *type = strsep(&rest, ","); type; type = strsep(&rest, ",")) {
		int r = add_target(set, o, type, err);
		if (r)
			return r;
	}
	return 0;
}

static bool needs_scratch(const struct target_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (!target_is_dir(set->at[i]))
			return true;
	return false;
}

static int open_steps(struct target_set *set, const struct target_options *o, struct error *err)
{
	int r = 0;

	if (!o->on.count)
		return error_set(
			err, EINVAL, "no target given; use --on TARGET, see 'fsreel targets'");
	if (!o->repeat)
		return error_set(err, ERANGE, "--repeat 0 would do nothing");
	for (size_t i = 0; i < o->on.count && !r; i++)
		r = add_targets(set, o, o->on.at[i], err);
	if (!r && o->labels.count > set->count)
		r = error_set(
			err, EINVAL, "%zu labels for %zu targets", o->labels.count, set->count);
	if (r)
		return r;
	interrupt_catch();
	if (!needs_scratch(set))
		return 0;
	r = target_enter(err);
	return r ? r : scratch_open(&set->scratch, &o->scratch, err);
}

int target_set_open(struct target_set *ret, const struct target_options *o, struct error *err)
{
	*ret = (struct target_set){0};
	int r = open_steps(ret, o, err);
	if (r)
		target_set_close(ret);
	return r;
}

void target_set_close(struct target_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		target_free(set->at[i]);
	free(set->at);
	scratch_close(set->scratch);
	*set = (struct target_set){0};
}

static int visit_one(const struct target_set *set, struct target *t, uint64_t round,
	target_visit *visit, void *data, struct error *err)
{
	int r = target_make(t, set->scratch, err);

	if (r)
		return r;
	r = visit(t, round, data, err);
	int undone = target_unmake(t, r < 0 ? NULL : err);
	return r < 0 ? r : undone;
}

int target_set_each(const struct target_set *set, uint64_t repeat, target_visit *visit, void *data,
	struct error *err)
{
	for (uint64_t round = 0; round < repeat; round++)
		for (size_t i = 0; i < set->count; i++) {
			int r = visit_one(set, set->at[i], round, visit, data, err);
			if (r < 0)
				return r;
			if (interrupted())
				return error_set(err, EINTR, "interrupted");
		}
	return 0;
}
