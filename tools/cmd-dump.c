/* SPDX-License-Identifier: MIT */
/* fsreel dump: the events of a trace, one a line. */
#include <stdio.h>

#include "clock.h"
#include "cmd.h"
#include "op.h"
#include "paths.h"
#include "print.h"
#include "reader.h"
#include "trace-health.h"
#include "units.h"

struct dump {
	bool json, tree, meta, waits;
	struct opt_list ops;
	const char *thread, *from, *to;
	uint64_t limit;

	bool wanted[OP_LIMIT];
	bool any_thread;
	uint32_t tid;
	uint64_t from_ns, to_ns;
	struct trace_reader *reader;
	struct paths *paths;
};

static int parse_ops(struct dump *d, struct error *err)
{
	for (size_t i = 0; i < d->ops.count; i++) {
		enum op op = op_by_name(d->ops.at[i]);
		if (!op)
			return error_set(err, 0, "--op: there is no operation '%s'; see fsreel ops",
				d->ops.at[i]);
		d->wanted[op] = true;
	}
	for (unsigned i = 0; !d->ops.count && i < OP_LIMIT; i++)
		d->wanted[i] = true;
	return 0;
}

static int parse_filters(struct dump *d, struct error *err)
{
	uint64_t tid = 0;
	int r = parse_ops(d, err);

	d->any_thread = !d->thread;
	if (!r && d->thread)
		r = parse_number(d->thread, 0, UINT32_MAX, &tid, "--thread", err);
	d->tid = (uint32_t)tid;
	d->from_ns = 0;
	d->to_ns = UINT64_MAX;
	if (!r && d->from)
		r = parse_seconds(d->from, &d->from_ns, "--from", err);
	if (!r && d->to)
		r = parse_seconds(d->to, &d->to_ns, "--to", err);
	return r;
}

static void print_json(json_t *json)
{
	json_dumpf(json, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(json);
}

static bool is_wanted(const struct dump *d, const struct event *ev, const struct trace_thread *t)
{
	return d->wanted[ev->op] && (d->any_thread || t->tid == d->tid) &&
	       event_end_ns(ev) >= d->from_ns && ev->start_ns <= d->to_ns;
}

static int dump_tree(struct dump *d, struct error *err)
{
	struct tree_entry entry;
	int r;

	while ((r = trace_reader_tree(d->reader, &entry, err)) > 0) {
		paths_tree(d->paths, &entry);
		if (d->tree && d->json)
			print_json(tree_entry_json(&entry, d->paths));
		else if (d->tree)
			print_tree_entry(stdout, &entry, d->paths);
	}
	return r;
}

/* All events are read, also those before --from: they say what files are called. */
static int dump_events(struct dump *d, struct error *err)
{
	struct event ev;
	int r;

	while ((r = trace_reader_next(d->reader, &ev, err)) > 0) {
		const struct trace_thread *t = trace_reader_thread(d->reader, ev.thread);
		if (is_wanted(d, &ev, t)) {
			if (d->json)
				print_json(event_json(&ev, d->paths, t));
			else
				print_event(stdout, &ev, d->paths, t);
			if (d->limit && !--d->limit)
				return 0;
		}
		paths_event(d->paths, &ev);
	}
	if (r == 0 && health_print(trace_reader_health(d->reader), stderr))
		return EXIT_WRONG;
	return r;
}

static int dump_waits(struct dump *d, struct error *err)
{
	struct trace_wait w;
	int r;

	while ((r = trace_reader_wait(d->reader, &w, err)) > 0) {
		const struct trace_thread *t = trace_reader_thread(d->reader, w.thread);
		if ((!d->any_thread && t->tid != d->tid) || w.run_ns < d->from_ns ||
			w.run_ns > d->to_ns)
			continue;
		print_wait(stdout, &w, t, w.waker ? trace_reader_thread(d->reader, w.waker) : NULL);
		if (d->limit && !--d->limit)
			return 0;
	}
	return r;
}

static int dump(struct dump *d, struct error *err)
{
	if (d->meta) {
		json_dumpf(trace_reader_meta(d->reader), stdout,
			d->json ? JSON_COMPACT : JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
		return EXIT_GOOD;
	}
	if (d->waits)
		return dump_waits(d, err);
	int r = dump_tree(d, err);
	return r < 0 || d->tree ? r : dump_events(d, err);
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	struct dump d = {0};
	const struct opt opts[] = {
		{"json", 0, OPT_FLAG, &d.json, NULL, "one JSON object a line"},
		{"op", 0, OPT_LIST, &d.ops, "NAME", "only this operation; may be repeated"},
		{"thread", 0, OPT_STRING, &d.thread, "TID", "only this thread"},
		{"from", 0, OPT_STRING, &d.from, "SECONDS", "leave out what ended before"},
		{"to", 0, OPT_STRING, &d.to, "SECONDS", "leave out what began after"},
		{"limit", 0, OPT_NUMBER, &d.limit, "N", "stop after so many events"},
		{"tree", 0, OPT_FLAG, &d.tree, NULL, "the starting state instead of the events"},
		{"waits", 0, OPT_FLAG, &d.waits, NULL,
			"what threads waited for (from the probe) instead of the events"},
		{"meta", 0, OPT_FLAG, &d.meta, NULL, "where and how it was captured instead"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	int r = parse_filters(&d, err);
	if (!r)
		r = trace_reader_open(&d.reader, argv[first], err);
	if (!r) {
		d.paths = paths_new();
		r = dump(&d, err);
	}
	paths_free(d.paths);
	trace_reader_close(d.reader);
	free(d.ops.at);
	return r;
}

const struct command cmd_dump = {
	.name = "dump",
	.usage = "[OPTION...] FILE.reel",
	.summary = "the events of a trace, one a line",
	.run = run,
};
