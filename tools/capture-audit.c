/* SPDX-License-Identifier: MIT */
#include "capture-audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit-compare.h"
#include "audit-log.h"
#include "audit.h"
#include "cleanup.h"
#include "probe.h"
#include "reader.h"
#include "table.h"
#include "units.h"
#include "vec.h"

#define CASES_SHOWN 10
#define RING_BYTES  (64u << 20)

/* --- while the command runs --- */

struct audit_recording {
	struct probe *probe;
	struct audit_log *log;
	struct audit *filter;
	uint64_t calls;
};

static void take(const struct probe_record *r, void *arg)
{
	struct audit_recording *rec = arg;

	if (!audit_concerns(rec->filter, r))
		return;
	rec->calls++;
	audit_log_put(rec->log, r);
}

static int start(struct audit_recording *rec, const char *mount, uint32_t device, pid_t pid,
	struct error *err)
{
	const struct audit_options filter = {.device = device, .dir = mount};
	const struct probe_options options = {
		.set = PROBE_AUDIT,
		.dir = mount,
		.device = device,
		.ring_bytes = RING_BYTES,
		.record = take,
		.arg = rec,
	};
	rec->filter = audit_new(&filter);
	int r = probe_open(&rec->probe, &options, err);
	return r ? r : probe_watch(rec->probe, pid, err);
}

int audit_recording_start(struct audit_recording **ret, int fd, const char *mount, uint32_t device,
	pid_t pid, struct error *err)
{
	struct audit_recording *rec = ALLOC(struct audit_recording);

	rec->log = audit_log_writer(fd);
	int r = start(rec, mount, device, pid, err);

	if (r)
		audit_recording_stop(rec, &(struct capture_audit){0});
	else
		*ret = rec;
	return r;
}

void audit_recording_stop(struct audit_recording *rec, struct capture_audit *ret)
{
	struct probe_stats stats = {0};

	if (!rec)
		return;
	if (rec->probe)
		probe_stop(rec->probe, &stats);
	probe_close(rec->probe);
	ret->calls = rec->calls;
	ret->lost = stats.lost;
	ret->log_error = audit_log_close(rec->log);
	audit_free(rec->filter);
	free(rec);
}

/* --- show --- */

enum column { IN_TRACE, IN_PIECES, BY_KERNEL, NOT_VISIBLE, WRONG, COLUMNS };

static const struct {
	enum column column;
	const char *key;
} verdicts[AUDIT_VERDICTS] = {
	[AUDIT_TRACED] = {IN_TRACE, "traced"},
	[AUDIT_MERGED] = {IN_PIECES, "merged"},
	[AUDIT_PIECES] = {IN_PIECES, "pieces"},
	[AUDIT_CACHED] = {BY_KERNEL, "cached"},
	[AUDIT_NOTHING] = {BY_KERNEL, "nothing"},
	[AUDIT_REFUSED] = {BY_KERNEL, "refused"},
	[AUDIT_UNFLUSHED] = {BY_KERNEL, "unflushed"},
	[AUDIT_UNSEEN] = {NOT_VISIBLE, "unseen"},
	[AUDIT_MISSING] = {WRONG, "missing"},
	[AUDIT_DIFFERENT] = {WRONG, "different"},
};

static const char *const fates[AUDIT_FATES] = {
	[AUDIT_CALLED] = "called",
	[AUDIT_BESIDE] = "beside",
	[AUDIT_REQUESTED] = "requested",
	[AUDIT_RELEASED] = "released",
	[AUDIT_ENDED] = "process_ended",
	[AUDIT_DERIVED] = "derived",
	[AUDIT_OTHERS] = "others",
	[AUDIT_STRAY] = "unexplained",
};

static uint64_t sum(const uint64_t *counts, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += counts[i];
	return total;
}

static void count_cell(struct table *t, uint64_t n)
{
	struct unit_text text;

	table_text(t, "%s", n ? format_count(n, &text) : "-");
}

static void column_titles(struct table *t, const char *const *titles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_column(t, titles[i], titles[i], i ? TABLE_RIGHT : TABLE_LEFT);
}

static void add_call(struct table *t, const char *name, const uint64_t *counts)
{
	uint64_t columns[COLUMNS] = {0};

	for (size_t v = 0; v < AUDIT_VERDICTS; v++)
		columns[verdicts[v].column] += counts[v];
	table_text(t, "%s", name);
	count_cell(t, sum(counts, AUDIT_VERDICTS));
	for (size_t c = 0; c < COLUMNS; c++)
		count_cell(t, columns[c]);
}

static void show_calls(const struct audit *a, uint64_t totals[AUDIT_VERDICTS])
{
	static const char *const titles[] = {"CALL", "MADE", "IN TRACE", "MERGED, SPLIT",
		"BY THE KERNEL", "NOT VISIBLE", "UNACCOUNTED"};
	struct table *t = table_new();

	column_titles(t, titles, ARRAY_SIZE(titles));
	for (size_t i = 0; i < audit_rule_count; i++) {
		const uint64_t *counts = audit_verdicts(a, i);
		if (!sum(counts, AUDIT_VERDICTS))
			continue;
		add_call(t, audit_rules[i].name, counts);
		for (size_t v = 0; v < AUDIT_VERDICTS; v++)
			totals[v] += counts[v];
	}
	add_call(t, "total", totals);
	table_print(t, stdout);
	table_free(t);
}

static void show_reasons(const uint64_t totals[AUDIT_VERDICTS])
{
	struct table *t = table_new();

	table_column(t, "", "calls", TABLE_RIGHT);
	table_column(t, "WHAT BECAME OF THE CALLS", "reason", TABLE_LEFT);
	for (size_t v = 0; v < AUDIT_VERDICTS; v++) {
		if (!totals[v])
			continue;
		count_cell(t, totals[v]);
		table_text(t, "%s", audit_verdict_text((enum audit_verdict)v));
	}
	table_print(t, stdout);
	table_free(t);
}

static void show_events(const struct audit *a)
{
	struct table *t = table_new();

	table_column(t, "EVENT", "event", TABLE_LEFT);
	table_column(t, "IN TRACE", "in_trace", TABLE_RIGHT);
	for (size_t f = 0; f < AUDIT_FATES; f++)
		table_column(t, audit_fate_text((enum audit_fate)f), fates[f], TABLE_RIGHT);
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const uint64_t *counts = audit_fates(a, (enum op)op);
		if (!sum(counts, AUDIT_FATES))
			continue;
		table_text(t, "%s", op_name((enum op)op));
		count_cell(t, sum(counts, AUDIT_FATES));
		for (size_t f = 0; f < AUDIT_FATES; f++)
			count_cell(t, counts[f]);
	}
	table_print(t, stdout);
	table_free(t);
}

static void show_end(const struct audit *a, const struct capture_audit *audit, uint64_t made)
{
	struct unit_text n, wrong, lost;

	for (size_t i = 0; i < CASES_SHOWN && audit_case(a, i); i++)
		printf("%s%s\n", i ? "" : "\n", audit_case(a, i));
	if (audit->lost)
		printf("\naudit: not conclusive: %s calls were not counted because the probe's "
		       "buffer was full\n",
			format_count(audit->lost, &lost));
	else if (audit_wrong(a))
		printf("\naudit: of %s on the mount and their events, %s not accounted for\n",
			format_things(made, "call", &n),
			format_things(audit_wrong(a), "case", &wrong));
	else if (!made)
		printf("\naudit: no calls on the mount: there is nothing to account for\n");
	else
		printf("\naudit: %s on the mount, all accounted for\n",
			format_things(made, "call", &n));
}

static void show_text(const struct audit *a, const struct capture_audit *audit)
{
	uint64_t totals[AUDIT_VERDICTS] = {0};

	show_calls(a, totals);
	putchar('\n');
	show_reasons(totals);
	putchar('\n');
	show_events(a);
	show_end(a, audit, sum(totals, AUDIT_VERDICTS));
}

static json_t *counts_json(
	const char *name_key, const char *name, const uint64_t *counts, size_t count)
{
	json_t *row = json_pack("{s:s}", name_key, name);

	json_object_set_new(row, "count", json_integer((json_int_t)sum(counts, count)));
	for (size_t i = 0; i < count; i++)
		json_object_set_new(row, count == AUDIT_FATES ? fates[i] : verdicts[i].key,
			json_integer((json_int_t)counts[i]));
	return row;
}

static void show_json(const struct audit *a, const struct capture_audit *audit)
{
	json_t *calls = json_array(), *events = json_array(), *cases = json_array();

	for (size_t i = 0; i < audit_rule_count; i++)
		if (sum(audit_verdicts(a, i), AUDIT_VERDICTS))
			json_array_append_new(calls, counts_json("call", audit_rules[i].name,
							     audit_verdicts(a, i), AUDIT_VERDICTS));
	for (unsigned op = 0; op < OP_LIMIT; op++)
		if (sum(audit_fates(a, (enum op)op), AUDIT_FATES))
			json_array_append_new(
				events, counts_json("event", op_name((enum op)op),
						audit_fates(a, (enum op)op), AUDIT_FATES));
	for (size_t i = 0; audit_case(a, i); i++)
		json_array_append_new(cases, json_string(audit_case(a, i)));
	json_t *all = json_pack("{s:o,s:o,s:o,s:I,s:I,s:b}", "calls", calls, "events", events,
		"cases", cases, "unaccounted", (json_int_t)audit_wrong(a), "lost",
		(json_int_t)audit->lost, "conclusive", !audit->lost);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void show_nothing(const struct capture_audit *audit, bool json)
{
	printf(json ? "{\"conclusive\": false, \"error\": \"%s\"}\n"
		    : "audit: not conclusive: the record of the calls could not be written: %s\n",
		strerror(-audit->log_error));
}

int capture_audit_show(const struct capture_audit *audit, int fd, const char *trace,
	const char *mount, bool json, struct error *err)
{
	auto_free char *dir = realpath(mount, NULL);
	const struct audit_options options = {
		.device = audit->device,
		.dir = dir ? dir : mount,
		.epoch_ns = audit->epoch_ns,
		.others = audit->others,
	};
	struct trace_reader *reader;

	if (audit->log_error) {
		show_nothing(audit, json);
		return 0;
	}
	int r = trace_reader_open(&reader, trace, err);

	if (r)
		return r;
	struct audit *a = audit_new(&options);
	struct audit_log *log = audit_log_reader(fd);
	r = audit_compare(a, reader, log, err);
	if (!r && json)
		show_json(a, audit);
	else if (!r)
		show_text(a, audit);
	fflush(stdout);
	bool good = !audit->lost && !audit_wrong(a);
	audit_log_close(log);
	audit_free(a);
	trace_reader_close(reader);
	return r ? r : good;
}
