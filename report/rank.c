/* SPDX-License-Identifier: MIT */
#include "rank.h"

#include <stdio.h>
#include <string.h>

#include "series.h"

struct basis {
	enum run_kind kind;
	const char *mode;
};

static size_t targets_with(const struct results *r, const struct basis *b)
{
	struct target_names names;
	size_t count = 0;

	series_targets(&names, r);
	vec_each (name, &names) {
		struct series s;
		series_collect(&s, r, *name, b->kind, b->mode);
		count += s.runs.count > 0;
		series_done(&s);
	}
	vec_free(&names);
	return count;
}

static struct basis choose_basis(const struct results *r)
{
	struct basis best = {RUN_REAL, ""}, paced = {RUN_REPLAY, "paced"};
	size_t most = targets_with(r, &best);

	if (targets_with(r, &paced) > most) {
		best = paced;
		most = targets_with(r, &paced);
	}
	vec_each (run, &r->runs) {
		struct basis b = {RUN_REPLAY, run->mode};
		if (run->kind != RUN_REPLAY || targets_with(r, &b) <= most)
			continue;
		best = b;
		most = targets_with(r, &b);
	}
	return best;
}

static int by_median(const void *a, const void *b)
{
	const struct result_rank *x = a, *y = b;

	return (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
}

static void rank_one(struct results *r, const char *target, const struct basis *b)
{
	struct series s;

	series_collect(&s, r, target, b->kind, b->mode);
	if (s.runs.count) {
		struct interval i = stats_interval(s.elapsed_ns.at, s.elapsed_ns.count);
		struct result_rank rank = {
			xstrdup(target), b->kind, "", s.runs.count, i.median, i.low, i.high};
		snprintf(rank.mode, sizeof(rank.mode), "%s", b->mode);
		vec_push(&r->ranking, rank);
	}
	series_done(&s);
}

void rank_targets(struct results *r)
{
	struct basis basis = choose_basis(r);
	struct target_names names;

	vec_each (old, &r->ranking)
		free(old->target);
	r->ranking.count = 0;
	series_targets(&names, r);
	vec_each (name, &names)
		rank_one(r, *name, &basis);
	vec_free(&names);
	if (r->ranking.count)
		qsort(r->ranking.at, r->ranking.count, sizeof(*r->ranking.at), by_median);
}

struct rank_rounds rank_rounds(
	const struct results *r, const struct result_rank *a, const struct result_rank *b)
{
	struct rank_rounds rounds = {0};
	struct series of_a, of_b;

	series_collect(&of_a, r, a->target, a->kind, a->mode);
	series_collect(&of_b, r, b->target, b->kind, b->mode);
	vec_each (run, &of_a.runs) {
		const struct result_run *other = series_round(&of_b, (*run)->repeat);
		if (!other)
			continue;
		rounds.both++;
		rounds.slower += (*run)->elapsed_ns > other->elapsed_ns;
		rounds.faster += (*run)->elapsed_ns < other->elapsed_ns;
	}
	series_done(&of_a);
	series_done(&of_b);
	return rounds;
}

enum rank_relation rank_compare(
	const struct results *r, const struct result_rank *a, const struct result_rank *b)
{
	struct interval x = {a->median_ns, a->low_ns, a->high_ns};
	struct interval y = {b->median_ns, b->low_ns, b->high_ns};
	struct rank_rounds rounds = rank_rounds(r, a, b);
	bool apart = !interval_overlap(&x, &y);

	if (apart && stats_enough(a->repeats, b->repeats))
		return RANK_DIFFERENT;
	if (stats_paired(rounds.slower, rounds.faster) ||
		stats_paired(rounds.faster, rounds.slower))
		return RANK_DIFFERENT;
	/* All rounds agree, but there are fewer than it takes. */
	bool agree =
		rounds.both > 1 && (rounds.slower == rounds.both || rounds.faster == rounds.both);
	return apart || agree ? RANK_FEW : RANK_TIE;
}
