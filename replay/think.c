/* SPDX-License-Identifier: MIT */
#include "think.h"

#include "vec.h"

#define RESIDUE_MAX_NS 1000
#define ENOUGH         100 /* calls of a kind, and one in a hundred of all, before it is believed */

void think_note(struct think *t, enum op call, uint64_t cpu_ns)
{
	if (!t->after[call])
		t->after[call] = ALLOC(struct hist);
	hist_add(t->after[call], cpu_ns);
	t->count++;
}

/* The least that usually lies after a kind of call; UINT64_MAX = there are too few. */
static uint64_t least_after(const struct think *t)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(t->after); i++)
		if (t->after[i] && t->after[i]->count >= max_u64(ENOUGH, t->count / 100))
			least = min_u64(least, hist_quantile(t->after[i], 0.5));
	return least;
}

uint64_t think_residue(const struct think *t)
{
	uint64_t least = least_after(t);

	return least == UINT64_MAX ? 0 : min_u64(least, RESIDUE_MAX_NS);
}

uint64_t think_call_cost(const struct think *t, uint64_t measured_ns)
{
	uint64_t least = least_after(t);

	if (least == UINT64_MAX)
		return measured_ns;
	return min_u64(max_u64(least, measured_ns), measured_ns + measured_ns / 2);
}

void think_done(struct think *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(t->after); i++)
		free(t->after[i]);
	*t = (struct think){0};
}
