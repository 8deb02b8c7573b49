/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>
#include <string.h>

/* Paced replays if any target has them, else the first mode there is. */
static void choose_mode(struct view *v)
{
	vec_each (run, &v->results->runs) {
		if (run->kind != RUN_REPLAY || run->failure)
			continue;
		if (!v->mode[0] || !strcmp(run->mode, "paced"))
			memcpy(v->mode, run->mode, sizeof(v->mode));
	}
}

static void add_target(struct view *v, const char *target, const struct result_rank *rank)
{
	struct target_view t = {.target = target, .rank = rank};

	series_collect(&t.real, v->results, target, RUN_REAL, "");
	series_collect(&t.replay, v->results, target, RUN_REPLAY, v->mode);
	t.real_run = series_median(&t.real);
	t.replay_run = series_median(&t.replay);
	vec_each (run, &v->results->runs)
		if (!strcmp(run->target, target) && run->unsafe)
			t.unsafe = run->unsafe;
	vec_push(&v->targets, t);
}

static const struct target_view *find_target(const struct view *v, const char *target)
{
	vec_each (t, &v->targets)
		if (!strcmp(t->target, target))
			return t;
	return NULL;
}

static int choose_base(struct view *v, const char *baseline, struct error *err)
{
	v->base = v->targets.count ? &v->targets.at[0] : NULL;
	if (!baseline)
		return 0;
	v->base = find_target(v, baseline);
	if (v->base)
		return 0;
	error_set(err, EINVAL, "--baseline: no target '%s' in these results; they have", baseline);
	vec_each (t, &v->targets) {
		size_t used = err ? strlen(err->text) : 0;
		if (err)
			snprintf(err->text + used, sizeof(err->text) - used, "%s %s",
				t == v->targets.at ? "" : ",", t->target);
	}
	return -EINVAL;
}

int view_init(struct view *v, const struct results *r, const struct report_options *options,
	struct error *err)
{
	struct target_names names;

	*v = (struct view){.results = r, .score = options->score};
	choose_mode(v);
	vec_each (rank, &r->ranking)
		add_target(v, rank->target, rank);
	series_targets(&names, r);
	vec_each (name, &names)
		if (!find_target(v, *name))
			add_target(v, *name, NULL);
	vec_free(&names);
	return choose_base(v, options->baseline, err);
}

void view_done(struct view *v)
{
	vec_each (t, &v->targets) {
		series_done(&t->real);
		series_done(&t->replay);
	}
	vec_free(&v->targets);
}
