/* SPDX-License-Identifier: MIT */
/* The sentences that matter: who is fastest and is it certain, what costs the others, how good was
 * the prediction. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "predict.h"
#include "rank.h"
#include "section.h"
#include "units.h"

const char *run_words(enum run_kind kind, const char *mode, char out[48])
{
	if (kind == RUN_REAL)
		snprintf(out, 48, "real runs");
	else if (!strcmp(mode, "full"))
		snprintf(out, 48, "full-speed replays");
	else
		snprintf(out, 48, "%s replays", mode);
	return out;
}

static const struct target_view *fastest_safe(const struct view *v)
{
	vec_each (t, &v->targets)
		if (t->rank && !t->unsafe)
			return t;
	return NULL;
}

/* Targets that stand in `relation` to the fastest, as a list; returns how many. */
static size_t list_related(const struct view *v, enum rank_relation relation, struct phrase *p)
{
	const struct result_rank *first = v->targets.at[0].rank;
	size_t count = 0, index = 0;

	vec_each (t, &v->targets)
		count += t->rank && t->rank != first &&
		         rank_compare(v->results, t->rank, first) == relation;
	vec_each (t, &v->targets)
		if (t->rank && t->rank != first &&
			rank_compare(v->results, t->rank, first) == relation)
			phrase_add(p, "%s%s", phrase_joint(index++, count), t->target);
	return count;
}

static void say_certainty(const struct view *v, struct phrase *p)
{
	struct phrase ties = {0}, few = {0};
	size_t tie_count = list_related(v, RANK_TIE, &ties);
	size_t few_count = list_related(v, RANK_FEW, &few);

	if (tie_count)
		phrase_add(p, " No difference shown to %s.", ties.text);
	if (few_count)
		phrase_add(p, " Against %s that can still be luck: it takes more repeats to tell.",
			few.text);
	if (!tie_count && !few_count)
		phrase_add(p, " That is certain: luck would show it in less than 1 of 20 cases.");
}

static void say_unsafe(const struct view *v, struct phrase *p)
{
	const struct target_view *first = v->targets.at, *safe = fastest_safe(v);
	struct unit_text ns;

	if (!first->unsafe)
		return;
	phrase_add(p, " But it is not safe (%s): a crash can lose what was synced.", first->unsafe);
	if (safe)
		phrase_add(p, " The fastest that keeps its promises is %s: %s.", safe->target,
			format_ns(safe->rank->median_ns, &ns));
}

static void say_fastest(const struct layout *l, const struct view *v)
{
	const struct result_rank *first = v->targets.count ? v->targets.at[0].rank : NULL;
	struct phrase p = {0};
	struct unit_text ns;
	char runs[48];

	if (!first) {
		layout_warning(l, 1, "1. ", "No run finished, so there is nothing to rank.");
		return;
	}
	run_words(first->kind, first->mode, runs);
	phrase_add(&p, v->results->ranking.count == 1 ? "%s takes %s" : "%s is fastest: %s",
		first->target, format_ns(first->median_ns, &ns));
	if (first->repeats > 1)
		phrase_add(&p, ", the median of %zu %s.", (size_t)first->repeats, runs);
	else
		phrase_add(&p, " in one of the %s.", runs);
	if (v->results->ranking.count > 1)
		say_certainty(v, &p);
	say_unsafe(v, &p);
	layout_text(l, 1, "1. ", "%s", p.text);
}

static void say_share(struct phrase *p, const struct share *share, int64_t total_ns)
{
	struct unit_text ns;
	double part = total_ns ? (double)share->ns / (double)total_ns : 0;
	char words[64];

	phrase_add(p, "%s %c%s", share_words(share->op, share->file_class, words),
		share->ns < 0 ? '-' : '+', format_ns(share_size(share->ns), &ns));
	if (part > 0 && part < 1.5)
		phrase_add(p, " (%.0f %%)", 100 * part);
}

/* Room for the longest name in the list of costs. */
static int name_room(const struct view *v)
{
	int room = 0;
	char name[64];

	vec_each (t, &v->targets) {
		int length = (int)strlen(layout_short(t->target, 18, name));
		room = length > room && t != v->base ? length : room;
	}
	return room;
}

static bool tied(const struct view *v, const struct target_view *t)
{
	return t->rank && v->base->rank &&
	       rank_compare(v->results, t->rank, v->base->rank) == RANK_TIE;
}

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t median_of(const struct series *s)
{
	return stats_median(s->elapsed_ns.at, s->elapsed_ns.count);
}

/*
 * The difference of the two runs that are taken apart may have another sign than that of the medians
 * of the replays (with an even number of them, these are no runs) and than the ranking's.
 */
static void say_difference(struct phrase *p, const struct view *v, const struct target_view *t)
{
	uint64_t own = t->replay_run->elapsed_ns, base = v->base->replay_run->elapsed_ns;
	int sign = order_of(own, base);
	bool unclear = sign * order_of(median_of(&t->replay), median_of(&v->base->replay)) < 0;
	bool reversed = t->rank && v->base->rank &&
	                sign * order_of(t->rank->median_ns, v->base->rank->median_ns) < 0;
	struct unit_text ns;

	if (unclear || (reversed && tied(v, t)))
		return;
	phrase_add(p, "%s %s%s: ", format_ns(max_u64(own, base) - min_u64(own, base), &ns),
		sign < 0 ? "faster" : "slower", reversed ? " here, not in the ranking" : "");
}

/* The largest causes. */
static void say_shares(struct phrase *p, const struct shares *shares)
{
	for (size_t i = 0; i < shares->count && i < 3; i++) {
		if (i && share_size(shares->at[i].ns) < share_size(shares->total_ns) / 20)
			break;
		phrase_add(p, "%s", i ? ", " : "");
		say_share(p, &shares->at[i], shares->total_ns);
	}
}

static void say_target_costs(
	const struct layout *l, const struct view *v, const struct target_view *t)
{
	struct phrase p = {0};
	struct shares shares;
	char lead[80], name[64];

	attribute_difference(&shares, t->replay_run, v->base->replay_run);
	say_difference(&p, v, t);
	if (tied(v, t) || !p.text[0])
		phrase_add(&p, "within the noise");
	else
		say_shares(&p, &shares);
	snprintf(lead, sizeof(lead), "%-*s  ", name_room(v), layout_short(t->target, 18, name));
	layout_text(l, 4, lead, "%s", p.text);
	shares_done(&shares);
}

static size_t targets_to_explain(const struct view *v)
{
	size_t count = 0;

	vec_each (t, &v->targets)
		count += t != v->base && t->replay_run && t->replay_run->classes.count;
	return v->base && v->base->replay_run && v->base->replay_run->classes.count ? count : 0;
}

static void say_costs(const struct layout *l, const struct view *v)
{
	char runs[48];

	if (!targets_to_explain(v)) {
		if (v->targets.count > 1)
			layout_text(l, 1, "2. ",
				"What makes the others slower needs replays of one trace on two "
				"targets or more, which these results do not hold.");
		return;
	}
	run_words(RUN_REPLAY, v->mode, runs);
	layout_text(l, 1, "2. ",
		"Against %s, by the critical path of the median %s:", v->base->target, runs);
	vec_each (t, &v->targets)
		if (t != v->base && t->replay_run && t->replay_run->classes.count)
			say_target_costs(l, v, t);
}

/* The largest spread of the repeats of a target. */
static double real_noise(const struct view *v)
{
	double noise = 0;

	vec_each (t, &v->targets)
		noise = fmax(noise, stats_spread(t->real.elapsed_ns.at, t->real.elapsed_ns.count));
	return noise;
}

static void say_error(const struct layout *l, const struct view *v)
{
	struct predict_summary s = predict_summarize(v->results, "paced");
	double noise = real_noise(v);
	struct phrase p = {0};

	phrase_add(&p, "The paced replays were off by %.1f %% on average", 100 * s.mean_error);
	if (s.count > 1)
		phrase_add(&p, " (at worst %+.1f %%, %s)", 100 * s.worst->error, s.worst->target);
	if (s.pairs_told)
		phrase_add(&p,
			" and put %zu of the %zu pair%s that the real runs can tell apart "
			"in the right order",
			s.pairs_right, s.pairs_told, s.pairs_told == 1 ? "" : "s");
	if (!isnan(s.tau) && s.pairs_told)
		phrase_add(&p, " (rank agreement: Kendall's tau %.2f)", s.tau);
	if (!s.pairs_told && s.count > 1)
		phrase_add(&p, "; the real runs cannot tell the targets apart for certain, so the "
			       "order is not judged");
	if (noise > s.mean_error)
		phrase_add(&p,
			". Repeats of the real runs differ by up to %.0f %%, so a smaller "
			"error proves nothing",
			100 * noise);
	double ratios = predict_ratio_error(v->results, v->base->target, "paced");
	if (!isnan(ratios))
		phrase_add(&p,
			". In how many times as long as %s the others take, they were off by "
			"%.1f %%",
			v->base->target, 100 * ratios);
	layout_text(l, 1, "3. ", "%s.", p.text);
}

static void say_prediction(const struct layout *l, const struct view *v)
{
	bool predicted = false;

	vec_each (p, &v->results->predictions)
		predicted |= !strcmp(p->mode, "paced");
	if (predict_summarize(v->results, "paced").count)
		say_error(l, v);
	else if (predicted)
		layout_text(l, 1, "3. ",
			"How near the paced replays are to the real workload was not measured: "
			"there is no real run in these results.");
	else if (v->mode[0])
		layout_text(l, 1, "3. ",
			"Nothing is predicted: a replay without the application's think time is a "
			"stress number. Replay with --mode paced to predict.");
}

static void say_what_ran(const struct layout *l, const struct view *v)
{
	size_t real = 0, paced = 0, other = 0;

	vec_each (run, &v->results->runs) {
		real += run->kind == RUN_REAL;
		paced += run->kind == RUN_REPLAY && !strcmp(run->mode, "paced");
		other += run->kind == RUN_REPLAY && strcmp(run->mode, "paced") != 0;
	}
	layout_text(l, 1, "", "%zu target%s: %zu real run%s, %zu paced and %zu full-speed replay%s",
		v->targets.count, v->targets.count == 1 ? "" : "s", real, real == 1 ? "" : "s",
		paced, other, other == 1 ? "" : "s");
}

static void say_failures(const struct layout *l, const struct view *v)
{
	size_t failed = 0, divergent = 0;

	vec_each (run, &v->results->runs) {
		failed += run->failure != NULL;
		divergent += run->divergences > 0;
	}
	if (failed)
		layout_warning(l, 1, "!  ", "%zu of %zu runs failed; see the end.", failed,
			v->results->runs.count);
	if (divergent)
		layout_warning(l, 1, "!  ",
			"%zu replays got other answers than the capture did, so they are not the "
			"same work; see the end.",
			divergent);
}

void section_headline(const struct layout *l, const struct view *v)
{
	const char *title = v->results->workload ? v->results->workload : "fsreel";
	char name[64];

	layout_heading(l, strlen(title) > l->width ? layout_short(title, 63, name) : title);
	if (v->results->unfinished)
		layout_warning(l, 1, "", "unfinished: %s", v->results->unfinished);
	say_what_ran(l, v);
	say_fastest(l, v);
	say_costs(l, v);
	say_prediction(l, v);
	say_failures(l, v);
}
