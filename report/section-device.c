/* SPDX-License-Identifier: MIT */
/* What the block device saw, which explains file systems better than their times do. */
#include "section.h"
#include "units.h"

static bool has_device(const struct result_run *run)
{
	return run && run->device.valid;
}

static void total_row(
	struct table *t, const struct target_view *target, const struct result_run *run)
{
	const struct blockstat *d = &run->device;
	struct unit_text text;
	char name[64];

	table_text(t, "%s %s", layout_short(target->target, 11, name), run_kind_names[run->kind]);
	table_text(t, "%s", run->syncs ? format_count(run->syncs, &text) : "-");
	table_text(t, "%s", format_count(d->reads, &text));
	table_text(t, "%s", format_bytes(d->read_bytes, &text));
	table_text(t, "%s", format_count(d->writes, &text));
	table_text(t, "%s", format_bytes(d->write_bytes, &text));
	table_text(t, "%s", format_count(d->flushes, &text));
	table_text(t, "%s", d->commits ? format_count(d->commits, &text) : "-");
}

static void per_sync_row(struct table *t, const struct result_run *run)
{
	const struct blockstat *d = &run->device;
	double syncs = (double)run->syncs;
	struct unit_text text;

	table_text(t, "  per sync");
	table_text(t, "%s", "");
	table_text(t, "%.2f", (double)d->reads / syncs);
	table_text(t, "%s", format_bytes(d->read_bytes / run->syncs, &text));
	table_text(t, "%.2f", (double)d->writes / syncs);
	table_text(t, "%s", format_bytes(d->write_bytes / run->syncs, &text));
	table_text(t, "%.2f", (double)d->flushes / syncs);
	if (d->commits)
		table_text(t, "%.2f", (double)d->commits / syncs);
	else
		table_text(t, "-");
}

static void device_rows(
	struct table *t, const struct target_view *target, const struct result_run *run)
{
	if (!has_device(run))
		return;
	total_row(t, target, run);
	if (run->syncs)
		per_sync_row(t, run);
}

static struct table *device_table(const struct view *v)
{
	static const char *const numbers[] = {
		"syncs", "reads", "read", "writes", "written", "flushes", "commits"};
	struct table *t = table_new();

	table_column(t, "target", "target", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		table_column(t, numbers[i], numbers[i], TABLE_RIGHT);
	vec_each (target, &v->targets) {
		device_rows(t, target, target->replay_run);
		device_rows(t, target, target->real_run);
	}
	return t;
}

/* Replay and real run did the same calls; where the device saw something else, say so. */
static void compare_count(const struct layout *l, const char *target, const char *what,
	uint64_t replay, uint64_t real)
{
	double ratio = (double)replay / (double)max_u64(real, 1);

	/* A few requests more are a matter of timing. */
	if (max_u64(replay, real) < 100 || (ratio > 0.8 && ratio < 1.25))
		return;
	layout_text(l, 2, "", "On %s the replay made %.1f times as many %s as the real run.",
		target, ratio, what);
}

static void compare_runs(const struct layout *l, const struct target_view *t)
{
	if (!has_device(t->replay_run) || !has_device(t->real_run))
		return;
	const struct blockstat *a = &t->replay_run->device, *b = &t->real_run->device;
	compare_count(l, t->target, "reads", a->reads, b->reads);
	compare_count(l, t->target, "writes", a->writes, b->writes);
	compare_count(l, t->target, "flushes", a->flushes, b->flushes);
}

void section_device(const struct layout *l, const struct view *v)
{
	bool any = false;

	vec_each (t, &v->targets)
		any |= has_device(t->replay_run) || has_device(t->real_run);
	if (!any)
		return;
	layout_heading(l, "WHAT THE DEVICE DID");
	layout_text(l, 2, "",
		"Requests and bytes at the block device during the median run, the settling at its "
		"end included; syncs are the fsync, fdatasync and O_DSYNC calls, commits those of "
		"the file system's journal. - is not known.");
	layout_table(l, device_table(v));
	vec_each (t, &v->targets)
		compare_runs(l, t);
}
