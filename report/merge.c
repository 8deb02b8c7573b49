/* SPDX-License-Identifier: MIT */
#include "merge.h"

#include <errno.h>
#include <string.h>

static bool differs(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static const char *fact(const struct results *r, const char *key)
{
	return json_string_value(json_object_get(r->environment, key));
}

static bool has_target(const struct results *r, const char *target)
{
	vec_each (run, &r->runs)
		if (!strcmp(run->target, target))
			return true;
	return false;
}

/* What tells the places apart, or NULL when results of both may be pooled. */
static const char *distinction(const struct results *into, const struct results *from)
{
	static const char *const keys[] = {"kernel", "host", "processor"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (differs(fact(into, keys[i]), fact(from, keys[i])))
			return fact(from, keys[i]);
	return NULL;
}

static void rename_targets(const struct results *into, struct results *from)
{
	const char *where = distinction(into, from);

	vec_each (run, &from->runs) {
		if (!where || !has_target(into, run->target))
			continue;
		char *name = xasprintf("%s@%s", run->target, where);
		free(run->target);
		run->target = name;
	}
}

/* Rounds of different files were not at the same time, so they must not be taken for pairs. */
static void renumber_rounds(const struct results *into, struct results *from)
{
	uint64_t next = 0;

	vec_each (run, &into->runs)
		next = max_u64(next, run->repeat + 1);
	vec_each (run, &from->runs)
		run->repeat += next;
}

static int check_same_work(
	const struct results *into, const struct results *from, const char *path, struct error *err)
{
	if (differs(into->workload, from->workload))
		return error_set(err, EINVAL,
			"%s is about the workload '%s', the files before it about '%s'; report "
			"them one at a time",
			path, from->workload, into->workload);
	if (differs(into->trace_sha256, from->trace_sha256))
		return error_set(err, EINVAL,
			"%s holds replays of another trace than the files before it; report them "
			"one at a time",
			path);
	return 0;
}

/* No two runs take the same time to the nanosecond. */
static bool same_run(const struct result_run *a, const struct result_run *b)
{
	return a->elapsed_ns && a->elapsed_ns == b->elapsed_ns && a->settle_ns == b->settle_ns &&
	       a->cpu_ns == b->cpu_ns && a->kind == b->kind && !strcmp(a->mode, b->mode) &&
	       !strcmp(a->target, b->target);
}

/* Counted twice, a run would look like two that agree. */
static int check_other_runs(
	const struct results *into, const struct results *from, const char *path, struct error *err)
{
	vec_each (run, &from->runs)
		vec_each (other, &into->runs)
			if (same_run(run, other))
				return error_set(err, EEXIST,
					"%s holds runs on %s that the files before it hold too; "
					"leave it out",
					path, run->target);
	return 0;
}

static void take_if_missing(char **into, char **from)
{
	if (*into)
		return;
	*into = *from;
	*from = NULL;
}

int results_merge(struct results *into, struct results *from, const char *path, struct error *err)
{
	int e = check_same_work(into, from, path, err);

	if (!e)
		e = check_other_runs(into, from, path, err);
	if (!e) {
		if (!into->trace_sha256)
			into->trace_events = from->trace_events;
		take_if_missing(&into->workload, &from->workload);
		take_if_missing(&into->unfinished, &from->unfinished);
		take_if_missing(&into->trace_path, &from->trace_path);
		take_if_missing(&into->trace_sha256, &from->trace_sha256);
		rename_targets(into, from);
		renumber_rounds(into, from);
		vec_each (run, &from->runs)
			vec_push(&into->runs, *run);
		from->runs.count = 0;
	}
	results_free(from);
	return e;
}
