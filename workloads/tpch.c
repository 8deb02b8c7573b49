/* SPDX-License-Identifier: MIT */
#include "tpch.h"

#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "tpch-words.h"
#include "vec.h"

#define PROSE_BYTES ((size_t)4 << 20)

#define SUPPLIERS_PER_PART 4
#define LARGEST_ORDER      7

/* Of 32 numbers in a row, orders have the first eight. */
#define ORDER_RUN 8
#define ORDER_GAP 32

/* Streams of random numbers beside those of the tables. */
enum { STREAM_PROSE = TPCH_TABLES, STREAM_ODD };

const char *const tpch_table_names[] = {
	[TPCH_REGION] = "region",
	[TPCH_NATION] = "nation",
	[TPCH_SUPPLIER] = "supplier",
	[TPCH_CUSTOMER] = "customer",
	[TPCH_PART] = "part",
	[TPCH_PARTSUPP] = "partsupp",
	[TPCH_ORDERS] = "orders",
	[TPCH_LINEITEM] = "lineitem",
	[TPCH_TABLES] = NULL,
};

/* --- random numbers --- */

/* A permutation of 64 bits in which neighbours land far apart (splitmix64, Vigna 2015). */
static uint64_t mix(uint64_t v)
{
	v += UINT64_C(0x9e3779b97f4a7c15);
	v = (v ^ (v >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ (v >> 27)) * UINT64_C(0x94d049bb133111eb);
	return v ^ (v >> 31);
}

static struct rng stream(const struct tpch *t, unsigned table, uint64_t row)
{
	struct rng rng;

	rng_init(&rng, mix(mix(t->seed + table) + row));
	rng_next(&rng);
	return rng;
}

static uint64_t between(struct rng *rng, uint64_t low, uint64_t high)
{
	return low + rng_below(rng, high - low + 1);
}

/* --- a line of text --- */

static char *put_chars(char *at, const char *text, size_t size)
{
	memcpy(at, text, size);
	return at + size;
}

static char *put_word(char *at, const char *word)
{
	return put_chars(at, word, strlen(word));
}

static char *put_number(char *at, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return put_chars(at, p, (size_t)(digits + sizeof(digits) - p));
}

/* Leading zeros. */
static char *put_digits(char *at, uint64_t v, unsigned width)
{
	for (unsigned i = width; i-- > 0; v /= 10)
		at[i] = (char)('0' + v % 10);
	return at + width;
}

static char *put_cents(char *at, uint64_t cents)
{
	at = put_number(at, cents / 100);
	*at++ = '.';
	return put_digits(at, cents % 100, 2);
}

static char *put_tab(char *at)
{
	*at = '\t';
	return at + 1;
}

static char *put_end(char *at)
{
	*at = '\n';
	return at + 1;
}

static char *number_cell(char *at, uint64_t v)
{
	return put_tab(put_number(at, v));
}

static char *cents_cell(char *at, uint64_t cents)
{
	return put_tab(put_cents(at, cents));
}

static char *word_cell(char *at, const char *word)
{
	return put_tab(put_word(at, word));
}

static char *date_cell(char *at, const struct tpch *t, unsigned day)
{
	return put_tab(put_chars(at, t->dates[day], 10));
}

/* "Supplier#000000001" */
static char *name_cell(char *at, const char *what, uint64_t number)
{
	at = put_word(at, what);
	*at++ = '#';
	return put_tab(put_digits(at, number, 9));
}

/* A piece of the prose, at most `size` bytes; may be cut within words. */
static char *put_prose(char *at, const struct tpch *t, struct rng *rng, size_t size)
{
	at = put_chars(at, t->prose + rng_below(rng, PROSE_BYTES - size), size);
	if (at[-1] == ' ')
		at[-1] = '.';
	return at;
}

/* The last column of each table. */
static char *put_comment(
	char *at, const struct tpch *t, struct rng *rng, uint64_t shortest, uint64_t longest)
{
	return put_end(put_prose(at, t, rng, between(rng, shortest, longest)));
}

static char *address_cell(char *at, struct rng *rng)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789, ";
	size_t size = between(rng, 10, 40);

	for (size_t i = 0; i < size; i++)
		at[i] = letters[rng_below(rng, sizeof(letters) - 1)];
	if (at[size - 1] == ' ')
		at[size - 1] = '.';
	return put_tab(at + size);
}

/* "13-715-945-6730": the country from 10 on, then random digits. */
static char *phone_cell(char *at, struct rng *rng, uint64_t nation)
{
	at = put_digits(at, nation + 10, 2);
	*at++ = '-';
	at = put_digits(at, between(rng, 100, 999), 3);
	*at++ = '-';
	at = put_digits(at, between(rng, 100, 999), 3);
	*at++ = '-';
	return put_tab(put_digits(at, between(rng, 1000, 9999), 4));
}

/* -999.99 to 9999.99 */
static char *balance_cell(char *at, struct rng *rng)
{
	int64_t cents = (int64_t)between(rng, 0, 999999 + 99999) - 99999;

	if (cents < 0)
		*at++ = '-';
	return cents_cell(at, (uint64_t)(cents < 0 ? -cents : cents));
}

/* --- tables that do not grow --- */

static char *put_region(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_REGION, number);

	at = number_cell(at, number);
	at = word_cell(at, tpch_regions[number]);
	return put_comment(at, t, &rng, 31, 115);
}

static char *put_nation(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_NATION, number);

	at = number_cell(at, number);
	at = word_cell(at, tpch_nations[number].name);
	at = number_cell(at, tpch_nations[number].region);
	return put_comment(at, t, &rng, 31, 114);
}

/* --- suppliers and customers --- */

/* Suppliers are cut into as many groups as there shall be complaints; one in each group has some,
 * and another one is praised. What it says, or NULL. */
static const char *remark(const struct tpch *t, uint64_t number)
{
	uint64_t group = number * t->odd_suppliers / t->suppliers;
	uint64_t first = (group * t->suppliers + t->odd_suppliers - 1) / t->odd_suppliers;
	uint64_t end = ((group + 1) * t->suppliers + t->odd_suppliers - 1) / t->odd_suppliers;
	struct rng rng = stream(t, STREAM_ODD, group);
	uint64_t bad = rng_below(&rng, end - first);
	uint64_t good = (bad + between(&rng, 1, end - first - 1)) % (end - first);

	if (number - first == bad)
		return "Complaints";
	return number - first == good ? "Recommends" : NULL;
}

/* "Customer", some words, the remark. */
static void put_remark(char *comment, size_t size, struct rng *rng, const char *word)
{
	static const char who[] = "Customer";
	size_t room = size - strlen(who) - strlen(word);
	size_t before = rng_below(rng, room + 1);
	size_t amid = rng_below(rng, room - before + 1);

	memcpy(comment + before, who, strlen(who));
	memcpy(comment + before + strlen(who) + amid, word, strlen(word));
}

static char *put_supplier(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_SUPPLIER, number);
	uint64_t nation = rng_below(&rng, TPCH_NATION_COUNT);
	size_t size = between(&rng, 25, 100);
	const char *word = remark(t, number);

	at = number_cell(at, number + 1);
	at = name_cell(at, "Supplier", number + 1);
	at = address_cell(at, &rng);
	at = number_cell(at, nation);
	at = phone_cell(at, &rng, nation);
	at = balance_cell(at, &rng);
	char *comment = at;
	at = put_prose(at, t, &rng, size);
	if (word)
		put_remark(comment, size, &rng, word);
	return put_end(at);
}

static char *put_customer(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_CUSTOMER, number);
	uint64_t nation = rng_below(&rng, TPCH_NATION_COUNT);

	at = number_cell(at, number + 1);
	at = name_cell(at, "Customer", number + 1);
	at = address_cell(at, &rng);
	at = number_cell(at, nation);
	at = phone_cell(at, &rng, nation);
	at = balance_cell(at, &rng);
	at = word_cell(at, tpch_word(&tpch_segments, &rng));
	return put_comment(at, t, &rng, 29, 116);
}

/* --- parts, and who supplies them --- */

static uint64_t retail_cents(uint64_t part)
{
	return 90000 + part / 10 % 20001 + 100 * (part % 1000);
}

/* Five different words. */
static char *part_name_cell(char *at, struct rng *rng)
{
	unsigned char order[TPCH_COLORS];

	for (unsigned i = 0; i < TPCH_COLORS; i++)
		order[i] = (unsigned char)i;
	for (unsigned i = 0; i < 5; i++) {
		uint64_t j = between(rng, i, TPCH_COLORS - 1);
		unsigned char word = order[j];
		order[j] = order[i];
		at = put_word(at, tpch_colors.at[word]);
		*at++ = ' ';
	}
	at[-1] = '\t';
	return at;
}

static char *put_part(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_PART, number);
	uint64_t maker = between(&rng, 1, 5), brand = between(&rng, 1, 5);

	at = number_cell(at, number + 1);
	at = part_name_cell(at, &rng);
	at = number_cell(put_word(at, "Manufacturer#"), maker);
	at = number_cell(put_word(at, "Brand#"), maker * 10 + brand);
	at = word_cell(at, tpch_word(&tpch_type1, &rng));
	at[-1] = ' ';
	at = word_cell(at, tpch_word(&tpch_type2, &rng));
	at[-1] = ' ';
	at = word_cell(at, tpch_word(&tpch_type3, &rng));
	at = number_cell(at, between(&rng, 1, 50));
	at = word_cell(at, tpch_word(&tpch_size, &rng));
	at[-1] = ' ';
	at = word_cell(at, tpch_word(&tpch_box, &rng));
	at = cents_cell(at, retail_cents(number + 1));
	return put_comment(at, t, &rng, 5, 22);
}

/* The specification's formula, whose four suppliers differ from scale factor 1 on; below, the step
 * between them is made longer where it would lead back to one of them. */
static uint64_t supplier_of(const struct tpch *t, uint64_t part, uint64_t which)
{
	uint64_t n = t->suppliers, step = n / SUPPLIERS_PER_PART + (part - 1) / n;

	while (!(step % n) || !(2 * step % n) || !(3 * step % n))
		step++;
	return (part + which * step) % n + 1;
}

static char *put_partsupp(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_PARTSUPP, number);

	for (unsigned i = 0; i < SUPPLIERS_PER_PART; i++) {
		at = number_cell(at, number + 1);
		at = number_cell(at, supplier_of(t, number + 1, i));
		at = number_cell(at, between(&rng, 1, 9999));
		at = cents_cell(at, between(&rng, 100, 100000));
		at = put_comment(at, t, &rng, 49, 198);
	}
	return at;
}

/* --- orders and their lines --- */

struct line {
	uint64_t part, supplier, quantity, cents;
	unsigned discount, tax; /* percent */
	unsigned shipped, promised, received;
};

struct order {
	uint64_t key, customer, cents;
	unsigned day, lines, closed; /* closed: lines that have been shipped */
	struct line line[LARGEST_ORDER];
	struct rng rng; /* for what the order itself does not depend on */
};

/* The price with tax and discount, in ten-thousandths of a cent. */
static uint64_t draw_line(struct line *l, const struct tpch *t, struct rng *rng, unsigned day)
{
	l->part = between(rng, 1, t->parts);
	l->supplier = supplier_of(t, l->part, rng_below(rng, SUPPLIERS_PER_PART));
	l->quantity = between(rng, 1, 50);
	l->cents = l->quantity * retail_cents(l->part);
	l->discount = (unsigned)rng_below(rng, 11);
	l->tax = (unsigned)rng_below(rng, 9);
	l->shipped = day + (unsigned)between(rng, 1, 121);
	l->promised = day + (unsigned)between(rng, 30, 90);
	l->received = l->shipped + (unsigned)between(rng, 1, 30);
	return l->cents * (100 + l->tax) * (100 - l->discount);
}

/* A third of the customers, those with a number that three divides, never order. */
static uint64_t draw_customer(const struct tpch *t, struct rng *rng)
{
	uint64_t buyer = rng_below(rng, t->customers / 3 * 2);

	return buyer / 2 * 3 + buyer % 2 + 1;
}

static void draw_order(struct order *o, const struct tpch *t, uint64_t number)
{
	uint64_t price = 0;

	o->rng = stream(t, TPCH_ORDERS, number);
	o->key = number / ORDER_RUN * ORDER_GAP + number % ORDER_RUN + 1;
	o->customer = draw_customer(t, &o->rng);
	o->day = (unsigned)between(&o->rng, TPCH_FIRST_DAY, TPCH_LAST_DAY - 151);
	o->lines = (unsigned)between(&o->rng, 1, LARGEST_ORDER);
	o->closed = 0;
	for (unsigned i = 0; i < o->lines; i++) {
		price += draw_line(&o->line[i], t, &o->rng, o->day);
		o->closed += o->line[i].shipped <= TPCH_TODAY;
	}
	o->cents = (price + 5000) / 10000;
}

static char *put_order(char *at, const struct tpch *t, uint64_t number)
{
	struct order o;

	draw_order(&o, t, number);
	at = number_cell(at, o.key);
	at = number_cell(at, o.customer);
	at = word_cell(at, o.closed == o.lines ? "F" : o.closed ? "P" : "O");
	at = cents_cell(at, o.cents);
	at = date_cell(at, t, o.day);
	at = word_cell(at, tpch_word(&tpch_priorities, &o.rng));
	at = name_cell(at, "Clerk", between(&o.rng, 1, t->clerks));
	at = number_cell(at, 0);
	return put_comment(at, t, &o.rng, 19, 78);
}

static char *put_line(
	char *at, const struct tpch *t, const struct order *o, unsigned i, struct rng *rng)
{
	const struct line *l = &o->line[i];
	const char *returned = rng_next(rng) >> 63 ? "R" : "A";

	at = number_cell(at, o->key);
	at = number_cell(at, l->part);
	at = number_cell(at, l->supplier);
	at = number_cell(at, i + 1);
	at = cents_cell(at, l->quantity * 100);
	at = cents_cell(at, l->cents);
	at = cents_cell(at, l->discount);
	at = cents_cell(at, l->tax);
	at = word_cell(at, l->received <= TPCH_TODAY ? returned : "N");
	at = word_cell(at, l->shipped > TPCH_TODAY ? "O" : "F");
	at = date_cell(at, t, l->shipped);
	at = date_cell(at, t, l->promised);
	at = date_cell(at, t, l->received);
	at = word_cell(at, tpch_word(&tpch_instructions, rng));
	at = word_cell(at, tpch_word(&tpch_modes, rng));
	return put_comment(at, t, rng, 10, 43);
}

static char *put_lines(char *at, const struct tpch *t, uint64_t number)
{
	struct rng rng = stream(t, TPCH_LINEITEM, number);
	struct order o;

	draw_order(&o, t, number);
	for (unsigned i = 0; i < o.lines; i++)
		at = put_line(at, t, &o, i, &rng);
	return at;
}

/* --- all of them --- */

static char *(*const units[])(char *at, const struct tpch *t, uint64_t number) = {
	[TPCH_REGION] = put_region,
	[TPCH_NATION] = put_nation,
	[TPCH_SUPPLIER] = put_supplier,
	[TPCH_CUSTOMER] = put_customer,
	[TPCH_PART] = put_part,
	[TPCH_PARTSUPP] = put_partsupp,
	[TPCH_ORDERS] = put_order,
	[TPCH_LINEITEM] = put_lines,
};

size_t tpch_unit(
	const struct tpch *t, enum tpch_table table, uint64_t number, char out[TPCH_UNIT_MAX])
{
	return (size_t)(units[table](out, t, number) - out);
}

uint64_t tpch_units(const struct tpch *t, enum tpch_table table)
{
	const uint64_t counts[] = {
		[TPCH_REGION] = TPCH_REGION_COUNT,
		[TPCH_NATION] = TPCH_NATION_COUNT,
		[TPCH_SUPPLIER] = t->suppliers,
		[TPCH_CUSTOMER] = t->customers,
		[TPCH_PART] = t->parts,
		[TPCH_PARTSUPP] = t->parts,
		[TPCH_ORDERS] = t->orders,
		[TPCH_LINEITEM] = t->orders,
	};
	return counts[table];
}

static unsigned days_in(unsigned year, unsigned month)
{
	static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month] + (month == 1 && year % 4 == 0);
}

unsigned tpch_month(unsigned months)
{
	unsigned day = 0;

	for (unsigned i = 0; i < months; i++)
		day += days_in(1992 + i / 12, i % 12);
	return day;
}

static void make_dates(struct tpch *t)
{
	unsigned month = 0, first = 0, next = days_in(1992, 0);

	for (unsigned day = 0; day <= TPCH_LAST_DAY; day++) {
		if (day == next) {
			first = next;
			month++;
			next += days_in(1992 + month / 12, month % 12);
		}
		char *at = t->dates[day];
		at = put_digits(at, 1992 + month / 12, 4);
		*at++ = '-';
		at = put_digits(at, month % 12 + 1, 2);
		*at++ = '-';
		at = put_digits(at, day - first + 1, 2);
		*at = '\0';
	}
}

void tpch_init(struct tpch *ret, uint64_t thousandths, uint64_t seed)
{
	*ret = (struct tpch){
		.seed = seed,
		.thousandths = thousandths,
		.suppliers = 10 * thousandths,
		.customers = 150 * thousandths,
		.parts = 200 * thousandths,
		.orders = 1500 * thousandths,
		.clerks = thousandths,
		.odd_suppliers = (5 * thousandths + 999) / 1000,
	};
	struct rng rng = stream(ret, STREAM_PROSE, 0);
	ret->prose = tpch_prose(PROSE_BYTES, &rng);
	make_dates(ret);
}

void tpch_done(struct tpch *t)
{
	free(t->prose);
	t->prose = NULL;
}
