/* SPDX-License-Identifier: MIT */
/* Step by step: how long each part of the real runs took on each target. */
#include <math.h>
#include <string.h>

#include "section.h"
#include "steps.h"
#include "units.h"

#define TARGETS_ABREAST 4

static bool is_fastest(const struct step_table *s, size_t row, size_t target)
{
	uint64_t own = step_median_ns(s, row, target);

	for (size_t i = 0; i < s->targets.count; i++)
		if (step_median_ns(s, row, i) && step_median_ns(s, row, i) < own)
			return false;
	return own && s->targets.count > 1;
}

static void step_cells(
	struct table *t, const struct step_table *s, size_t row, size_t first, size_t end)
{
	const struct step_row *r = &s->rows.at[row];
	struct unit_text text;

	table_text(t, "%s%s", r->name,
		r->fate == STEP_COMPARED || r->fate == STEP_NO_PLAN ? "" : " x");
	for (size_t i = first; i < end; i++) {
		uint64_t ns = step_median_ns(s, row, i);
		if (ns)
			table_text(t, "%s%s", format_ns(ns, &text),
				is_fastest(s, row, i) ? " *" : "  ");
		else
			table_text(t, "-  ");
	}
}

/* Of "load region", "load nation", ...: how many steps up to `row` begin with the same word, if
 * `row` is the last of them, else 0. */
static size_t group_before(const struct step_table *s, size_t row)
{
	const char *name = s->rows.at[row].name;
	size_t word = strcspn(name, " ") + 1, size = 0;

	if (word > strlen(name) ||
		(row + 1 < s->rows.count && !strncmp(s->rows.at[row + 1].name, name, word)))
		return 0;
	while (size <= row && !strncmp(s->rows.at[row - size].name, name, word))
		size++;
	return size > 1 ? size : 0;
}

static void group_cells(struct table *t, const struct step_table *s, size_t row, size_t size,
	size_t first, size_t end)
{
	const char *name = s->rows.at[row].name;
	struct unit_text text;

	table_text(t, "%.*s: all %zu", (int)strcspn(name, " "), name, size);
	for (size_t i = first; i < end; i++) {
		uint64_t sum = 0;
		for (size_t j = row; j < row + size; j++)
			sum += step_median_ns(s, j, i);
		table_text(t, "%s  ", format_ns(sum, &text));
	}
}

static void score_cells(struct table *t, const struct step_table *s, const struct step_score *score,
	size_t first, size_t end)
{
	struct unit_text text;

	table_text(t, "%s", score->title);
	for (size_t i = first; i < end; i++) {
		double v = score->of(&s->grid, i);
		if (score->seconds)
			table_text(t, "%s  ", format_ns((uint64_t)(v * 1e9 + 0.5), &text));
		else
			table_text(t, "%.2f  ", v);
	}
}

static void print_abreast(const struct layout *l, const struct step_table *s, size_t first)
{
	size_t end = min_u64(first + TARGETS_ABREAST, s->targets.count);
	struct table *t = table_new();
	char name[64], title[80];

	fputs(first ? "\n" : "", l->out);
	table_column(t, "step", "step", TABLE_LEFT);
	for (size_t i = first; i < end; i++) {
		snprintf(title, sizeof(title), "%s  ",
			layout_short(s->targets.at[i]->target, 14, name));
		table_column(t, title, s->targets.at[i]->target, TABLE_RIGHT);
	}
	for (size_t row = 0; row < s->rows.count; row++) {
		size_t size = group_before(s, row);
		step_cells(t, s, row, first, end);
		if (size)
			group_cells(t, s, row + 1 - size, size, first, end);
	}
	for (size_t i = 0; i < STEP_SCORES && s->grid.rows; i++)
		score_cells(t, s, &step_scores[i], first, end);
	layout_table(l, t);
}

static uint64_t predicted_ns(const struct target_view *t, const char *name)
{
	const struct result_step *step = t->replay_run ? step_find(t->replay_run, name) : NULL;

	return step ? step->elapsed_ns : 0;
}

static void predicted_cell(struct table *t, uint64_t predicted, uint64_t measured)
{
	struct unit_text text;

	if (!predicted)
		table_text(t, "-");
	else if (!measured)
		table_text(t, "%s", format_ns(predicted, &text));
	else
		table_text(t, "%s %+.0f %%", format_ns(predicted, &text),
			((double)predicted / (double)measured - 1) * 100);
}

static bool is_predicted(const struct step_table *s)
{
	vec_each (row, &s->rows)
		vec_each (target, &s->targets)
			if (predicted_ns(*target, row->name))
				return true;
	return false;
}

static void print_predicted(
	const struct layout *l, const struct view *v, const struct step_table *s)
{
	struct table *t = table_new();
	char name[64];

	fputc('\n', l->out);
	layout_text(l, 2, "", "The same steps in the %s replay, and how far off:", v->mode);
	table_column(t, "step", "step", TABLE_LEFT);
	for (size_t i = 0; i < s->targets.count && i < TARGETS_ABREAST; i++)
		table_column(t, layout_short(s->targets.at[i]->target, 14, name),
			s->targets.at[i]->target, TABLE_RIGHT);
	for (size_t row = 0; row < s->rows.count; row++) {
		table_text(t, "%s", s->rows.at[row].name);
		for (size_t i = 0; i < s->targets.count && i < TARGETS_ABREAST; i++)
			predicted_cell(t, predicted_ns(s->targets.at[i], s->rows.at[row].name),
				step_median_ns(s, row, i));
	}
	layout_table(l, t);
}

static void print_left_out(const struct layout *l, const struct step_table *s)
{
	char reason[160];

	vec_each (row, &s->rows)
		if (row->fate == STEP_OTHER_RESULT)
			layout_warning(l, 2, "x ", "%s: %s. One of them is wrong.", row->name,
				step_reason(row, reason));
		else if (row->fate != STEP_COMPARED && row->fate != STEP_NO_PLAN)
			layout_text(l, 2, "x ", "%s is not compared: %s.", row->name,
				step_reason(row, reason));
}

/* Once each, however many targets and runs say so. */
static void print_notes(const struct layout *l, const struct step_table *s)
{
	vec_each (target, &s->targets)
		vec_each (step, &(*target)->real_run->steps)
			if (step->note)
				layout_text(l, 2, "", "%s, %s: %s.", (*target)->target, step->name,
					step->note);
}

void section_steps(const struct layout *l, const struct view *v)
{
	struct step_table s;

	step_table_init(&s, v);
	if (s.rows.count) {
		layout_heading(l, "STEP BY STEP");
		layout_text(l, 2, "",
			"Medians of the real runs; * is the lowest, x is left out. Below them "
			"statistics over "
			"the %zu steps that can be compared: finished in every run%s. m-time is "
			"the sum of the times, m-score the sum of fastest / own time (at most "
			"%zu, more is better): in it every step weighs the same. The relative "
			"score is 100 for the average target, more is better.",
			s.grid.rows,
			s.grid.rows < s.rows.count ? ", with one plan and one result everywhere"
						   : "",
			s.grid.rows);
		for (size_t first = 0; first < s.targets.count; first += TARGETS_ABREAST)
			print_abreast(l, &s, first);
		print_left_out(l, &s);
		print_notes(l, &s);
		if (is_predicted(&s))
			print_predicted(l, v, &s);
	}
	step_table_done(&s);
}

void say_score(const struct layout *l, const struct view *v)
{
	const struct step_score *score = &step_scores[v->score];
	struct phrase p = {0};
	struct unit_text text;
	struct step_table s;
	char lead[80];

	step_table_init(&s, v);
	for (size_t i = 0; i < s.targets.count && s.grid.rows; i++) {
		double value = score->of(&s.grid, i);
		phrase_add(&p, "%s%s ", i ? ", " : "", s.targets.at[i]->target);
		if (score->seconds)
			phrase_add(&p, "%s", format_ns((uint64_t)(value * 1e9 + 0.5), &text));
		else
			phrase_add(&p, "%.2f", value);
	}
	snprintf(lead, sizeof(lead), "%s of %s (%s is better): ", score->title,
		format_things(s.grid.rows, "step", &text), score->more_is_better ? "more" : "less");
	if (p.text[0])
		layout_text(l, 2, lead, "%s", p.text);
	step_table_done(&s);
}
