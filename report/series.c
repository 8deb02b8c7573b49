/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <string.h>

static int by_elapsed(const void *a, const void *b)
{
	const struct result_run *x = *(const struct result_run *const *)a;
	const struct result_run *y = *(const struct result_run *const *)b;

	return x->elapsed_ns != y->elapsed_ns ? (x->elapsed_ns > y->elapsed_ns ? 1 : -1)
	                                      : (x->repeat > y->repeat) - (x->repeat < y->repeat);
}

void series_collect(struct series *ret, const struct results *r, const char *target,
	enum run_kind kind, const char *mode)
{
	const struct result_run *first = NULL;

	*ret = (struct series){0};
	vec_each (run, &r->runs) {
		if (run->kind != kind || strcmp(run->target, target) ||
			(kind == RUN_REPLAY && strcmp(run->mode, mode)))
			continue;
		if (run->failure) {
			ret->failed++;
			continue;
		}
		first = first ? first : run;
		if (strcmp(run->order, first->order) || strcmp(run->engine, first->engine))
			ret->left_out++;
		else
			vec_push(&ret->runs, run);
	}
	if (ret->runs.count)
		qsort(ret->runs.at, ret->runs.count, sizeof(*ret->runs.at), by_elapsed);
	vec_each (run, &ret->runs)
		vec_push(&ret->elapsed_ns, (*run)->elapsed_ns);
}

void series_done(struct series *s)
{
	vec_free(&s->runs);
	vec_free(&s->elapsed_ns);
}

const struct result_run *series_median(const struct series *s)
{
	return s->runs.count ? s->runs.at[(s->runs.count - 1) / 2] : NULL;
}

const struct result_run *series_round(const struct series *s, uint64_t repeat)
{
	vec_each (run, &s->runs)
		if ((*run)->repeat == repeat)
			return *run;
	return NULL;
}

static bool has_name(const struct target_names *names, const char *target)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->at[i], target))
			return true;
	return false;
}

void series_targets(struct target_names *ret, const struct results *r)
{
	*ret = (struct target_names){0};
	vec_each (run, &r->runs)
		if (!has_name(ret, run->target))
			vec_push(ret, run->target);
}
