/* SPDX-License-Identifier: MIT */
#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "interrupt.h"
#include "io.h"
#include "progress.h"
#include "vec.h"

const struct exporter *const exporters[] = {
	&export_csv,
	&export_fio,
	&export_perfetto,
	&export_sqlite,
	NULL,
};

const struct exporter *exporter_by_name(const char *name)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}

static int export_tree(struct export *x, struct error *err)
{
	struct tree_entry entry;
	int r;

	while ((r = trace_reader_tree(x->trace, &entry, err)) > 0) {
		paths_tree(x->paths, &entry);
		r = x->to->tree ? x->to->tree(x, &entry, err) : 0;
		if (r < 0)
			return r;
	}
	return r;
}

static int export_events(struct export *x, struct error *err)
{
	struct trace_totals totals = {0};
	struct progress progress;
	struct event ev;
	int r;

	trace_reader_totals(x->trace, &totals);
	progress_start(&progress, "exporting", totals.events);
	while ((r = trace_reader_next(x->trace, &ev, err)) > 0) {
		x->events++;
		r = x->to->event(x, &ev, err);
		paths_event(x->paths, &ev);
		if (x->events % 4096 == 0) {
			progress_update(&progress, x->events);
			if (!r && interrupted())
				r = error_set(err, EINTR, "interrupted");
		}
		if (r < 0)
			break;
	}
	progress_end(&progress);
	return r;
}

static int export_all(struct export *x, struct error *err)
{
	int r = x->to->begin ? x->to->begin(x, err) : 0;

	if (r >= 0)
		r = export_tree(x, err);
	if (r >= 0)
		r = export_events(x, err);
	if (r >= 0 && x->to->end)
		r = x->to->end(x, err);
	if (x->to->free)
		x->to->free(x);
	return r;
}

static int run(struct export *x, const struct exporter *to, struct trace_reader *trace,
	const char *out, struct error *err)
{
	*x = (struct export){.to = to, .trace = trace, .out = out, .paths = paths_new()};
	int r = export_all(x, err);
	paths_free(x->paths);
	x->paths = NULL;
	return r;
}

/* A regular file is replaced, anything else in the way is not ours. */
static int check_place(const struct exporter *to, const char *out, struct error *err)
{
	struct stat st;

	if (!*out)
		return error_set(err, 0, "-o: a name is missing");
	if (lstat(out, &st) < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "%s", out);
	if (to->output == EXPORT_DIRECTORY)
		return error_set(err, EEXIST, "%s exists; name a directory to be made", out);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EEXIST, "%s exists and is not a file", out);
	return 0;
}

/* What has the name of the unfinished output may be of a killed run, or the user's own: it stays. */
static int check_partial(const char *partial, struct error *err)
{
	struct stat st;

	if (!lstat(partial, &st))
		return error_set(err, EEXIST,
			"%s is in the way, where the output is made; remove it", partial);
	return 0;
}

/* Devices and pipes are written to as they are. */
static bool is_special(const char *out)
{
	struct stat st;

	return !stat(out, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int export_trace(struct export *ret, const struct exporter *to, struct trace_reader *trace,
	const char *out, struct error *err)
{
	if (!out && to->output != EXPORT_STREAM)
		return error_set(err, 0, "--to %s needs -o %s", to->name,
			to->output == EXPORT_FILE ? "FILE" : "DIRECTORY");
	if (!out || (to->output == EXPORT_STREAM && is_special(out)))
		return run(ret, to, trace, out, err);
	int length = (int)strlen(out);
	while (length > 1 && to->output == EXPORT_DIRECTORY && out[length - 1] == '/')
		length--;
	auto_free char *partial = xasprintf("%.*s.part", length, out);
	int r = check_place(to, out, err);
	if (r >= 0)
		r = check_partial(partial, err);
	if (r < 0)
		return r;
	r = run(ret, to, trace, partial, err);
	if (r >= 0 && rename(partial, out) < 0)
		r = error_errno(err, errno, "cannot rename %s to %s", partial, out);
	if (r < 0)
		remove_tree(partial);
	return r;
}
