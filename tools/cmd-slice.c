/* SPDX-License-Identifier: MIT */
/* fsreel slice: a part of a trace as a trace by itself. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "progress.h"
#include "slice.h"
#include "units.h"

struct request {
	const char *output, *from, *to, *key;
	struct opt_list ops, paths, threads;
	bool anonymize;
	struct slice_options options;
};

/* An operation, or all of a class. */
static int add_op(struct slice_options *o, const char *name, struct error *err)
{
	enum op one = op_by_name(name);
	bool found = one;

	o->ops[one] |= one != 0;
	for (unsigned i = 1; i < OP_LIMIT; i++)
		if (op_descs[i].name && !strcmp(op_class_name(op_descs[i].class), name))
			found = o->ops[i] = true;
	return found ? 0
	             : error_set(err, 0,
			       "--op: there is no operation and no class '%s'; see fsreel ops",
			       name);
}

static int parse_times(struct request *q, struct error *err)
{
	struct slice_options *o = &q->options;
	int r = 0;

	o->to_ns = UINT64_MAX;
	if (q->from)
		r = parse_seconds(q->from, &o->from_ns, "--from", err);
	if (!r && q->to)
		r = parse_seconds(q->to, &o->to_ns, "--to", err);
	if (!r && o->to_ns < o->from_ns)
		r = error_set(err, 0, "--to %s is before --from %s", q->to, q->from);
	return r;
}

static int parse_request(struct request *q, struct error *err)
{
	int r = parse_times(q, err);

	for (size_t i = 0; !r && i < q->ops.count; i++)
		r = add_op(&q->options, q->ops.at[i], err);
	if (!r && !q->output)
		r = error_set(err, 0, "where to? name the slice with -o OUT.reel");
	if (!r && q->key && !q->anonymize)
		r = error_set(err, 0, "--key is for --anonymize");
	if (!r && q->anonymize)
		r = anonymizer_new(&q->options.anonymizer, q->key, err);
	q->options.paths = &q->paths;
	q->options.threads = &q->threads;
	return r;
}

static void note(const char *before, uint64_t events, const char *what, const char *after)
{
	struct unit_text text;

	if (events)
		progress_note(
			"fsreel slice: %s%s%s", before, format_things(events, what, &text), after);
}

/* All that the slice is not. */
static void print_remarks(const struct slice_stats *s)
{
	note("", s->followed, "event", " more that remove or rename what the slice has");
	note("", s->made_up, "event", " made up: opens, files, sizes, locks that others had made");
	note("", s->under_way, "call", " under way at the start that changed nothing: left out");
	note("", s->hollow_reads, "read", " of data that left-out events wrote: of holes instead");
	note("", s->raced, "read", " whose count the order of the trace does not explain");
	note("", s->impossible, "event",
		" left out: they cannot come out the same without those that are");
	note("", s->waits_left, "wait", " of threads, as the probe saw them, not carried over");
	note("stored data are not carried over, only their class: those of ", s->data_left, "write",
		"");
}

static int print_faults(const char *in, const struct slice_stats *s)
{
	struct unit_text text;

	if (!s->totals.events)
		fprintf(stderr,
			"fsreel slice: nothing in %s is what was asked for: the slice is empty\n",
			in);
	if (s->cut_short)
		fprintf(stderr, "fsreel slice: %s has no valid end; what came before was sliced\n",
			in);
	if (s->totals.lost)
		fprintf(stderr, "fsreel slice: %s were lost when %s was captured\n",
			format_things(s->totals.lost, "event", &text), in);
	if (s->unknown)
		fprintf(stderr, "fsreel slice: %s of operations that this fsreel lacks: left out\n",
			format_things(s->unknown, "event", &text));
	return s->cut_short || s->totals.lost || s->unknown ? EXIT_WRONG : EXIT_GOOD;
}

static int slice(const struct request *q, const char *in, struct error *err)
{
	struct trace_reader *reader;
	struct slice_stats stats;
	struct unit_text a, b, c;
	int r = cmd_check_other_file(in, q->output, err);

	if (!r)
		r = trace_reader_open(&reader, in, err);
	if (r < 0)
		return r;
	r = slice_write(reader, q->output, &q->options, &stats, err);
	trace_reader_close(reader);
	if (r < 0)
		return r;
	progress_note("fsreel slice: %s: %s, %s, %s", q->output,
		format_things(stats.totals.events, "event", &a),
		format_bytes(stats.totals.file_bytes, &b), format_ns(stats.totals.elapsed_ns, &c));
	print_remarks(&stats);
	return print_faults(in, &stats);
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	struct request q = {0};
	const struct opt opts[] = {
		{"output", 'o', OPT_STRING, &q.output, "OUT.reel", "write the slice here"},
		{"from", 0, OPT_STRING, &q.from, "SECONDS", "begin with what ended then"},
		{"to", 0, OPT_STRING, &q.to, "SECONDS", "end with what ended then"},
		{"thread", 0, OPT_LIST, &q.threads, "N|NAME",
			"only this thread id, or threads of this name (a glob); may be repeated"},
		{"path", 0, OPT_LIST, &q.paths, "GLOB",
			"only files of such a path or its end, or below it; may be repeated"},
		{"op", 0, OPT_LIST, &q.ops, "NAME|CLASS",
			"only this operation or class (fsreel ops); may be repeated"},
		{"anonymize", 0, OPT_FLAG, &q.anonymize, NULL,
			"replace names by hashes that keep what reports need"},
		{"key", 0, OPT_STRING, &q.key, "FILE",
			"hash with this key, so that names of several traces agree"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	int r = parse_request(&q, err);
	if (r >= 0)
		r = slice(&q, argv[first], err);
	anonymizer_free(q.options.anonymizer);
	free(q.ops.at);
	free(q.paths.at);
	free(q.threads.at);
	return r;
}

const struct command cmd_slice = {
	.name = "slice",
	.usage = "FILE.reel -o OUT.reel [OPTION...]",
	.summary = "a part of a trace as a trace that can be replayed by itself",
	.run = run,
};
