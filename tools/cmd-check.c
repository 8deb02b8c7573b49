/* SPDX-License-Identifier: MIT */
/* fsreel check: read all of a trace and say what is wrong with it. */
#include <stdio.h>

#include "clock.h"
#include "cmd.h"
#include "consistency.h"
#include "op.h"
#include "paths.h"
#include "print.h"
#include "progress.h"
#include "reader.h"
#include "trace-health.h"
#include "units.h"

/* Names, for the lines about the first cases, and the state of the check. */
struct check {
	struct trace_reader *reader;
	struct consistency *consistency;
	uint64_t entries;
};

static int check_tree(struct check *c, struct error *err)
{
	struct tree_entry entry;
	int r;

	while ((r = trace_reader_tree(c->reader, &entry, err)) > 0) {
		consistency_tree(c->consistency, &entry);
		c->entries++;
	}
	return r;
}

static int check_events(struct check *c, struct error *err)
{
	struct trace_totals totals = {0};
	struct progress progress;
	struct event ev;
	uint64_t count = 0;
	int r;

	trace_reader_totals(c->reader, &totals);
	progress_start(&progress, "checking", totals.events);
	while ((r = trace_reader_next(c->reader, &ev, err)) > 0) {
		consistency_event(c->consistency, &ev);
		if (++count % 4096 == 0)
			progress_update(&progress, count);
	}
	progress_end(&progress);
	return r;
}

static void print_case(const struct event *ev)
{
	printf("  first: ");
	if (ev->op)
		printf("%s at %.9f s, ", op_name(ev->op), (double)ev->start_ns / NSEC_PER_SEC);
	printf("file #%llu, handle h%llu\n", (unsigned long long)ev->file,
		(unsigned long long)ev->handle);
}

/* Every kind of contradiction with its number and first case; how many kinds there are. */
static unsigned print_contradictions(const struct consistency *c)
{
	struct unit_text count;
	unsigned kinds = 0;

	for (enum contradiction what = 0; what < CONTRADICTION_COUNT; what++) {
		const struct event *first = consistency_first(c, what);
		if (!first)
			continue;
		printf("%s %s\n", format_count(consistency_count(c, what), &count),
			contradiction_name(what));
		print_case(first);
		kinds++;
	}
	return kinds;
}

static int check(struct check *c, struct error *err)
{
	struct unit_text events, entries;
	int r = check_tree(c, err);

	if (!r)
		r = check_events(c, err);
	unsigned wrong = print_contradictions(c->consistency);
	if (r < 0) {
		/* The trace is what is wrong, not the way it was asked for. */
		puts(err->text);
		return EXIT_WRONG;
	}
	const struct trace_health *h = trace_reader_health(c->reader);
	wrong += health_print(h, stdout);
	printf("%s: %s, %s %s in the starting state\n", wrong ? "bad" : "good",
		format_things(h->events, "event", &events), format_count(c->entries, &entries),
		c->entries == 1 ? "entry" : "entries");
	return wrong ? EXIT_WRONG : EXIT_GOOD;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	struct check c = {0};
	int first = cmd_parse(cmd, NULL, 0, argc, argv, false, 1, 1, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	int r = trace_reader_open(&c.reader, argv[first], err);
	if (r < 0)
		return r;
	c.consistency = consistency_new();
	r = check(&c, err);
	consistency_free(c.consistency);
	trace_reader_close(c.reader);
	return r;
}

const struct command cmd_check = {
	.name = "check",
	.usage = "FILE.reel",
	.summary = "read all of a trace and say what is wrong with it",
	.run = run,
};
