/* SPDX-License-Identifier: MIT */
/* Can the numbers be trusted, and where do they come from? */
#include <string.h>

#include "section.h"
#include "stats.h"
#include "units.h"

#define SHOWN 5 /* failures and divergences in words */

static uint64_t divergences_of(const struct series *s)
{
	uint64_t sum = 0;

	vec_each (run, &s->runs)
		sum += (*run)->divergences;
	return sum;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void fidelity_row(
	struct table *t, const char *target, const char *runs, const struct series *s)
{
	const struct result_run *run = series_median(s);
	struct unit_text text;
	char name[64];

	table_text(t, "%s", layout_short(target, 15, name));
	table_text(t, "%s", runs);
	table_text(t, "%zu", s->runs.count);
	table_text(t, "%s",
		run && run->kind == RUN_REPLAY ? format_count(divergences_of(s), &text) : "-");
	table_text(t, "%s", run ? or_dash(run->engine) : "-");
	table_text(t, "%s", run && run->syncs ? format_count(run->syncs, &text) : "-");
	table_text(t, "%s", run ? format_ns(run->cpu_ns, &text) : "-");
	table_text(t, "%.1f %%", 100 * stats_spread(s->elapsed_ns.at, s->elapsed_ns.count));
}

/* One row per mode of replay that a target has. */
static void replay_rows(struct table *t, const struct view *v, const struct target_view *target)
{
	VEC(const char *) done = {0};

	vec_each (run, &v->results->runs) {
		bool known = run->kind != RUN_REPLAY || strcmp(run->target, target->target) != 0;
		vec_each (mode, &done)
			known |= !strcmp(*mode, run->mode);
		if (known)
			continue;
		struct series s;
		series_collect(&s, v->results, target->target, RUN_REPLAY, run->mode);
		fidelity_row(t, target->target, or_dash(run->mode), &s);
		series_done(&s);
		vec_push(&done, run->mode);
	}
	vec_free(&done);
}

static struct table *fidelity_table(const struct view *v)
{
	struct table *t = table_new();

	table_column(t, "target", "target", TABLE_LEFT);
	table_column(t, "run", "mode", TABLE_LEFT);
	table_column(t, "runs", "runs", TABLE_RIGHT);
	table_column(t, "diverged", "divergences", TABLE_RIGHT);
	table_column(t, "engine", "engine", TABLE_LEFT);
	table_column(t, "syncs", "syncs", TABLE_RIGHT);
	table_column(t, "CPU", "cpu_ns", TABLE_RIGHT);
	table_column(t, "spread", "spread", TABLE_RIGHT);
	vec_each (target, &v->targets) {
		replay_rows(t, v, target);
		if (target->real.runs.count || target->real.failed)
			fidelity_row(t, target->target, "real", &target->real);
	}
	return t;
}

static void calibration_lines(const struct layout *l, const struct target_view *t)
{
	struct phrase ring = {0}, blocking = {0};
	char lead[80], name[64];

	if (!t->replay_run || !t->replay_run->calibration.count)
		return;
	vec_each (c, &t->replay_run->calibration) {
		struct phrase *p = c->ring ? &ring : &blocking;
		phrase_add(p, "%s%s %.1f/%.1f", p->text[0] ? ", " : "", c->op,
			(double)c->ring_ns / 1e3, (double)c->sync_ns / 1e3);
	}
	snprintf(lead, sizeof(lead), "%s: ", layout_short(t->target, 24, name));
	layout_text(l, 4, lead, "%s%s%s%s%s", ring.text[0] ? "by the ring: " : "", ring.text,
		ring.text[0] && blocking.text[0] ? "; " : "",
		blocking.text[0] ? "by blocking calls: " : "", blocking.text);
}

static void print_calibration(const struct layout *l, const struct view *v)
{
	bool any = false;

	vec_each (t, &v->targets)
		any |= t->replay_run && t->replay_run->calibration.count;
	if (!any)
		return;
	layout_text(l, 2, "",
		"Calibration: median time of a call through io_uring / blocking, in us, and "
		"which of the two the engine used:");
	vec_each (t, &v->targets)
		calibration_lines(l, t);
}

static void print_divergences(const struct layout *l, const struct view *v)
{
	size_t shown = 0;

	vec_each (run, &v->results->runs)
		vec_each (d, &run->divergence)
			if (shown++ < SHOWN)
				layout_warning(l, 2,
					"diverged: ", "%s, %s, repeat %zu: %zu x %s: %s",
					run->target, run->mode, (size_t)run->repeat,
					(size_t)d->count, d->op, d->first ? d->first : "");
	if (shown > SHOWN)
		layout_text(l, 2, "", "... and %zu more; --json has them all.", shown - SHOWN);
}

static void print_failures(const struct layout *l, const struct view *v)
{
	size_t shown = 0;

	vec_each (run, &v->results->runs)
		if (run->failure && shown++ < SHOWN)
			layout_warning(l, 2, "failed: ", "%s, %s %s, repeat %zu: %s", run->target,
				run->mode, run_kind_names[run->kind], (size_t)run->repeat,
				run->failure);
	if (shown > SHOWN)
		layout_text(l, 2, "", "... and %zu more; --json has them all.", shown - SHOWN);
}

static void print_conflict(const struct layout *l, const struct view *v)
{
	struct result_conflict c;

	if (results_conflict(v->results, &c))
		layout_warning(l, 2, "wrong: ",
			"%s on %s (repeat %zu) yields something else than on %s (repeat %zu).",
			c.step->name, c.b->target, (size_t)c.b->repeat, c.a->target,
			(size_t)c.a->repeat);
}

static void print_left_out(const struct layout *l, const struct view *v)
{
	vec_each (t, &v->targets)
		if (t->replay.left_out)
			layout_text(l, 2, "",
				"%s: %zu replays with another engine or order than %s/%s are left "
				"out.",
				t->target, t->replay.left_out,
				t->replay_run ? t->replay_run->engine : "",
				t->replay_run ? t->replay_run->order : "");
}

/* Of the first replay: the trace is the same for all. */
static void print_not_replayed(const struct layout *l, const struct view *v)
{
	struct unit_text text, more;

	vec_each (run, &v->results->runs) {
		if (run->kind != RUN_REPLAY || run->failure)
			continue;
		if (run->skipped)
			layout_text(l, 2, "",
				"Not replayed: %s events of the trace that the kernel made for "
				"itself or that closed a file others had open still.",
				format_count(run->skipped, &text));
		if (run->mapped_read || run->mapped_written)
			layout_text(l, 2, "",
				"Through mappings: %s read and %s written, which the replay does "
				"by "
				"read and write.",
				format_bytes(run->mapped_read, &text),
				format_bytes(run->mapped_written, &more));
		return;
	}
}

void section_fidelity(const struct layout *l, const struct view *v)
{
	if (!v->results->runs.count)
		return;
	layout_heading(l, "CAN THESE NUMBERS BE TRUSTED");
	layout_text(l, 2, "",
		"diverged: calls whose result was not the captured one (all repeats). syncs and "
		"CPU (user + system): of the median run. spread: noise of the repeats.");
	layout_table(l, fidelity_table(v));
	print_failures(l, v);
	print_divergences(l, v);
	print_conflict(l, v);
	print_left_out(l, v);
	print_not_replayed(l, v);
	print_calibration(l, v);
}

static const char *fact(const struct view *v, const char *key)
{
	const char *text = json_string_value(json_object_get(v->results->environment, key));

	return text ? text : "?";
}

static void add_fact(struct phrase *p, const json_t *device, const char *key, const char *words)
{
	const char *text = json_string_value(json_object_get(device, key));

	if (text)
		phrase_add(p, "%s%s%s", p->text[0] ? ", " : "", words, text);
}

static void print_device(const struct layout *l, const json_t *device)
{
	const json_t *size = json_object_get(device, "size_bytes");
	struct phrase p = {0};
	struct unit_text text;

	add_fact(&p, device, "device", "");
	add_fact(&p, device, "where", "over ");
	add_fact(&p, device, "backed_by", "backed by ");
	if (json_is_integer(size))
		phrase_add(&p, ", %s", format_bytes((uint64_t)json_integer_value(size), &text));
	if (json_is_boolean(json_object_get(device, "rotational")))
		phrase_add(&p, ", %srotational",
			json_is_true(json_object_get(device, "rotational")) ? "" : "not ");
	add_fact(&p, device, "write_cache", "cache: ");
	add_fact(&p, device, "scheduler", "scheduler: ");
	if (p.text[0])
		layout_text(l, 2, "device: ", "%s", p.text);
}

static void print_capture(const struct layout *l, const json_t *capture)
{
	const char *target = json_string_value(json_object_get(capture, "target"));
	json_int_t ns = json_integer_value(json_object_get(capture, "elapsed_ns"));
	struct unit_text text;

	if (target && ns > 0)
		layout_text(l, 2, "capture: ", "on %s, %s with the pass-through in between", target,
			format_ns((uint64_t)ns, &text));
}

static void print_targets(const struct layout *l, const struct view *v)
{
	vec_each (t, &v->targets) {
		const struct result_run *run = t->real_run ? t->real_run : t->replay_run;
		char lead[80], name[64];
		if (!run || !run->options || !run->options[0])
			continue;
		snprintf(lead, sizeof(lead), "%s: ", layout_short(t->target, 60, name));
		layout_text(l, 2, lead, "%s", run->options);
	}
}

void section_environment(const struct layout *l, const struct view *v)
{
	const struct results *r = v->results;
	const json_t *device = json_object_get(r->environment, "device");
	struct unit_text text;

	layout_heading(l, "ENVIRONMENT");
	layout_text(l, 2, "", "%s, Linux %s, %s, %d CPUs (%s), %s; %s, fsreel %s", fact(v, "host"),
		fact(v, "kernel"), fact(v, "machine"),
		(int)json_integer_value(json_object_get(r->environment, "cpus")),
		fact(v, "processor"),
		format_bytes(
			(uint64_t)json_integer_value(json_object_get(r->environment, "memory")),
			&text),
		fact(v, "date"), fact(v, "fsreel"));
	print_device(l, device);
	print_capture(l, json_object_get(r->environment, "capture"));
	print_targets(l, v);
	if (r->trace_sha256)
		layout_text(l, 2, "trace: ", "%s, %s events, sha256 %.16s...",
			r->trace_path ? r->trace_path : "?", format_count(r->trace_events, &text),
			r->trace_sha256);
	if (json_object_get(r->environment, "command"))
		layout_text(l, 2, "command: ", "%s", fact(v, "command"));
}
