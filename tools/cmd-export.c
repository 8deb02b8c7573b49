/* SPDX-License-Identifier: MIT */
/* fsreel export: a trace in the format of another program. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "export.h"
#include "trace-health.h"
#include "units.h"

static void list_formats(void)
{
	puts("\nformats:");
	for (const struct exporter *const *e = exporters; *e; e++) {
		printf("  %-9s %s\n", (*e)->name, (*e)->summary);
		printf("  %-9s without: %s\n", "", (*e)->loses);
	}
}

/* "rename 12, truncate 3" */
static void print_ops(const uint64_t counts[OP_LIMIT])
{
	const char *between = "  ";
	struct unit_text text;

	for (unsigned op = 0; op < OP_LIMIT; op++) {
		if (!counts[op])
			continue;
		fprintf(stderr, "%s%s %s", between, op_name((enum op)op),
			format_count(counts[op], &text));
		between = ", ";
	}
	fputc('\n', stderr);
}

static uint64_t sum_of(const uint64_t counts[OP_LIMIT])
{
	uint64_t sum = 0;

	for (unsigned op = 0; op < OP_LIMIT; op++)
		sum += counts[op];
	return sum;
}

/* What the format could not say is no fault of the trace: told, but no reason for status 1. */
static void print_losses(const struct export *x)
{
	uint64_t unsaid = sum_of(x->unsaid), weakened = sum_of(x->weakened);
	struct unit_text some, all;

	if (unsaid) {
		fprintf(stderr, "%s cannot say %s of %s:\n", x->to->name,
			format_things(unsaid, "event", &some), format_count(x->events, &all));
		print_ops(x->unsaid);
	}
	if (weakened) {
		fprintf(stderr, "%s without %s:\n", format_things(weakened, "event", &some),
			x->to->weaker);
		print_ops(x->weakened);
	}
}

static const struct exporter *find_format(const char *name, struct error *err)
{
	const struct exporter *to = name ? exporter_by_name(name) : NULL;

	if (!name)
		error_set(err, 0, "--to is missing: fio, perfetto, csv or sqlite");
	else if (!to)
		error_set(err, 0, "--to: there is no format '%s'; see fsreel export --help", name);
	return to;
}

static int export_file(
	const char *path, const struct exporter *to, const char *out, struct error *err)
{
	struct trace_reader *trace;
	struct export x;
	int r = out ? cmd_check_other_file(path, out, err) : 0;

	if (!r)
		r = trace_reader_open(&trace, path, err);
	if (r < 0)
		return r;
	r = export_trace(&x, to, trace, out, err);
	if (r >= 0)
		print_losses(&x);
	if (r >= 0)
		r = health_print(trace_reader_health(trace), stderr) ? EXIT_WRONG : EXIT_GOOD;
	trace_reader_close(trace);
	return r;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	const char *format = NULL, *out = NULL;
	const struct opt opts[] = {
		{"to", 0, OPT_STRING, &format, "FORMAT", "csv, fio, perfetto or sqlite"},
		{"output", 'o', OPT_STRING, &out, "OUT",
			"where to; csv and perfetto go to the standard output without"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1, err);

	if (first == CMD_HELP_SHOWN)
		list_formats();
	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	const struct exporter *to = find_format(format, err);
	return to ? export_file(argv[first], to, out, err) : -err->code;
}

const struct command cmd_export = {
	.name = "export",
	.usage = "FILE.reel --to FORMAT [-o OUT]",
	.summary = "a trace for fio, Perfetto, spreadsheets or SQL",
	.run = run,
};
