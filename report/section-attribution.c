/* SPDX-License-Identifier: MIT */
/* Critical paths side by side, three targets to a table so that it fits 80 columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "section.h"
#include "units.h"

#define TARGETS_ABREAST 3
#define ROWS            8

/* One unit for a whole table, so that numbers can be compared by eye. */
struct scale {
	double ns;
	const char *unit;
	int decimals;
};

struct column {
	const struct target_view *target;
	struct shares shares;
};

/* One (operation, file class) that some column has. */
struct row {
	const char *op, *file_class;
	uint64_t largest;
};

struct matrix {
	const struct view *view;
	VEC(struct column) columns;
	VEC(struct row) rows; /* largest first */
	struct scale scale;
	bool signs;
};

static struct scale scale_for(uint64_t largest)
{
	if (largest >= 10000000000)
		return (struct scale){1e9, "s", 2};
	if (largest >= 1000000000)
		return (struct scale){1e9, "s", 3};
	if (largest >= 1000000)
		return (struct scale){1e6, "ms", largest >= 100000000 ? 1 : 3};
	return (struct scale){1e3, "us", 1};
}

static struct row *row_at(struct matrix *m, const struct share *share)
{
	vec_each (row, &m->rows)
		if (!strcmp(row->op, share->op) && !strcmp(row->file_class, share->file_class))
			return row;
	vec_push(&m->rows, (struct row){share->op, share->file_class, 0});
	return &m->rows.at[m->rows.count - 1];
}

static int by_largest(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->largest != y->largest ? (x->largest < y->largest ? 1 : -1) : strcmp(x->op, y->op);
}

static void collect_rows(struct matrix *m)
{
	uint64_t largest = 0;

	vec_each (column, &m->columns) {
		for (size_t i = 0; i < column->shares.count; i++) {
			struct row *row = row_at(m, &column->shares.at[i]);
			row->largest = max_u64(row->largest, share_size(column->shares.at[i].ns));
			largest = max_u64(largest, row->largest);
		}
		largest = max_u64(largest, share_size(column->shares.total_ns));
	}
	if (m->rows.count)
		qsort(m->rows.at, m->rows.count, sizeof(*m->rows.at), by_largest);
	m->scale = scale_for(largest);
}

static bool has_path(const struct target_view *t)
{
	return t->replay_run && t->replay_run->classes.count;
}

/* The critical paths, or their differences to the baseline's. */
static void matrix_init(struct matrix *m, const struct view *v, bool differences)
{
	*m = (struct matrix){.view = v, .signs = differences};
	if (differences && !has_path(v->base))
		return;
	vec_each (t, &v->targets) {
		struct column c = {.target = t};
		if (!has_path(t) || (differences && t == v->base))
			continue;
		if (differences)
			attribute_difference(&c.shares, t->replay_run, v->base->replay_run);
		else
			attribute_run(&c.shares, t->replay_run);
		vec_push(&m->columns, c);
	}
	collect_rows(m);
}

static void matrix_done(struct matrix *m)
{
	vec_each (column, &m->columns)
		shares_done(&column->shares);
	vec_free(&m->columns);
	vec_free(&m->rows);
}

static void share_cell(struct table *t, const struct matrix *m, int64_t ns, int64_t total)
{
	double percent = total ? round(100 * (double)ns / (double)total) : 0;
	char number[32], share[16] = "     ";

	/* A part that is larger than the whole, or of the other sign, says nothing; "+ 0.0" turns -0
	 * into 0. */
	if (total && percent >= 0 && percent < 150)
		snprintf(share, sizeof(share), "%3.0f %%", percent + 0.0);
	snprintf(number, sizeof(number), "%+.*f", m->scale.decimals, (double)ns / m->scale.ns);
	bool bare = !m->signs || !number[strspn(number, "+-0.")];
	table_text(t, "%s %s %s", number + bare, m->scale.unit, share);
}

static void share_row(
	struct table *t, const struct matrix *m, const struct row *row, size_t first, size_t end)
{
	table_text(t, "%s", row->op);
	table_text(t, "%s", row->file_class);
	for (size_t i = first; i < end; i++) {
		const struct shares *s = &m->columns.at[i].shares;
		share_cell(t, m, shares_of(s, row->op, row->file_class), s->total_ns);
	}
}

/* What the rows from `from` on add up to. */
static int64_t sum_from(const struct matrix *m, const struct shares *s, size_t from)
{
	uint64_t sum = 0;

	for (size_t i = from; i < m->rows.count; i++)
		sum += (uint64_t)shares_of(s, m->rows.at[i].op, m->rows.at[i].file_class);
	return (int64_t)sum;
}

static void closing_rows(
	struct table *t, const struct matrix *m, size_t shown, size_t first, size_t end)
{
	if (shown < m->rows.count) {
		table_text(t, "%zu more", m->rows.count - shown);
		table_text(t, "%s", "");
		for (size_t i = first; i < end; i++) {
			const struct shares *s = &m->columns.at[i].shares;
			share_cell(t, m, sum_from(m, s, shown), s->total_ns);
		}
	}
	table_text(t, "total");
	table_text(t, "%s", "");
	for (size_t i = first; i < end; i++) {
		const struct shares *s = &m->columns.at[i].shares;
		share_cell(t, m, sum_from(m, s, 0), s->total_ns);
	}
}

static struct table *labelled_table(const struct matrix *m, size_t first, size_t end)
{
	struct table *t = table_new();
	char name[64];

	table_column(t, "operation", "op", TABLE_LEFT);
	table_column(t, "file", "file_class", TABLE_LEFT);
	for (size_t i = first; i < end; i++) {
		const char *target = m->columns.at[i].target->target;
		table_column(t, layout_short(target, 17, name), target, TABLE_RIGHT);
	}
	return t;
}

static void print_matrix(const struct layout *l, const struct matrix *m)
{
	for (size_t first = 0; first < m->columns.count; first += TARGETS_ABREAST) {
		fputs(first ? "\n" : "", l->out);
		size_t end = min_u64(first + TARGETS_ABREAST, m->columns.count);
		struct table *t = labelled_table(m, first, end);
		/* A line "1 more" would take as much room as what it stands for. */
		size_t shown = m->rows.count > ROWS + 1 ? ROWS : m->rows.count;
		for (size_t i = 0; i < shown; i++)
			share_row(t, m, &m->rows.at[i], first, end);
		closing_rows(t, m, shown, first, end);
		layout_table(l, t);
	}
}

static const struct result_class *class_of(
	const struct result_run *run, const char *op, const char *file_class)
{
	if (run)
		vec_each (c, &run->classes)
			if (!strcmp(c->op, op) && !strcmp(c->file_class, file_class))
				return c;
	return NULL;
}

static void latency_cell(struct table *t, const struct result_class *c)
{
	struct unit_text p50, p99;

	if (c && c->count)
		table_text(t, "%s / %s", format_ns(c->p50_ns, &p50), format_ns(c->p99_ns, &p99));
	else
		table_text(t, "-");
}

/* One operation of the workload itself, from the real runs. */
static void workload_latencies(struct table *t, const struct matrix *m, size_t first, size_t end)
{
	if (!m->columns.at[first].target->real_run)
		return;
	table_text(t, RESULT_OP_WORKLOAD);
	table_text(t, "real run");
	for (size_t i = first; i < end; i++)
		latency_cell(
			t, class_of(m->columns.at[i].target->real_run, RESULT_OP_WORKLOAD, ""));
}

static void print_latencies(const struct layout *l, const struct matrix *m)
{
	for (size_t first = 0; first < m->columns.count; first += TARGETS_ABREAST) {
		fputs(first ? "\n" : "", l->out);
		size_t end = min_u64(first + TARGETS_ABREAST, m->columns.count), shown = 0;
		struct table *t = labelled_table(m, first, end);
		for (size_t i = 0; i < m->rows.count && shown < ROWS; i++) {
			const struct row *row = &m->rows.at[i];
			if (row->op[0] == '(')
				continue;
			table_text(t, "%s", row->op);
			table_text(t, "%s", row->file_class);
			for (size_t j = first; j < end; j++)
				latency_cell(t, class_of(m->columns.at[j].target->replay_run,
							row->op, row->file_class));
			shown++;
		}
		workload_latencies(t, m, first, end);
		layout_table(l, t);
	}
}

static void print_differences(const struct layout *l, const struct view *v)
{
	struct matrix m;

	matrix_init(&m, v, true);
	if (m.columns.count) {
		layout_heading(l, "WHAT MAKES THE DIFFERENCE");
		layout_text(l, 2, "",
			"The same, minus that of %s. + is time lost to it, - is time won; the rows "
			"add up to the difference in elapsed time to the nanosecond.",
			v->base->target);
		print_matrix(l, &m);
	}
	matrix_done(&m);
}

void section_attribution(const struct layout *l, const struct view *v)
{
	struct matrix m;
	char runs[48];

	matrix_init(&m, v, false);
	if (m.columns.count) {
		layout_heading(l, "WHERE THE TIME GOES");
		layout_text(l, 2, "",
			"Critical path of the median of the %s (of two in the middle, the faster): "
			"the chain of calls that nothing else hid, by operation and kind of file; "
			"it adds up to the elapsed time. (think) is the application's CPU time, "
			"(dispatch) the way from the end of what a call waited for to its start.",
			run_words(RUN_REPLAY, v->mode, runs));
		print_matrix(l, &m);
		print_differences(l, v);
		layout_heading(l, "LATENCY OF ONE CALL");
		layout_text(l, 2, "",
			"Median / 99th percentile over all calls of these runs; " RESULT_OP_WORKLOAD
			" is one operation of the workload itself.");
		print_latencies(l, &m);
	}
	matrix_done(&m);
}
