/* SPDX-License-Identifier: MIT */
/* What the block device saw, which explains file systems better than their times do. */
#include <stddef.h>

#include "section.h"
#include "stats.h"
#include "units.h"

/* Each counter's median over the rounds: another process's burst in one round shows in none. */
struct counts {
	struct blockstat device; /* not valid: no run has counters */
	uint64_t syncs;
};

static uint64_t median_of(const struct series *s, size_t offset)
{
	VEC(uint64_t) values = {0};

	vec_each (run, &s->runs)
		if ((*run)->device.valid)
			vec_push(&values, *(const uint64_t *)((const char *)*run + offset));
	uint64_t median = stats_median(values.at, values.count);
	vec_free(&values);
	return median;
}

static struct counts counts_of(const struct series *s)
{
	struct counts c = {0};

	vec_each (run, &s->runs)
		c.device.valid |= (*run)->device.valid;
	c.device.reads = median_of(s, offsetof(struct result_run, device.reads));
	c.device.read_bytes = median_of(s, offsetof(struct result_run, device.read_bytes));
	c.device.writes = median_of(s, offsetof(struct result_run, device.writes));
	c.device.write_bytes = median_of(s, offsetof(struct result_run, device.write_bytes));
	c.device.flushes = median_of(s, offsetof(struct result_run, device.flushes));
	c.device.commits = median_of(s, offsetof(struct result_run, device.commits));
	c.syncs = median_of(s, offsetof(struct result_run, syncs));
	return c;
}

static void total_row(struct table *t, const char *target, const char *kind, const struct counts *c)
{
	const struct blockstat *d = &c->device;
	struct unit_text text;
	char name[64];

	table_text(t, "%s %s", layout_short(target, 11, name), kind);
	table_text(t, "%s", c->syncs ? format_count(c->syncs, &text) : "-");
	table_text(t, "%s", format_count(d->reads, &text));
	table_text(t, "%s", format_bytes(d->read_bytes, &text));
	table_text(t, "%s", format_count(d->writes, &text));
	table_text(t, "%s", format_bytes(d->write_bytes, &text));
	table_text(t, "%s", format_count(d->flushes, &text));
	table_text(t, "%s", d->commits ? format_count(d->commits, &text) : "-");
}

static void per_sync_row(struct table *t, const struct counts *c)
{
	const struct blockstat *d = &c->device;
	double syncs = (double)c->syncs;
	struct unit_text text;

	table_text(t, "  per sync");
	table_text(t, "%s", "");
	table_text(t, "%.2f", (double)d->reads / syncs);
	table_text(t, "%s", format_bytes(d->read_bytes / c->syncs, &text));
	table_text(t, "%.2f", (double)d->writes / syncs);
	table_text(t, "%s", format_bytes(d->write_bytes / c->syncs, &text));
	table_text(t, "%.2f", (double)d->flushes / syncs);
	if (d->commits)
		table_text(t, "%.2f", (double)d->commits / syncs);
	else
		table_text(t, "-");
}

static void device_rows(
	struct table *t, const char *target, const char *kind, const struct series *s)
{
	const struct counts c = counts_of(s);

	if (!c.device.valid)
		return;
	total_row(t, target, kind, &c);
	if (c.syncs)
		per_sync_row(t, &c);
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
		device_rows(t, target->target, run_kind_names[RUN_REPLAY], &target->replay);
		device_rows(t, target->target, run_kind_names[RUN_REAL], &target->real);
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
	const struct counts c = counts_of(&t->replay), d = counts_of(&t->real);
	const struct blockstat *a = &c.device, *b = &d.device;

	if (!a->valid || !b->valid)
		return;
	compare_count(l, t->target, "reads", a->reads, b->reads);
	compare_count(l, t->target, "writes", a->writes, b->writes);
	compare_count(l, t->target, "flushes", a->flushes, b->flushes);
}

void section_device(const struct layout *l, const struct view *v)
{
	bool any = false;

	vec_each (t, &v->targets)
		any |= counts_of(&t->replay).device.valid || counts_of(&t->real).device.valid;
	if (!any)
		return;
	layout_heading(l, "WHAT THE DEVICE DID");
	layout_text(l, 2, "",
		"Requests and bytes at the block device in one run, the settling at its end "
		"included: of each number the median over the rounds. syncs are the fsync, "
		"fdatasync and O_DSYNC calls, commits those of the file system's journal. - is not "
		"known.");
	layout_table(l, device_table(v));
	vec_each (t, &v->targets)
		compare_runs(l, t);
}
