/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include <math.h>
#include <string.h>

#include "layout.h"
#include "rank.h"
#include "scores.h"
#include "section.h"
#include "series.h"
#include "units.h"

#define TARGETS_ABREAST 4

struct summary {
	struct results *const *groups;
	size_t group_count;
	struct target_names targets; /* of all groups */
	double *seconds;             /* [group * targets.count + target]; NAN: no finished run */
	struct score_grid grid;
};

static const struct result_rank *rank_of(const struct results *r, const char *target)
{
	vec_each (rank, &r->ranking)
		if (!strcmp(rank->target, target))
			return rank;
	return NULL;
}

static bool has_name(const struct target_names *names, const char *target)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->at[i], target))
			return true;
	return false;
}

static void add_names(struct target_names *all, const struct results *r)
{
	struct target_names some;

	series_targets(&some, r);
	vec_each (name, &some)
		if (!has_name(all, *name))
			vec_push(all, *name);
	vec_free(&some);
}

static void summary_init(struct summary *s, struct results *const *groups, size_t count)
{
	*s = (struct summary){.groups = groups, .group_count = count};
	for (size_t i = 0; i < count; i++)
		add_names(&s->targets, groups[i]);
	s->seconds = ALLOC_ARRAY(double, count * s->targets.count);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < s->targets.count; j++) {
			const struct result_rank *rank = rank_of(groups[i], s->targets.at[j]);
			s->seconds[i * s->targets.count + j] =
				rank ? (double)rank->median_ns / 1e9 : (double)NAN;
		}
	s->grid = (struct score_grid){s->seconds, count, s->targets.count};
}

static void summary_done(struct summary *s)
{
	vec_free(&s->targets);
	free(s->seconds);
}

/* "*" the fastest for certain, "=" among those that no run could tell from the fastest. */
static const char *mark_of(const struct results *r, const struct result_rank *rank)
{
	const struct result_rank *first = r->ranking.at;
	bool certain = true;

	if (rank != first)
		return rank_compare(r, rank, first) == RANK_DIFFERENT ? " " : "=";
	vec_each (other, &r->ranking)
		certain &= other == first || rank_compare(r, other, first) == RANK_DIFFERENT;
	return certain ? "*" : "=";
}

static void workload_row(
	struct table *t, const struct summary *s, size_t group, size_t first, size_t end)
{
	const struct results *r = s->groups[group];
	char name[64];

	table_text(t, "%s", layout_short(r->workload ? r->workload : "?", 22, name));
	for (size_t i = first; i < end; i++) {
		const struct result_rank *rank = rank_of(r, s->targets.at[i]);
		struct unit_text ns;
		if (rank)
			table_text(t, "%s %s", format_ns(rank->median_ns, &ns), mark_of(r, rank));
		else
			table_text(t, "-  ");
	}
}

static double m_time(const struct score_grid *g, size_t system)
{
	return score_m(g, NULL, system).time;
}

static double m_score(const struct score_grid *g, size_t system)
{
	return score_m(g, NULL, system).score;
}

static const struct {
	const char *title;
	int decimals;
	double (*of)(const struct score_grid *g, size_t system);
} scores[] = {
	{"score by sums", 1, score_times},
	{"score, all alike", 1, score_times_evenly},
	{"m-score", 2, m_score},
	{"m-time (s)", 2, m_time},
};

static void score_rows(struct table *t, const struct summary *s, size_t first, size_t end)
{
	for (size_t row = 0; row < ARRAY_SIZE(scores); row++) {
		table_text(t, "%s", scores[row].title);
		for (size_t i = first; i < end; i++) {
			char text[32] = "-  ";
			double score = scores[row].of(&s->grid, i);
			if (!isnan(score))
				snprintf(text, sizeof(text), "%.*f  ", scores[row].decimals, score);
			table_text(t, "%s", text);
		}
	}
}

static void print_abreast(const struct layout *l, const struct summary *s, size_t first)
{
	size_t end = min_u64(first + TARGETS_ABREAST, s->targets.count);
	struct table *t = table_new();
	char name[64], title[80];

	fputs(first ? "\n" : "", l->out);
	table_column(t, "workload", "workload", TABLE_LEFT);
	for (size_t i = first; i < end; i++) {
		snprintf(title, sizeof(title), "%s  ", layout_short(s->targets.at[i], 10, name));
		table_column(t, title, s->targets.at[i], TABLE_RIGHT);
	}
	for (size_t i = 0; i < s->group_count; i++)
		workload_row(t, s, i, first, end);
	score_rows(t, s, first, end);
	layout_table(l, t);
}

void report_summary(struct results *const *groups, size_t count,
	const struct report_options *options, FILE *out)
{
	struct layout l = {out, options->width ? options->width : 80, options->color};
	struct summary s;

	summary_init(&s, groups, count);
	layout_heading(&l, "ALL WORKLOADS");
	layout_text(&l, 2, "",
		"Median elapsed time. * is the fastest for certain; = marks those that the runs "
		"cannot tell from the fastest. Scores are 100 for the average target, more is "
		"better: by sums (the longest workload outweighs the others) and with all "
		"workloads alike (geometric mean). m-score is the sum of fastest / own time over "
		"the workloads that every target finished, m-time the sum of the times.");
	for (size_t first = 0; first < s.targets.count; first += TARGETS_ABREAST)
		print_abreast(&l, &s, first);
	summary_done(&s);
}
