/* SPDX-License-Identifier: MIT */
/* fsreel stat: what is in a trace, in numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "gaps.h"
#include "hist.h"
#include "op.h"
#include "paths.h"
#include "phase.h"
#include "reader.h"
#include "table.h"
#include "trace-health.h"
#include "units.h"
#include "vec.h"

/* Of one operation. */
struct op_stat {
	uint64_t failed, bytes;
	uint64_t derived; /* made by the kernel, in none of the other numbers */
	struct hist took;
};

/* Of the files of one class. */
struct class_stat {
	uint64_t reads, read_bytes, writes, written_bytes, syncs, others, total_ns;
};

/* From one mark of the program to the next. */
struct phase_stat {
	char name[PHASE_NAME]; /* "" before the first mark */
	uint64_t start_ns, end_ns;
	uint64_t calls, read_bytes, written_bytes, syncs;
};

struct stats {
	struct trace_reader *reader;
	const char *path;
	uint64_t file_bytes, elapsed_ns, entries;
	struct op_stat *ops; /* by enum op */
	struct class_stat classes[FILE_CLASS_COUNT];
	VEC(struct phase_stat) phases;
};

/* Bytes that a call moved; 0 for calls that move none. */
static uint64_t moved_bytes(const struct event *ev)
{
	bool moves = ev->op == OP_read || ev->op == OP_write || ev->op == OP_copy_file_range;

	return moves && ev->result > 0 ? (uint64_t)ev->result : 0;
}

static void count_class(struct class_stat *c, const struct event *ev)
{
	if (ev->op == OP_read) {
		c->reads++;
		c->read_bytes += moved_bytes(ev);
	} else if (ev->op == OP_write) {
		c->writes++;
		c->written_bytes += moved_bytes(ev);
	} else if (op_descs[ev->op].class == CLASS_SYNC) {
		c->syncs++;
	} else {
		c->others++;
	}
	c->total_ns += ev->took_ns;
}

/* A file that the event makes has no name yet but the event's. */
static enum file_class class_of(const struct paths *paths, const struct event *ev)
{
	enum file_class class = paths_class(paths, ev->file ? ev->file : ev->dir);

	if (ev->op == OP_tmpfile)
		return FILE_TEMP;
	if (class != FILE_OTHER || !ev->file || !ev->name.size)
		return class;
	return ev->op == OP_mkdir ? FILE_DIRECTORY : file_class_of(ev->name);
}

static void count_phase(struct stats *s, const struct event *ev)
{
	if (ev->op == OP_phase || !s->phases.count) {
		struct phase_stat next = {.start_ns = ev->start_ns, .end_ns = ev->start_ns};
		if (ev->op == OP_phase)
			phase_copy_name(next.name, ev->name.data, ev->name.size);
		vec_push(&s->phases, next);
	}
	struct phase_stat *p = &s->phases.at[s->phases.count - 1];
	p->end_ns = max_u64(p->end_ns, event_end_ns(ev));
	if (ev->op == OP_phase || (ev->event_flags & EVENT_DERIVED))
		return;
	p->calls++;
	p->read_bytes += ev->op == OP_read ? moved_bytes(ev) : 0;
	p->written_bytes += ev->op == OP_read ? 0 : moved_bytes(ev);
	p->syncs += op_descs[ev->op].class == CLASS_SYNC;
}

static void count_event(struct stats *s, struct paths *paths, const struct event *ev)
{
	struct op_stat *op = &s->ops[ev->op];

	s->elapsed_ns = max_u64(s->elapsed_ns, event_end_ns(ev));
	count_phase(s, ev);
	if (ev->event_flags & EVENT_DERIVED) {
		op->derived++;
	} else {
		hist_add(&op->took, ev->took_ns);
		op->failed += ev->result < 0;
		op->bytes += moved_bytes(ev);
		count_class(&s->classes[class_of(paths, ev)], ev);
	}
	paths_event(paths, ev);
}

static int count_all(struct stats *s, struct error *err)
{
	struct paths *paths = paths_new();
	struct tree_entry entry;
	struct event ev;
	int r;

	while ((r = trace_reader_tree(s->reader, &entry, err)) > 0) {
		paths_tree(paths, &entry);
		s->entries++;
	}
	while (r == 0 && (r = trace_reader_next(s->reader, &ev, err)) > 0) {
		count_event(s, paths, &ev);
		r = 0;
	}
	paths_free(paths);
	return r;
}

static uint64_t mean_ns(const struct hist *h)
{
	return h->count ? h->sum_ns / h->count : 0;
}

static double bytes_per_event(const struct stats *s)
{
	const struct trace_health *h = trace_reader_health(s->reader);

	return h->events ? (double)(s->file_bytes - h->wait_bytes) / (double)h->events : 0;
}

/* ---- JSON ---- */

static json_t *integer(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *ops_json(const struct stats *s)
{
	json_t *json = json_object();

	for (unsigned i = 0; i < OP_LIMIT; i++) {
		const struct op_stat *op = &s->ops[i];
		if (!op->took.count && !op->derived)
			continue;
		json_object_set_new(json, op_name((enum op)i),
			json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "count",
				(json_int_t)op->took.count, "derived", (json_int_t)op->derived,
				"failed", (json_int_t)op->failed, "bytes", (json_int_t)op->bytes,
				"total_ns", (json_int_t)op->took.sum_ns, "mean_ns",
				(json_int_t)mean_ns(&op->took), "p99_ns",
				(json_int_t)hist_quantile(&op->took, 0.99)));
	}
	return json;
}

static json_t *classes_json(const struct stats *s)
{
	json_t *json = json_object();

	for (unsigned i = 0; i < FILE_CLASS_COUNT; i++) {
		const struct class_stat *c = &s->classes[i];
		if (c->reads + c->writes + c->syncs + c->others)
			json_object_set_new(json, file_class_name((enum file_class)i),
				json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "reads",
					(json_int_t)c->reads, "read_bytes",
					(json_int_t)c->read_bytes, "writes", (json_int_t)c->writes,
					"written_bytes", (json_int_t)c->written_bytes, "syncs",
					(json_int_t)c->syncs, "total_ns", (json_int_t)c->total_ns));
	}
	return json;
}

/* A trace without marks has none. */
static bool has_phases(const struct stats *s)
{
	return s->phases.count > 1 || (s->phases.count == 1 && s->phases.at[0].name[0]);
}

static json_t *phases_json(const struct stats *s)
{
	json_t *json = json_array();

	vec_each (p, &s->phases)
		json_array_append_new(
			json, json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I}", "name", p->name,
				      "start_ns", (json_int_t)p->start_ns, "elapsed_ns",
				      (json_int_t)(p->end_ns - p->start_ns), "calls",
				      (json_int_t)p->calls, "read_bytes", (json_int_t)p->read_bytes,
				      "written_bytes", (json_int_t)p->written_bytes, "syncs",
				      (json_int_t)p->syncs));
	return json;
}

static void show_json(const struct stats *s)
{
	const struct trace_health *h = trace_reader_health(s->reader);
	json_t *json = json_object();

	json_object_set_new(json, "events", integer(h->events));
	json_object_set_new(json, "lost", integer(h->lost));
	json_object_set_new(json, "unknown", integer(h->unknown));
	json_object_set_new(json, "complete", json_boolean(h->complete));
	json_object_set_new(json, "torn", json_boolean(h->torn));
	json_object_set_new(json, "file_bytes", integer(s->file_bytes));
	json_object_set_new(json, "waits", integer(h->waits));
	json_object_set_new(json, "wait_bytes", integer(h->wait_bytes));
	json_object_set_new(json, "bytes_per_event", json_real(bytes_per_event(s)));
	json_object_set_new(json, "threads", integer(trace_reader_threads(s->reader) - 1));
	json_object_set_new(json, "elapsed_ns", integer(s->elapsed_ns));
	json_object_set_new(json, "tree_entries", integer(s->entries));
	json_object_set_new(json, "ops", ops_json(s));
	json_object_set_new(json, "classes", classes_json(s));
	if (has_phases(s))
		json_object_set_new(json, "phases", phases_json(s));
	json_object_set(json, "meta", (json_t *)(uintptr_t)trace_reader_meta(s->reader));
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(json);
}

/* ---- text ---- */

static void text_cell(struct table *t, const char *text)
{
	table_text(t, "%s", text);
}

static void count_cell(struct table *t, uint64_t n)
{
	struct unit_text text;

	text_cell(t, n ? format_count(n, &text) : "-");
}

static void bytes_cell(struct table *t, uint64_t n)
{
	struct unit_text text;

	text_cell(t, n ? format_bytes(n, &text) : "-");
}

static void time_cell(struct table *t, uint64_t ns)
{
	struct unit_text text;

	text_cell(t, format_ns(ns, &text));
}

static void columns(struct table *t, const char *const *titles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_column(t, titles[i], titles[i], i ? TABLE_RIGHT : TABLE_LEFT);
}

/* Operations that took most time first. */
static const struct stats *sorted_stats;

static int by_time(const void *a, const void *b)
{
	uint64_t x = sorted_stats->ops[*(const unsigned *)a].took.sum_ns;
	uint64_t y = sorted_stats->ops[*(const unsigned *)b].took.sum_ns;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void show_ops(const struct stats *s)
{
	static const char *const titles[] = {"OPERATION", "COUNT", "FAILED", "BYTES", "TOTAL",
		"MEAN", "P99", "MAX", "BY KERNEL"};
	struct table *t = table_new();
	unsigned order[OP_LIMIT];

	for (unsigned i = 0; i < OP_LIMIT; i++)
		order[i] = i;
	sorted_stats = s;
	qsort(order, OP_LIMIT, sizeof(*order), by_time);
	columns(t, titles, ARRAY_SIZE(titles));
	for (unsigned i = 0; i < OP_LIMIT; i++) {
		const struct op_stat *op = &s->ops[order[i]];
		if (!op->took.count && !op->derived)
			continue;
		text_cell(t, op_name((enum op)order[i]));
		count_cell(t, op->took.count);
		count_cell(t, op->failed);
		bytes_cell(t, op->bytes);
		time_cell(t, op->took.sum_ns);
		time_cell(t, mean_ns(&op->took));
		time_cell(t, hist_quantile(&op->took, 0.99));
		time_cell(t, op->took.max_ns);
		count_cell(t, op->derived);
	}
	table_print(t, stdout);
	table_free(t);
	puts("BY KERNEL: made by the kernel for itself; in no other column, and not replayed.");
}

static void show_classes(const struct stats *s)
{
	static const char *const titles[] = {
		"FILES", "READS", "BYTES", "WRITES", "BYTES", "SYNCS", "OTHER CALLS", "TOTAL"};
	struct table *t = table_new();

	columns(t, titles, ARRAY_SIZE(titles));
	for (unsigned i = 0; i < FILE_CLASS_COUNT; i++) {
		const struct class_stat *c = &s->classes[i];
		if (!(c->reads + c->writes + c->syncs + c->others))
			continue;
		text_cell(t, file_class_name((enum file_class)i));
		count_cell(t, c->reads);
		bytes_cell(t, c->read_bytes);
		count_cell(t, c->writes);
		bytes_cell(t, c->written_bytes);
		count_cell(t, c->syncs);
		count_cell(t, c->others);
		time_cell(t, c->total_ns);
	}
	table_print(t, stdout);
	table_free(t);
}

static void show_phases(const struct stats *s)
{
	static const char *const titles[] = {
		"PHASE", "CALLS", "READ", "WRITTEN", "SYNCS", "FROM", "ELAPSED"};
	struct table *t = table_new();

	columns(t, titles, ARRAY_SIZE(titles));
	vec_each (p, &s->phases) {
		text_cell(t, p->name[0] ? p->name : "(before)");
		count_cell(t, p->calls);
		bytes_cell(t, p->read_bytes);
		bytes_cell(t, p->written_bytes);
		count_cell(t, p->syncs);
		time_cell(t, p->start_ns);
		time_cell(t, p->end_ns - p->start_ns);
	}
	putchar('\n');
	table_print(t, stdout);
	table_free(t);
}

/* One line of META, if it is there. */
static void show_meta(const struct stats *s, const char *title, const char *key)
{
	const json_t *value = json_object_get(trace_reader_meta(s->reader), key);

	if (!value || json_is_null(value))
		return;
	char *text = json_is_string(value) ? strdup(json_string_value(value))
	                                   : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	printf("%-10s ", title);
	for (const char *p = text; p && *p; p++)
		putchar((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
	putchar('\n');
	free(text);
}

static void show_text(const struct stats *s)
{
	const struct trace_health *h = trace_reader_health(s->reader);
	struct unit_text events, bytes, elapsed, entries, threads;

	printf("events     %s in %s by %s\n", format_count(h->events, &events),
		format_ns(s->elapsed_ns, &elapsed),
		format_things(trace_reader_threads(s->reader) - 1, "thread", &threads));
	printf("size       %s, %.2f bytes an event\n", format_bytes(s->file_bytes, &bytes),
		bytes_per_event(s));
	if (h->waits)
		printf("waits      %s, %s of the size (see --gaps)\n",
			format_count(h->waits, &events), format_bytes(h->wait_bytes, &bytes));
	printf("at start   %s files and directories\n", format_count(s->entries, &entries));
	show_meta(s, "workload", "workload");
	show_meta(s, "command", "command");
	show_meta(s, "captured", "started");
	show_meta(s, "host", "host");
	show_meta(s, "kernel", "kernel");
	show_meta(s, "below", "source_fs");
	putchar('\n');
	show_ops(s);
	putchar('\n');
	show_classes(s);
	if (has_phases(s))
		show_phases(s);
}

static int stat_trace(struct stats *s, bool json, struct error *err)
{
	struct stat st;
	int r = count_all(s, err);

	if (r < 0)
		return r;
	s->file_bytes = stat(s->path, &st) ? 0 : (uint64_t)st.st_size;
	if (json)
		show_json(s);
	else
		show_text(s);
	fflush(stdout);
	return health_print(trace_reader_health(s->reader), stderr) ? EXIT_WRONG : EXIT_GOOD;
}

/* In place of the rest. */
static int show_gaps(const char *path, bool json, struct error *err)
{
	struct gaps *g;
	int r = gaps_read(&g, path, err);

	if (r < 0)
		return r;
	if (json) {
		json_t *all = gaps_json(g);
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else {
		gaps_print(g);
	}
	bool wrong = health_print(gaps_health(g), stderr) > 0;
	gaps_free(g);
	return wrong ? EXIT_WRONG : EXIT_GOOD;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	bool json = false, gaps = false;
	struct stats s = {0};
	const struct opt opts[] = {
		{"gaps", 0, OPT_FLAG, &gaps, NULL,
			"where the time of the threads went, call by call (needs the probe)"},
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	s.path = argv[first];
	if (gaps)
		return show_gaps(s.path, json, err);
	int r = trace_reader_open(&s.reader, s.path, err);
	if (!r) {
		s.ops = ALLOC_ARRAY(struct op_stat, OP_LIMIT);
		r = stat_trace(&s, json, err);
	}
	free(s.ops);
	vec_free(&s.phases);
	trace_reader_close(s.reader);
	return r;
}

const struct command cmd_stat = {
	.name = "stat",
	.usage = "[--gaps] [--json] FILE.reel",
	.summary = "what is in a trace, in numbers",
	.run = run,
};
