/* SPDX-License-Identifier: MIT */
#include "target-run.h"

#include "clock.h"
#include "interrupt.h"
#include "vec.h"

void target_run_begin(
	struct target_run *ret, struct target *t, uint64_t repeat, struct result_run *run)
{
	const char *unsafe = target_unsafe(t);

	*ret = (struct target_run){.target = t, .run = run};
	run->target = xstrdup(target_label(t));
	run->options = xstrdup(target_options(t));
	run->unsafe = unsafe ? xstrdup(unsafe) : NULL;
	run->repeat = repeat;
}

int target_run_settle(struct target_run *m, struct error *err)
{
	int r = target_settle(m->target, err);

	target_counters(m->target, &m->before);
	return r;
}

int target_run_end(struct target_run *m, struct error *err)
{
	uint64_t start_ns = now_ns();
	struct blockstat after;
	int r = target_sync(m->target, err);

	m->run->settle_ns = now_ns() - start_ns;
	target_counters(m->target, &after);
	m->run->device = blockstat_since(&after, &m->before);
	return r;
}

void target_runs_unfinished(
	struct results *results, const char *output, uint64_t planned, const struct error *why)
{
	if (!output || !results->runs.count)
		return;
	results_unfinished(results, interrupted() ? "interrupted" : why->text, planned);
	results_write(results, output, NULL);
}
