/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"

static double average(const struct score_grid *g, size_t target)
{
	auto_free double *own = ALLOC_ARRAY(double, g->rows + 1);

	for (size_t row = 0; row < g->rows; row++)
		own[row] = g->values[row * g->systems + target];
	return score_average(own, g->rows);
}

static double m_score(const struct score_grid *g, size_t target)
{
	return score_m(g, NULL, target).score;
}

static double m_time(const struct score_grid *g, size_t target)
{
	return score_m(g, NULL, target).time;
}

const struct step_score step_scores[STEP_SCORES] = {
	[SCORE_M_SCORE] = {"m-score", "m-score", false, true, m_score},
	[SCORE_AVERAGE] = {"average", "average", true, false, average},
	[SCORE_RELATIVE] = {"relative", "relative score", false, true, score_times},
	[SCORE_RELATIVE + 1] = {"m-time", "m-time", true, false, m_time},
};

/* --- what the runs say --- */

const struct result_step *step_find(const struct result_run *run, const char *name)
{
	vec_each (step, &run->steps)
		if (!strcmp(step->name, name))
			return step;
	return NULL;
}

static uint64_t median_of(const struct target_view *t, const char *name)
{
	VEC(uint64_t) times = {0};

	vec_each (run, &t->real.runs) {
		const struct result_step *step = step_find(*run, name);
		if (step && !step->unfinished)
			vec_push(&times, step->elapsed_ns);
	}
	uint64_t median = stats_median(times.at, times.count);
	vec_free(&times);
	return median;
}

/* What a run of `name` on `t` has against it, by itself and beside the first one of all; true if it
 * has. */
static bool judge_run(struct step_row *row, const struct target_view *t,
	const struct target_view *first, const struct result_run *run,
	const struct result_step *model)
{
	const struct result_step *step = step_find(run, row->name);

	row->where = t->target;
	if (!step) {
		row->fate = STEP_MISSING;
	} else if (step->unfinished) {
		row->fate = STEP_UNFINISHED;
		row->why = step->unfinished;
	} else if (strcmp(step->plan, model->plan) != 0) {
		row->fate = t == first ? STEP_PLAN_CHANGES : STEP_OTHER_PLAN;
		row->other = first->target;
	} else if (step->rows != model->rows || strcmp(step->checksum, model->checksum) != 0) {
		row->fate = STEP_OTHER_RESULT;
		row->other = first->target;
	} else {
		row->where = NULL;
		return false;
	}
	return true;
}

static void judge(struct step_row *row, const struct step_table *t, const struct result_step *model)
{
	vec_each (target, &t->targets)
		vec_each (run, &(*target)->real.runs)
			if (judge_run(row, *target, t->targets.at[0], *run, model))
				return;
}

static void add_row(struct step_table *t, const struct result_step *model, bool plans)
{
	struct step_row row = {.name = model->name};

	if (plans && !*model->plan)
		row.fate = STEP_NO_PLAN;
	else
		judge(&row, t, model);
	vec_push(&t->rows, row);
	vec_each (target, &t->targets) {
		uint64_t ns = median_of(*target, row.name);
		vec_push(&t->median_ns, ns);
		if (row.fate == STEP_COMPARED)
			vec_push(&t->seconds, (double)ns / 1e9);
	}
	t->grid.rows += row.fate == STEP_COMPARED;
}

void step_table_init(struct step_table *ret, const struct view *v)
{
	bool plans = false;

	*ret = (struct step_table){0};
	vec_each (target, &v->targets)
		if (target->real_run && target->real_run->steps.count)
			vec_push(&ret->targets, target);
	if (!ret->targets.count)
		return;
	ret->grid.systems = ret->targets.count;
	const struct result_run *first = ret->targets.at[0]->real.runs.at[0];
	vec_each (step, &first->steps)
		plans |= *step->plan != '\0';
	vec_each (step, &first->steps)
		add_row(ret, step, plans);
	ret->grid.values = ret->seconds.at;
}

void step_table_done(struct step_table *t)
{
	vec_free(&t->targets);
	vec_free(&t->rows);
	vec_free(&t->median_ns);
	vec_free(&t->seconds);
}

uint64_t step_median_ns(const struct step_table *t, size_t row, size_t target)
{
	return t->median_ns.at[row * t->targets.count + target];
}

const char *step_reason(const struct step_row *row, char out[160])
{
	switch (row->fate) {
	case STEP_COMPARED:
		*out = '\0';
		break;
	case STEP_NO_PLAN:
		snprintf(out, 160, "no query");
		break;
	case STEP_MISSING:
		snprintf(out, 160, "missing on %s", row->where);
		break;
	case STEP_UNFINISHED:
		snprintf(out, 160, "%s on %s", row->why, row->where);
		break;
	case STEP_OTHER_PLAN:
		snprintf(out, 160, "another plan on %s than on %s", row->where, row->other);
		break;
	case STEP_PLAN_CHANGES:
		snprintf(out, 160, "the plan changes from run to run on %s", row->where);
		break;
	case STEP_OTHER_RESULT:
		snprintf(out, 160, "another result on %s than on %s", row->where, row->other);
		break;
	}
	return out;
}

/* --- JSON --- */

static json_t *row_json(const struct step_table *t, size_t row)
{
	const struct step_row *r = &t->rows.at[row];
	json_t *medians = json_object();
	char reason[160];

	for (size_t i = 0; i < t->targets.count; i++) {
		uint64_t ns = step_median_ns(t, row, i);
		json_object_set_new(medians, t->targets.at[i]->target,
			ns ? json_integer((json_int_t)ns) : json_null());
	}
	return json_pack("{s:s, s:b, s:o, s:o}", "name", r->name, "compared",
		r->fate == STEP_COMPARED, "left_out",
		r->fate == STEP_COMPARED ? json_null() : json_string(step_reason(r, reason)),
		"median_ns", medians);
}

static json_t *number_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* Times are whole nanoseconds, as everywhere. */
static json_t *score_json(const struct step_table *t, size_t target)
{
	json_t *json = json_pack("{s:s}", "target", t->targets.at[target]->target);

	for (size_t i = 0; i < STEP_SCORES; i++) {
		const struct step_score *s = &step_scores[i];
		double v = t->grid.rows ? s->of(&t->grid, target) : (double)NAN;
		char name[32];
		snprintf(name, sizeof(name), "%s%s", s->name, s->seconds ? "_ns" : "");
		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : *c;
		json_object_set_new(json, name,
			s->seconds && isfinite(v) ? json_integer((json_int_t)(v * 1e9 + 0.5))
						  : number_or_null(v));
	}
	return json;
}

json_t *steps_json(const struct view *v)
{
	auto_step_table struct step_table t;

	step_table_init(&t, v);
	if (!t.targets.count)
		return json_null();
	json_t *rows = json_array(), *scores = json_array();
	for (size_t i = 0; i < t.rows.count; i++)
		json_array_append_new(rows, row_json(&t, i));
	for (size_t i = 0; i < t.targets.count; i++)
		json_array_append_new(scores, score_json(&t, i));
	return json_pack("{s:I, s:o, s:o}", "compared", (json_int_t)t.grid.rows, "steps", rows,
		"scores", scores);
}
