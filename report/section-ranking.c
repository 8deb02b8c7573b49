/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "predict.h"
#include "rank.h"
#include "section.h"
#include "units.h"

#define BAR 10

static const struct series *ranked_series(const struct target_view *t)
{
	return t->rank->kind == RUN_REAL ? &t->real : &t->replay;
}

static const char *interval_words(const struct result_rank *rank, char out[64])
{
	struct unit_text low, high;

	if (rank->repeats < 2)
		return "(one run)";
	snprintf(
		out, 64, "%s - %s", format_ns(rank->low_ns, &low), format_ns(rank->high_ns, &high));
	return out;
}

/* In how many of the rounds it was slower than the fastest. */
static void rounds_cell(struct table *t, const struct results *r, const struct result_rank *rank)
{
	struct rank_rounds rounds = rank_rounds(r, rank, &r->ranking.at[0]);

	if (rank == &r->ranking.at[0])
		table_text(t, "%s", "");
	else if (!rounds.both)
		table_text(t, "-");
	else
		table_text(t, "%zu of %zu", rounds.slower, rounds.both);
}

static void ranking_row(struct table *t, const struct view *v, const struct target_view *target)
{
	const struct result_rank *rank = target->rank;
	const struct series *s = ranked_series(target);
	uint64_t slowest = v->results->ranking.at[v->results->ranking.count - 1].median_ns;
	uint64_t fastest = v->results->ranking.at[0].median_ns;
	struct unit_text ns;
	char name[64], interval[64], bar[64];

	table_text(t, "%s%s", target->unsafe ? "!" : "", layout_short(target->target, 14, name));
	table_text(t, "%s", format_ns(rank->median_ns, &ns));
	table_text(t, "%s", interval_words(rank, interval));
	table_text(t, "%.0f %%", 100 * stats_spread(s->elapsed_ns.at, s->elapsed_ns.count));
	table_text(t, "%.2f", fastest ? (double)rank->median_ns / (double)fastest : 1);
	rounds_cell(t, v->results, rank);
	table_text(t, "%s",
		layout_bar(slowest ? (double)rank->median_ns / (double)slowest : 0, BAR, bar));
}

static struct table *ranking_table(const struct view *v)
{
	struct table *t = table_new();

	table_column(t, "target", "target", TABLE_LEFT);
	table_column(t, "median", "median_ns", TABLE_RIGHT);
	table_column(t, "95 % interval", "interval", TABLE_RIGHT);
	table_column(t, "spread", "spread", TABLE_RIGHT);
	table_column(t, "ratio", "ratio", TABLE_RIGHT);
	table_column(t, "slower in", "rounds", TABLE_RIGHT);
	table_column(t, "", "bar", TABLE_LEFT);
	vec_each (target, &v->targets)
		if (target->rank)
			ranking_row(t, v, target);
	return t;
}

/* The workload's own number, which people know from elsewhere. */
static void print_metric(const struct layout *l, const struct view *v)
{
	struct phrase p = {0};
	char lead[64] = "";

	vec_each (t, &v->targets) {
		if (!t->real_run || !t->real_run->metric_name[0])
			continue;
		snprintf(lead, sizeof(lead), "%s: ", t->real_run->metric_unit);
		phrase_add(&p, "%s%s %.0f", p.text[0] ? ", " : "", t->target,
			t->real_run->metric_value);
	}
	if (p.text[0])
		layout_text(l, 2, lead, "%s", p.text);
}

static void print_remarks(const struct layout *l, const struct view *v, const char *runs)
{
	vec_each (t, &v->targets) {
		if (t->unsafe)
			layout_warning(l, 2, "! ",
				"%s is not safe: %s. A crash may lose what was synced, so its time "
				"is not comparable with the others'.",
				t->target, t->unsafe);
		if (!t->rank)
			layout_text(l, 2, "", "%s is not ranked: it has none of the %s.", t->target,
				runs);
	}
}

void section_ranking(const struct layout *l, const struct view *v)
{
	char runs[48];

	if (!v->results->ranking.count)
		return;
	const struct result_rank *first = &v->results->ranking.at[0];
	run_words(first->kind, first->mode, runs);
	layout_heading(l, "RANKING");
	layout_text(l, 2, "",
		"Elapsed time of the %s: median, 95 %% bootstrap interval of the median, spread = "
		"(slowest - fastest) / median of the repeats, ratio = median / fastest median, and "
		"the rounds in which it was slower than the fastest. A difference is certain when "
		"the intervals are apart, or when so many rounds agree that luck would do it in "
		"less than 1 of 20 cases (6 of 6, 8 of 9).",
		runs);
	layout_table(l, ranking_table(v));
	print_metric(l, v);
	say_score(l, v);
	print_remarks(l, v, runs);
}

static void prediction_cells(struct table *t, const struct result_prediction *p)
{
	struct unit_text ns;

	table_text(t, "%s", p ? format_ns(p->predicted_ns, &ns) : "-");
	if (p && p->measured_ns)
		table_text(t, "%+.1f %%", 100 * p->error);
	else
		table_text(t, "-");
}

static struct table *prediction_table(const struct view *v)
{
	struct table *t = table_new();

	table_column(t, "target", "target", TABLE_LEFT);
	table_column(t, "measured", "measured_ns", TABLE_RIGHT);
	table_column(t, "paced replay", "paced_ns", TABLE_RIGHT);
	table_column(t, "error", "paced_error", TABLE_RIGHT);
	table_column(t, "full speed", "full_ns", TABLE_RIGHT);
	table_column(t, "error", "full_error", TABLE_RIGHT);
	vec_each (target, &v->targets) {
		const struct result_prediction *paced =
			predict_find(v->results, target->target, "paced");
		const struct result_prediction *full =
			predict_find(v->results, target->target, "full");
		struct unit_text ns;
		char name[64];
		if (!paced && !full)
			continue;
		table_text(t, "%s", layout_short(target->target, 25, name));
		table_text(t, "%s",
			target->real_run ? format_ns((paced ? paced : full)->measured_ns, &ns)
					 : "-");
		prediction_cells(t, paced);
		prediction_cells(t, full);
	}
	return t;
}

static void say_tau(
	const struct layout *l, const struct view *v, const char *mode, const char *lead)
{
	struct predict_summary s = predict_summarize(v->results, mode);
	struct phrase p = {0};

	if (!s.count)
		return;
	phrase_add(&p, "mean absolute error %.1f %%", 100 * s.mean_error);
	if (!isnan(s.tau) && s.pairs_told)
		phrase_add(&p, ", Kendall's tau of the order %.2f", s.tau);
	layout_text(l, 2, lead, "%s", p.text);
}

static void ratio_cells(struct table *t, const struct view *v, const char *target, const char *mode,
	double measured)
{
	double ratio = predict_ratio(v->results, target, v->base->target, RUN_REPLAY, mode);

	if (ratio > 0) {
		table_text(t, "%.2f", ratio);
		table_text(t, "%+.1f %%", 100 * (ratio - measured) / measured);
	} else {
		table_text(t, "-");
		table_text(t, "-");
	}
}

/* NULL when no target can be set against the baseline. */
static struct table *ratio_table(const struct view *v)
{
	struct table *t = NULL;

	vec_each (target, &v->targets) {
		double measured =
			predict_ratio(v->results, target->target, v->base->target, RUN_REAL, "");
		char name[64];
		if (target == v->base || measured <= 0)
			continue;
		if (!t) {
			t = table_new();
			table_column(t, "target", "target", TABLE_LEFT);
			table_column(t, "measured", "measured", TABLE_RIGHT);
			table_column(t, "paced replay", "paced", TABLE_RIGHT);
			table_column(t, "error", "paced_error", TABLE_RIGHT);
			table_column(t, "full speed", "full", TABLE_RIGHT);
			table_column(t, "error", "full_error", TABLE_RIGHT);
		}
		table_text(t, "%s", layout_short(target->target, 25, name));
		table_text(t, "%.2f", measured);
		ratio_cells(t, v, target->target, "paced", measured);
		ratio_cells(t, v, target->target, "full", measured);
	}
	return t;
}

static void print_ratios(const struct layout *l, const struct view *v)
{
	struct table *t = v->base ? ratio_table(v) : NULL;

	if (!t)
		return;
	layout_text(l, 2, "",
		"How many times as long as %s, median of the rounds: what disturbs a round "
		"disturbs all targets in it, so these are known better than the times.",
		v->base->target);
	layout_table(l, t);
}

/* Replays alone have nothing to be held against. */
static bool anything_measured(const struct results *r)
{
	vec_each (p, &r->predictions)
		if (p->measured_ns)
			return true;
	return false;
}

void section_prediction(const struct layout *l, const struct view *v)
{
	if (!anything_measured(v->results))
		return;
	layout_heading(l, "PREDICTED AGAINST MEASURED");
	layout_text(l, 2, "",
		"Medians. The paced replay keeps the application's CPU time between its calls: it "
		"is the prediction. Full speed leaves it out: a stress number, shown for "
		"comparison. error = (replay - measured) / measured.");
	layout_table(l, prediction_table(v));
	say_tau(l, v, "paced", "paced replay: ");
	say_tau(l, v, "full", "full speed:   ");
	print_ratios(l, v);
}
