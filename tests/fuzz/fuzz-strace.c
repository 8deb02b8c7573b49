/* SPDX-License-Identifier: MIT */
/* Any text as the output of strace: refused, or a trace without contradictions. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "consistency.h"
#include "import.h"
#include "io.h"
#include "progress.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check(const char *path)
{
	struct consistency *c = consistency_new();
	struct trace_reader *trace;
	struct tree_entry entry;
	struct error err;
	struct event ev;
	int r = trace_reader_open(&trace, path, &err);

	must(r == 0, "the trace cannot be read");
	while ((r = trace_reader_tree(trace, &entry, &err)) > 0)
		consistency_tree(c, &entry);
	while (r == 0 && (r = trace_reader_next(trace, &ev, &err)) > 0) {
		consistency_event(c, &ev);
		r = 0;
	}
	must(r == 0 && trace_reader_health(trace)->complete, "the trace is damaged");
	for (enum contradiction what = 0; what < CONTRADICTION_COUNT; what++)
		must(!consistency_count(c, what), contradiction_name(what));
	trace_reader_close(trace);
	consistency_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("strace", MFD_CLOEXEC);
	static struct import_report report;
	struct error err;
	char in[32], out[64];

	snprintf(in, sizeof(in), "/proc/self/fd/%d", fd);
	snprintf(out, sizeof(out), "/tmp/fuzz-strace-%d.reel", (int)getpid());
	progress_quiet(true);
	if (!write_all(fd, data, size) && !import_strace(in, "/r", out, &report, &err)) {
		check(out);
		unlink(out);
	}
	return 0;
}
