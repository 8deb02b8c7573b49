/* SPDX-License-Identifier: MIT */
/* The rows of TPC-H keep the rules of its specification; so do the parameters of its queries. */
#include "tpch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cleanup.h"
#include "map.h"
#include "tpch-sql.h"
#include "vec.h"

/* A unit, cut into lines and cells. */
struct rows {
	char text[TPCH_UNIT_MAX + 1];
	char *cells[8][16];
	unsigned count, columns;
};

static void make_rows(
	struct rows *ret, const struct tpch *t, enum tpch_table table, uint64_t number)
{
	size_t size = tpch_unit(t, table, number, ret->text);
	char *rest = ret->text, *line, *cell;

	ret->text[size] = '\0';
	CHECK(size && size < TPCH_UNIT_MAX && ret->text[size - 1] == '\n');
	for (ret->count = 0; (line = strsep(&rest, "\n")) && *line; ret->count++)
		for (ret->columns = 0; (cell = strsep(&line, "\t")); ret->columns++) {
			CHECK(!*cell || cell[strlen(cell) - 1] != ' ');
			ret->cells[ret->count][ret->columns] = cell;
		}
}

static uint64_t number(const char *cell)
{
	return strtoull(cell, NULL, 10);
}

/* "12.34" is 1234. */
static int64_t cents(const char *cell)
{
	int64_t whole = strtoll(cell, NULL, 10) * 100,
		part = strtoll(strchr(cell, '.') + 1, NULL, 10);

	return *cell == '-' ? whole - part : whole + part;
}

static bool in(uint64_t v, uint64_t low, uint64_t high)
{
	return v >= low && v <= high;
}

/* Within so many percent of what is expected. */
static bool about(double v, double expected, double percent)
{
	return v > expected * (1 - percent / 100) && v < expected * (1 + percent / 100);
}

TEST(a_row_follows_from_seed_table_and_number)
{
	auto_tpch struct tpch a, b, c;
	char one[TPCH_UNIT_MAX], two[TPCH_UNIT_MAX], three[TPCH_UNIT_MAX];

	tpch_init(&a, 10, 1);
	tpch_init(&b, 10, 1);
	tpch_init(&c, 10, 2);
	for (unsigned table = 0; table < TPCH_TABLES; table++)
		for (uint64_t i = tpch_units(&a, table); i-- > 0;) {
			size_t size = tpch_unit(&a, table, i, one);
			CHECK_EQ(tpch_unit(&b, table, i, two), size);
			CHECK(!memcmp(one, two, size));
			size_t other = tpch_unit(&c, table, i, three);
			CHECK(other != size || memcmp(one, three, size));
		}
}

TEST(tables_grow_with_the_scale)
{
	auto_tpch struct tpch one, ten;

	tpch_init(&one, 1000, 1);
	tpch_init(&ten, 10000, 1);
	CHECK_EQ(tpch_units(&one, TPCH_REGION), 5);
	CHECK_EQ(tpch_units(&ten, TPCH_NATION), 25);
	CHECK_EQ(tpch_units(&one, TPCH_SUPPLIER), 10000);
	CHECK_EQ(tpch_units(&one, TPCH_PART), 200000);
	CHECK_EQ(tpch_units(&one, TPCH_CUSTOMER), 150000);
	CHECK_EQ(tpch_units(&ten, TPCH_ORDERS), 15000000);
}

/* The keys of partsupp are unique at every scale, and lines name only such pairs. */
TEST(suppliers_of_a_part_differ)
{
	struct rows *r = ALLOC(struct rows);

	for (uint64_t scale = 1; scale <= 24; scale += 1 + scale / 8) {
		auto_tpch struct tpch t;
		struct map pairs = {0};
		tpch_init(&t, scale, 1);
		for (uint64_t i = 0; i < t.parts; i++) {
			make_rows(r, &t, TPCH_PARTSUPP, i);
			CHECK_EQ(r->count, 4);
			for (unsigned j = 0; j < r->count; j++) {
				uint64_t part = number(r->cells[j][0]);
				uint64_t supplier = number(r->cells[j][1]);
				CHECK(part == i + 1 && in(supplier, 1, t.suppliers));
				CHECK(!map_get(&pairs, part, supplier));
				map_put(&pairs, part, supplier, 1);
			}
		}
		for (uint64_t i = 0; i < 100; i++) {
			make_rows(r, &t, TPCH_LINEITEM, i);
			for (unsigned j = 0; j < r->count; j++)
				CHECK(map_get(&pairs, number(r->cells[j][1]),
					      number(r->cells[j][2])) != NULL);
		}
		map_free(&pairs);
	}
	free(r);
}

/* What an order says follows from its lines. */
static void check_order(const struct rows *order, const struct rows *lines)
{
	const char *const *o = (const char *const *)order->cells[0];
	uint64_t price = 0;
	unsigned closed = 0;

	for (unsigned i = 0; i < lines->count; i++) {
		char *const *l = lines->cells[i];
		CHECK_EQ(l[0], o[0]);
		CHECK_EQ(number(l[3]), i + 1);
		price += (uint64_t)(cents(l[5]) * (100 - cents(l[6])) * (100 + cents(l[7])));
		closed += *l[9] == 'F';
		CHECK((*l[9] == 'F') == (strcmp(l[10], "1995-06-17") <= 0));
		CHECK((*l[8] == 'N') == (strcmp(l[12], "1995-06-17") > 0));
		CHECK(strcmp(o[4], l[10]) < 0 && strcmp(l[10], l[12]) < 0);
		CHECK(strcmp(o[4], l[11]) < 0 && strcmp(l[12], "1998-12-31") <= 0);
	}
	CHECK_EQ((uint64_t)cents(o[3]), (price + 5000) / 10000);
	CHECK_EQ(o[2], closed == lines->count ? "F" : closed ? "P" : "O");
}

TEST(orders_and_their_lines)
{
	struct rows *order = ALLOC(struct rows), *lines = ALLOC(struct rows);
	auto_tpch struct tpch t;
	uint64_t count = 0;

	tpch_init(&t, 10, 3);
	for (uint64_t i = 0; i < t.orders; i++) {
		make_rows(order, &t, TPCH_ORDERS, i);
		make_rows(lines, &t, TPCH_LINEITEM, i);
		CHECK_EQ(order->columns, 9);
		CHECK_EQ(lines->columns, 16);
		char **o = order->cells[0];
		CHECK_EQ(number(o[0]), i / 8 * 32 + i % 8 + 1);
		CHECK(in(number(o[1]), 1, t.customers) && number(o[1]) % 3 != 0);
		CHECK(strcmp(o[4], "1992-01-01") >= 0 && strcmp(o[4], "1998-08-02") <= 0);
		CHECK(in(lines->count, 1, 7));
		check_order(order, lines);
		count += lines->count;
	}
	CHECK(about((double)count, 4.0 * (double)t.orders, 2));
	free(order);
	free(lines);
}

TEST(lines_are_spread_evenly)
{
	struct rows *r = ALLOC(struct rows);
	auto_tpch struct tpch t;
	unsigned quantities[51] = {0}, discounts[11] = {0}, taxes[9] = {0}, returned = 0, kept = 0;
	double count = 0;

	tpch_init(&t, 12, 1);
	for (uint64_t i = 0; i < t.orders; i++) {
		make_rows(r, &t, TPCH_LINEITEM, i);
		for (unsigned j = 0; j < r->count; j++, count++) {
			char **l = r->cells[j];
			CHECK(in((uint64_t)cents(l[4]), 100, 5000));
			CHECK(in((uint64_t)cents(l[6]), 0, 10) && in((uint64_t)cents(l[7]), 0, 8));
			quantities[cents(l[4]) / 100]++;
			discounts[cents(l[6])]++;
			taxes[cents(l[7])]++;
			returned += *l[8] == 'R';
			kept += *l[8] == 'A';
		}
	}
	for (unsigned i = 1; i <= 50; i++)
		CHECK(about(quantities[i], count / 50, 15));
	for (unsigned i = 0; i <= 10; i++)
		CHECK(about(discounts[i], count / 11, 8));
	for (unsigned i = 0; i <= 8; i++)
		CHECK(about(taxes[i], count / 9, 8));
	CHECK(about(returned, kept, 5));
	free(r);
}

/* The names hold five different colours; what is green is found in one of 18 parts. */
TEST(parts)
{
	struct rows *r = ALLOC(struct rows);
	auto_tpch struct tpch t;
	unsigned green = 0, forest = 0, brass = 0;

	tpch_init(&t, 100, 1);
	for (uint64_t i = 0; i < t.parts; i++) {
		make_rows(r, &t, TPCH_PART, i);
		char **p = r->cells[0];
		unsigned words = 1;
		for (const char *c = p[1]; *c; c++)
			words += *c == ' ';
		CHECK_EQ(words, 5);
		green += strstr(p[1], "green") != NULL;
		forest += !strncmp(p[1], "forest", 6);
		brass += strstr(p[4], "BRASS") != NULL;
		CHECK(strlen(p[1]) <= 55 && strlen(p[4]) <= 25);
		CHECK_EQ(p[2][strlen(p[2]) - 1], p[3][strlen("Brand#")]);
		CHECK(in(number(p[5]), 1, 50));
		CHECK_EQ((uint64_t)cents(p[7]),
			90000 + (i + 1) / 10 % 20001 + 100 * ((i + 1) % 1000));
	}
	CHECK(about(green, 5.0 / 92 * (double)t.parts, 10));
	CHECK(about(forest, 1.0 / 92 * (double)t.parts, 25));
	CHECK(about(brass, 1.0 / 5 * (double)t.parts, 10));
	free(r);
}

TEST(suppliers_and_customers)
{
	struct rows *r = ALLOC(struct rows);
	auto_tpch struct tpch t;
	unsigned complaints = 0, praise = 0, negative = 0;

	tpch_init(&t, 1000, 1);
	for (uint64_t i = 0; i < t.suppliers; i++) {
		make_rows(r, &t, TPCH_SUPPLIER, i);
		char **s = r->cells[0], *customer = strstr(s[6], "Customer");
		complaints += customer && strstr(customer, "Complaints");
		praise += customer && strstr(customer, "Recommends");
		CHECK(in(strlen(s[2]), 10, 40) && in(strlen(s[6]), 25, 100));
	}
	CHECK_EQ(complaints, 5);
	CHECK_EQ(praise, 5);
	for (uint64_t i = 0; i < 20000; i++) {
		make_rows(r, &t, TPCH_CUSTOMER, i);
		char **c = r->cells[0];
		CHECK_EQ(number(c[4]), number(c[3]) + 10); /* country code */
		CHECK_EQ(strlen(c[4]), strlen("25-989-741-2988"));
		CHECK(cents(c[5]) >= -99999 && cents(c[5]) <= 999999);
		negative += cents(c[5]) < 0;
	}
	CHECK(about(negative, 20000.0 / 11, 10));
	free(r);
}

/* Query 13 leaves out such orders: few, but some. */
TEST(comments_hold_the_words_that_are_looked_for)
{
	struct rows *r = ALLOC(struct rows);
	auto_tpch struct tpch t;
	unsigned found = 0;

	tpch_init(&t, 100, 1);
	for (uint64_t i = 0; i < 50000; i++) {
		make_rows(r, &t, TPCH_ORDERS, i);
		const char *first = strstr(r->cells[0][8], "special");
		found += first && strstr(first, "requests");
		CHECK(in(strlen(r->cells[0][8]), 19, 78));
	}
	CHECK(in(found, 50, 2500));
	free(r);
}

TEST(months)
{
	auto_tpch struct tpch t;

	tpch_init(&t, 1, 1);
	CHECK_EQ(t.dates[TPCH_FIRST_DAY], "1992-01-01");
	CHECK_EQ(t.dates[TPCH_TODAY], "1995-06-17");
	CHECK_EQ(t.dates[TPCH_LAST_DAY], "1998-12-31");
	CHECK_EQ(t.dates[tpch_month(2) - 1], "1992-02-29");
	CHECK_EQ(t.dates[tpch_month(14) - 1], "1993-02-28");
	CHECK_EQ(t.dates[tpch_month(83)], "1998-12-01");
}

static bool holds(const char *sql, const char *part)
{
	return strstr(sql, part) != NULL;
}

TEST(queries_that_validate)
{
	static const struct {
		unsigned number;
		const char *part;
	} parts[] = {
		{1, "<= '1998-09-02'"},
		{3, "> '1995-03-15'"},
		{4, ">= '1993-07-01' and o_orderdate < '1993-10-01'"},
		{6, "between 0.05 and 0.07 and l_quantity < 24"},
		{8, "r_name = 'AMERICA'"},
		{11, "* 0.0100000000"},
		{16, "in (49, 14, 23, 45, 19, 3, 36, 9)"},
		{19, "between 20 and 30"},
		{20, "< '1995-01-01'"},
		{22, "('13', '31', '23', '29', '30', '18', '17')"},
	};
	auto_tpch struct tpch t;

	tpch_init(&t, 10, 1);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		auto_free char *sql = tpch_query(&t, parts[i].number, false);
		if (!CHECK(holds(sql, parts[i].part)))
			printf("%s: %s\n", parts[i].part, sql);
	}
}

TEST(queries_that_are_drawn)
{
	auto_tpch struct tpch t;

	tpch_init(&t, 10, 1);
	for (unsigned i = 1; i <= TPCH_QUERIES; i++) {
		auto_free char *given = tpch_query(&t, i, false), *first = NULL;
		bool varies = false;
		for (t.seed = 1; t.seed < 200; t.seed++) {
			auto_free char *sql = tpch_query(&t, i, true);
			auto_free char *again = tpch_query(&t, i, true);
			CHECK_EQ(sql, again);
			CHECK(!strchr(sql, '$') && !strchr(given, '$'));
			if (!first)
				first = xstrdup(sql);
			varies |= strcmp(first, sql) != 0;
		}
		CHECK(varies || i == 11);
	}
}

TEST(answers_do_not_depend_on_order_or_digits)
{
	static const char *const cells[2][2] = {{"1.50", "a  "}, {"2", NULL}};
	struct tpch_answer a = {0}, b = {0}, c = {0};

	for (unsigned i = 0; i < 2; i++) {
		tpch_answer_cell(&a, cells[i][0]);
		tpch_answer_cell(&a, cells[i][1]);
		tpch_answer_row(&a);
	}
	tpch_answer_cell(&b, "2.000000001");
	tpch_answer_cell(&b, NULL);
	tpch_answer_row(&b);
	tpch_answer_cell(&b, "1.5");
	tpch_answer_cell(&b, "a");
	tpch_answer_row(&b);
	CHECK_EQ(a.rows, b.rows);
	CHECK_EQ(a.checksum, b.checksum);
	tpch_answer_cell(&c, "1.5a");
	tpch_answer_row(&c);
	CHECK(c.checksum != a.checksum);
}
