/* SPDX-License-Identifier: MIT */
/* fsreel import: the output of strace becomes a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "cmd.h"
#include "import.h"
#include "progress.h"
#include "units.h"
#include "vec.h"

static void print_report(const struct import_report *r)
{
	struct unit_text events, calls, bytes;

	for (uint64_t i = 0; i < r->complaints && i < IMPORT_COMPLAINTS; i++)
		fprintf(stderr, "line %" PRIu64 ": %s\n", r->complaint[i].line,
			r->complaint[i].text);
	if (r->complaints > IMPORT_COMPLAINTS)
		fprintf(stderr, "... %" PRIu64 " more\n", r->complaints - IMPORT_COMPLAINTS);
	if (r->complaints)
		fprintf(stderr, "not understood: %" PRIu64 " of %" PRIu64 " lines\n", r->complaints,
			r->lines);
	for (size_t i = 0; i < r->note_count; i++)
		progress_note("not in the trace: %s, %" PRIu64 " on files below the directory",
			r->notes[i].name, r->notes[i].count);
	if (r->adopted)
		progress_note(
			"%" PRIu64 " descriptors were open before the first line", r->adopted);
	if (!r->totals.events)
		fprintf(stderr,
			"none of %s is below the directory that --root names: the trace is empty\n",
			format_things(r->calls, "call", &calls));
	progress_note("%s of %s, %s", format_things(r->totals.events, "event", &events),
		format_things(r->calls, "call", &calls),
		format_bytes(r->totals.file_bytes, &bytes));
}

/* "/a//b/" -> "/a/b"; what strace prints has neither links nor dots in it. NULL: not such a path. */
static char *clean_root(const char *root)
{
	char *clean = xstrdup(root), *to = clean;

	for (const char *p = root; *p;) {
		size_t n = strcspn(p, "/");
		if ((n == 1 && *p == '.') || (n == 2 && !strncmp(p, "..", 2)))
			n = SIZE_MAX;
		if (n == SIZE_MAX || (p == root && n)) {
			free(clean);
			return NULL;
		}
		if (n) {
			*to++ = '/';
			memcpy(to, p, n);
			to += n;
		}
		p += n + (p[n] == '/');
	}
	*to = '\0';
	return clean;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	const char *root = NULL, *out = NULL;
	struct import_report report;
	const struct opt opts[] = {
		{"output", 'o', OPT_STRING, &out, "FILE.reel", "the trace to write"},
		{"root", 0, OPT_STRING, &root, "DIR",
			"take the calls below this directory; its absolute path as it is in the "
			"list"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	if (!out)
		return error_set(err, 0, "-o FILE.reel is missing");
	if (!root)
		return error_set(err, 0,
			"--root is missing: the directory whose files the trace is to be about");
	auto_free char *clean = clean_root(root);
	if (!clean)
		return error_set(
			err, 0, "--root: '%s' is not an absolute path without . and ..", root);
	int r = import_strace(argv[first], clean, out, &report, err);
	if (r < 0)
		return r;
	print_report(&report);
	return report.complaints ? EXIT_WRONG : EXIT_GOOD;
}

const struct command cmd_import = {
	.name = "import",
	.usage = "STRACE.txt --root DIR -o FILE.reel",
	.summary = "the output of strace -f -yy -ttt -T as a trace",
	.run = run,
};
