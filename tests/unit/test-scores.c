/* SPDX-License-Identifier: MIT */
/* The published tables under tests/data must come out of our formulas. */
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cleanup.h"

#define MAX_COLUMNS 16

/* One line of a CSV file; quoted cells may hold commas. Cells point into `text`. */
struct csv_line {
	char text[512];
	char *cells[MAX_COLUMNS];
	size_t count;
};

static char *cut_cell(char **rest)
{
	char *cell = *rest, *end;

	if (*cell != '"')
		return strsep(rest, ",");
	end = strchr(++cell, '"');
	*end = '\0';
	*rest = end[1] ? end + 2 : NULL;
	return cell;
}

static bool next_line(FILE *f, struct csv_line *line)
{
	char *rest = line->text;

	if (!f || !fgets(line->text, sizeof(line->text), f))
		return false;
	line->text[strcspn(line->text, "\n")] = '\0';
	for (line->count = 0; rest && line->count < MAX_COLUMNS; line->count++)
		line->cells[line->count] = cut_cell(&rest);
	return true;
}

static FILE *open_table(const char *name, struct csv_line *line)
{
	char path[256];

	snprintf(path, sizeof(path), TEST_DATA "/%s", name);
	FILE *f = fopen(path, "r");
	CHECK(f != NULL);
	next_line(f, line); /* titles */
	return f;
}

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

TEST(averages_of_ten_runs)
{
	struct csv_line line;
	auto_fclose FILE *f = open_table("sqlbench.csv", &line);
	size_t rows = 0;

	for (; next_line(f, &line); rows++) {
		double runs[10];
		for (size_t i = 0; i < 10; i++)
			runs[i] = strtod(line.cells[4 + i], NULL);
		CHECK(near(score_average(runs, 10), strtod(line.cells[3], NULL), 0.0051));
	}
	CHECK_EQ(rows, 96);
}

/* The 2004 table: five rows of seconds, five of rates, and the scores computed from them. */
struct sysbench {
	double seconds[5 * 4], rates[5 * 4];
	double averages[10];
	double write_score[4], trans_score[4], overall[4];
	size_t seconds_rows, rates_rows, average_rows;
};

static void read_cells(const struct csv_line *line, double *out)
{
	for (size_t i = 0; i < 4; i++)
		out[i] = strtod(line->cells[2 + i], NULL);
}

static struct sysbench read_sysbench(void)
{
	struct sysbench s = {0};
	struct csv_line line;
	auto_fclose FILE *f = open_table("sysbench2004.csv", &line);

	while (next_line(f, &line)) {
		if (!strcmp(line.cells[0], "overall write score"))
			read_cells(&line, s.write_score);
		else if (!strcmp(line.cells[0], "overall trans. score"))
			read_cells(&line, s.trans_score);
		else if (!strcmp(line.cells[0], "overall performance"))
			read_cells(&line, s.overall);
		else if (!strcmp(line.cells[1], "secs"))
			read_cells(&line, &s.seconds[4 * s.seconds_rows++]);
		else
			read_cells(&line, &s.rates[4 * s.rates_rows++]);
		if (line.cells[6][0])
			s.averages[s.average_rows++] = strtod(line.cells[6], NULL);
	}
	return s;
}

TEST(relative_scores_of_2004)
{
	struct sysbench s = read_sysbench();
	struct score_grid seconds = {s.seconds, 5, 4}, rates = {s.rates, 5, 4};

	CHECK_EQ(s.seconds_rows, 5);
	CHECK_EQ(s.rates_rows, 5);
	for (size_t i = 0; i < 5; i++) {
		CHECK(near(score_average(&s.seconds[4 * i], 4), s.averages[i], 0.0501));
		CHECK(near(score_average(&s.rates[4 * i], 4), s.averages[5 + i], 0.0501));
	}
	for (size_t fs = 0; fs < 4; fs++) {
		double write = score_times(&seconds, fs), trans = score_rates(&rates, fs);
		CHECK(near(write, s.write_score[fs], 0.051));
		CHECK(near(trans, s.trans_score[fs], 0.051));
		CHECK(near((write + trans) / 2, s.overall[fs], 0.051));
	}
}

/* When every row weighs the same, jfs (2) wins and not xfs (3). */
TEST(even_weights_change_the_winner_of_2004)
{
	static const double expected[] = {80.6, 105.0, 110.3, 103.7};
	struct sysbench s = read_sysbench();
	struct score_grid seconds = {s.seconds, 5, 4}, rates = {s.rates, 5, 4};

	for (size_t fs = 0; fs < 4; fs++)
		CHECK(near((score_times_evenly(&seconds, fs) + score_rates_evenly(&rates, fs)) / 2,
			expected[fs], 0.06));
}

TEST(m_score_and_m_time)
{
	struct csv_line line;
	auto_fclose FILE *f = open_table("tpch_pg.csv", &line);
	double times[3 * 2] = {0}, total[2] = {0};

	while (next_line(f, &line)) {
		if (strcmp(line.cells[0], "example1") != 0)
			continue;
		size_t run = strtoul(line.cells[1], NULL, 10) - 1;
		size_t query = strtoul(line.cells[2], NULL, 10) - 1;
		times[query * 2 + run] = strtod(line.cells[3], NULL);
		if (line.cells[6][0])
			total[run] = strtod(line.cells[6], NULL);
	}
	struct score_grid g = {times, 3, 2};
	for (size_t run = 0; run < 2; run++)
		CHECK_EQ(score_m(&g, NULL, run).score, total[run]);
	CHECK_EQ(score_m(&g, NULL, 0).score, 2.75);
	CHECK_EQ(score_m(&g, NULL, 0).time, 125.0);
	CHECK_EQ(score_m(&g, NULL, 1).time, 115.0);
}

TEST(queries_that_cannot_be_compared_are_left_out)
{
	double times[] = {1, 10, NAN, 20, 50, 40};
	uint64_t plans[] = {1, 1, 2, 2, 3, 4};
	struct score_grid g = {times, 3, 2};

	CHECK_EQ(score_m(&g, NULL, 0).rows, 2);
	CHECK(near(score_m(&g, NULL, 0).score, 1.8, 1e-9));
	CHECK(near(score_m(&g, NULL, 1).score, 1.1, 1e-9));
	CHECK_EQ(score_m(&g, plans, 0).rows, 1);
	CHECK_EQ(score_m(&g, plans, 1).time, 10.0);
}

TEST(missing_values)
{
	double v[] = {NAN, 4, 8};

	CHECK_EQ(score_average(v, 3), 6.0);
	CHECK(isnan(score_average(v, 1)));
	CHECK(isnan(score_average(v, 0)));
}
