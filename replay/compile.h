/* SPDX-License-Identifier: MIT */
/*
 * Trace -> plan, one event at a time: ids become slots, names become (directory, name), order
 * becomes waits.
 */
#ifndef COMPILE_H
#define COMPILE_H

#include "deps.h"
#include "divergence.h"
#include "event.h"
#include "reader.h"
#include "replay.h"
#include "survey.h"

struct compiler;

/* A step whose texts and waits still lie elsewhere, good until the next one is compiled. */
struct draft {
	struct step *step;     /* the caller's, filled in; step->waits is set, step->args is not */
	struct step_args args; /* without its pointers */
	bool has_args;
	struct text name, name2, attribute, value;
	void *data; /* of step->data, on the heap: the caller's */
};

/* Reads the tree and surveys the events. All arguments are borrowed. `window`: steps that can be
 * unfinished at the same time. */
int compiler_new(struct compiler **ret, struct trace_reader *trace,
	const struct replay_options *options, struct files *files, uint64_t window,
	struct error *err);
void compiler_free(struct compiler *c);

/*
 * The next step: 1, 0 at the end, -errno. `oldest`: the number of the oldest step (counted from 0 in
 * the order of this function) that may be unfinished; what older ones used can be used again.
 */
int compiler_next(struct compiler *c, uint64_t oldest, struct draft *ret, struct error *err);

const struct survey *compiler_survey(const struct compiler *c);
/* Events that could not become steps. */
const struct divergences *compiler_unresolved(const struct compiler *c);
/* Reads whose result no order of the trace explains (STEP_RACED). */
/* Writes whose stored data are not there. */
uint64_t compiler_missing(const struct compiler *c);
uint64_t compiler_raced(const struct compiler *c);
const struct deps_stats *compiler_waits(const struct compiler *c);

#endif
