/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "vec.h"

void record_start(struct record *r, uint64_t now_ns)
{
	r->chain.end_ns = now_ns;
}

/* The part of the chain from its end until `until_ns` goes to one cell. */
static inline void lengthen(struct chain *chain, unsigned cell, uint64_t until_ns)
{
	chain->ns[cell] += until_ns - chain->end_ns;
	chain->end_ns = until_ns;
}

void record_think(struct record *r, uint64_t until_ns)
{
	lengthen(&r->chain, CHAIN_THINK, until_ns);
}

static struct tally *tally_of(struct record *r, unsigned cell)
{
	if (!r->tally[cell])
		r->tally[cell] = ALLOC(struct tally);
	return r->tally[cell];
}

static bool moves_bytes(enum op op)
{
	return op == OP_read || op == OP_write || op == OP_copy_file_range;
}

static void note_mark(struct record *r, const char *name, uint64_t now_ns)
{
	struct mark mark = {.at_ns = now_ns};

	phase_copy_name(mark.name, name, strlen(name));
	vec_push(&r->marks, mark);
}

void record_step(struct record *r, struct replay_context *ctx, const struct step *step,
	uint64_t start_ns, uint64_t end_ns, int64_t result)
{
	unsigned cell = step->op * FILE_CLASS_COUNT + step->file_class;

	lengthen(&r->chain, CHAIN_DISPATCH, start_ns);
	if (step->op == OP_phase) {
		note_mark(r, step->args->name, end_ns);
		lengthen(&r->chain, CHAIN_DISPATCH, end_ns);
		return;
	}
	struct tally *tally = tally_of(r, cell);
	lengthen(&r->chain, cell, end_ns);
	hist_add(&tally->hist, end_ns - start_ns);
	if (result > 0 && moves_bytes((enum op)step->op))
		tally->bytes += (uint64_t)result;
	r->steps++;
	r->syncs += (step->bits & STEP_SYNCS) != 0;
	if (__builtin_expect(divergence_differs(step, result), false))
		divergence_count(&r->divergences, ctx, step, result);
}

static const struct record *last_to_end(struct record *const *lanes, size_t count)
{
	const struct record *last = NULL;

	for (size_t i = 0; i < count; i++)
		if (!last || lanes[i]->chain.end_ns > last->chain.end_ns)
			last = lanes[i];
	return last;
}

/* All lanes' tallies of one cell; false if there are none. */
static bool sum_class(
	struct record *const *lanes, size_t count, unsigned cell, struct tally *ret_sum)
{
	*ret_sum = (struct tally){0};
	for (size_t i = 0; i < count; i++) {
		const struct tally *t = lanes[i]->tally[cell];
		if (!t)
			continue;
		hist_merge(&ret_sum->hist, &t->hist);
		ret_sum->bytes += t->bytes;
	}
	return ret_sum->hist.count > 0;
}

static void put_class(struct result_run *run, unsigned cell, const struct tally *t)
{
	const char *file_class = file_class_name((enum file_class)(cell % FILE_CLASS_COUNT));
	struct result_class *c =
		result_run_class(run, op_name((enum op)(cell / FILE_CLASS_COUNT)), file_class);

	c->count = t->hist.count;
	c->bytes = t->bytes;
	c->total_ns = t->hist.sum_ns;
	c->p50_ns = hist_quantile(&t->hist, 0.5);
	c->p90_ns = hist_quantile(&t->hist, 0.9);
	c->p99_ns = hist_quantile(&t->hist, 0.99);
	c->max_ns = t->hist.max_ns;
}

static void put_critical(struct result_run *run, const struct chain *chain)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CHAIN_LIMIT; i++) {
		if (!chain->ns[i])
			continue;
		const char *op = i == CHAIN_THINK      ? RESULT_OP_THINK
		                 : i == CHAIN_DISPATCH ? RESULT_OP_DISPATCH
		                                       : op_name((enum op)(i / FILE_CLASS_COUNT));
		const char *file_class =
			i >= CHAIN_THINK ? ""
					 : file_class_name((enum file_class)(i % FILE_CLASS_COUNT));
		result_run_class(run, op, file_class)->critical_ns = chain->ns[i];
		sum += chain->ns[i];
	}
	assert(sum == run->elapsed_ns);
}

static void put_divergences(struct result_run *run, struct record *const *lanes, size_t count)
{
	struct divergences all = {0};

	for (size_t i = 0; i < count; i++)
		divergence_merge(&all, &lanes[i]->divergences);
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		if (!all.op[op])
			continue;
		struct result_divergence row = {
			.count = all.op[op]->count, .first = take_ptr(all.op[op]->first)};
		snprintf(row.op, sizeof(row.op), "%s", op_name((enum op)op));
		vec_push(&run->divergence, row);
		run->divergences += row.count;
	}
	divergence_free(&all);
}

static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* From each mark to the next, and from the last to the end. */
static void put_phases(
	struct result_run *run, struct record *const *lanes, size_t count, uint64_t end_ns)
{
	VEC(struct mark) marks = {0};

	for (size_t i = 0; i < count; i++)
		vec_each (mark, &lanes[i]->marks)
			vec_push(&marks, *mark);
	if (marks.count)
		qsort(marks.at, marks.count, sizeof(*marks.at), by_time);
	for (size_t i = 0; i < marks.count; i++) {
		uint64_t next_ns = i + 1 < marks.count ? marks.at[i + 1].at_ns : end_ns;
		struct result_step step = {.elapsed_ns = next_ns - marks.at[i].at_ns};
		snprintf(step.name, sizeof(step.name), "%.23s", marks.at[i].name);
		vec_push(&run->steps, step);
	}
	vec_free(&marks);
}

void record_report(
	struct record *const *lanes, size_t count, uint64_t started_ns, struct result_run *run)
{
	const struct record *last = last_to_end(lanes, count);
	auto_free struct tally *sum = ALLOC(struct tally);

	for (unsigned cell = 0; cell < CHAIN_THINK; cell++)
		if (sum_class(lanes, count, cell, sum))
			put_class(run, cell, sum);
	for (size_t i = 0; i < count; i++) {
		run->operations += lanes[i]->steps;
		run->syncs += lanes[i]->syncs;
	}
	put_divergences(run, lanes, count);
	if (last) {
		run->elapsed_ns = last->chain.end_ns - started_ns;
		put_critical(run, &last->chain);
		put_phases(run, lanes, count, last->chain.end_ns);
	}
}

void record_done(struct record *r)
{
	for (unsigned cell = 0; cell < CHAIN_THINK; cell++)
		free(r->tally[cell]);
	divergence_free(&r->divergences);
	vec_free(&r->marks);
	*r = (struct record){0};
}
