/* SPDX-License-Identifier: MIT */
/* The tests of my-sqlbench whose queries join tables: ATIS and wisconsin. */
#include <inttypes.h>

#include "cleanup.h"
#include "sqlbench.h"
#include "vec.h"

/* --- ATIS: an airline's timetable, many small tables --- */

enum column_kind {
	COLUMN_END,
	COLUMN_KEY,    /* the number of the row, from 1 */
	COLUMN_REF,    /* of a row of another table, which has `range` rows */
	COLUMN_NUMBER, /* below `range` */
	COLUMN_TEXT,   /* one of `range` words */
};

struct column {
	const char *name;
	enum column_kind kind;
	unsigned range;
};

#define CITIES   11
#define AIRPORTS 9
#define AIRLINES 46
#define AIRCRAFT 135
#define FLIGHTS  766
#define FARES    534
#define CLASSES  13

/* Tables that others refer to keep their number of rows; of the others a part may be loaded. */
static const struct atis_table {
	const char *name;
	unsigned rows;
	bool may_shrink;
	struct column columns[8];
} atis_tables[] = {
	{"city", CITIES, false,
		{{"city_code", COLUMN_KEY}, {"city_name", COLUMN_TEXT, CITIES},
			{"state_code", COLUMN_TEXT, 8}, {"time_zone", COLUMN_REF, 4}}},
	{"airport", AIRPORTS, false,
		{{"airport_code", COLUMN_KEY}, {"airport_name", COLUMN_TEXT, AIRPORTS},
			{"city_code", COLUMN_REF, CITIES}, {"min_connect", COLUMN_NUMBER, 90}}},
	{"airport_service", 17, false,
		{{"service", COLUMN_KEY}, {"city_code", COLUMN_REF, CITIES},
			{"airport_code", COLUMN_REF, AIRPORTS}, {"miles", COLUMN_NUMBER, 40}}},
	{"airline", AIRLINES, false,
		{{"airline_code", COLUMN_KEY}, {"airline_name", COLUMN_TEXT, AIRLINES},
			{"notes", COLUMN_TEXT, 5}}},
	{"aircraft", AIRCRAFT, false,
		{{"aircraft_code", COLUMN_KEY}, {"aircraft_type", COLUMN_TEXT, 60},
			{"engines", COLUMN_NUMBER, 4}, {"weight", COLUMN_NUMBER, 800000},
			{"capacity", COLUMN_NUMBER, 450}, {"cruising", COLUMN_NUMBER, 600}}},
	{"class_of_service", CLASSES, false,
		{{"class_code", COLUMN_KEY}, {"class_rank", COLUMN_NUMBER, CLASSES},
			{"class_description", COLUMN_TEXT, CLASSES}}},
	{"fare", FARES, false,
		{{"fare_code", COLUMN_KEY}, {"from_airport", COLUMN_REF, AIRPORTS},
			{"to_airport", COLUMN_REF, AIRPORTS}, {"class_code", COLUMN_REF, CLASSES},
			{"one_way_cost", COLUMN_NUMBER, 900},
			{"rnd_trip_cost", COLUMN_NUMBER, 1700},
			{"restrict_code", COLUMN_NUMBER, 46}}},
	{"flight", FLIGHTS, false,
		{{"flight_code", COLUMN_KEY}, {"from_airport", COLUMN_REF, AIRPORTS},
			{"to_airport", COLUMN_REF, AIRPORTS},
			{"airline_code", COLUMN_REF, AIRLINES},
			{"aircraft_code", COLUMN_REF, AIRCRAFT}, {"departure", COLUMN_NUMBER, 2400},
			{"stops", COLUMN_NUMBER, 4}, {"meal_code", COLUMN_NUMBER, 7}}},
	{"flight_class", 2998, true,
		{{"id", COLUMN_KEY}, {"flight_code", COLUMN_REF, FLIGHTS},
			{"class_code", COLUMN_REF, CLASSES}}},
	{"flight_fare", 2998, true,
		{{"id", COLUMN_KEY}, {"flight_code", COLUMN_REF, FLIGHTS},
			{"fare_code", COLUMN_REF, FARES}}},
	{"flight_day", 1100, true,
		{{"id", COLUMN_KEY}, {"flight_code", COLUMN_REF, FLIGHTS},
			{"day_code", COLUMN_REF, 7}, {"day_mask", COLUMN_NUMBER, 128}}},
	{"stop", 420, true,
		{{"id", COLUMN_KEY}, {"flight_code", COLUMN_REF, FLIGHTS},
			{"stop_airport", COLUMN_REF, AIRPORTS}, {"arrival", COLUMN_NUMBER, 2400}}},
	{"ground_service", 23, false,
		{{"id", COLUMN_KEY}, {"city_code", COLUMN_REF, CITIES},
			{"airport_code", COLUMN_REF, AIRPORTS}, {"transport_code", COLUMN_REF, 6},
			{"fare", COLUMN_NUMBER, 60}}},
	{"transport", 6, false,
		{{"transport_code", COLUMN_KEY}, {"transport_desc", COLUMN_TEXT, 6}}},
	{"time_zone", 4, false,
		{{"time_zone", COLUMN_KEY}, {"zone_name", COLUMN_TEXT, 4},
			{"hours", COLUMN_NUMBER, 12}}},
	{"day_name", 7, false, {{"day_code", COLUMN_KEY}, {"day_name", COLUMN_TEXT, 7}}},
	{"month_name", 12, false, {{"month_number", COLUMN_KEY}, {"month_name", COLUMN_TEXT, 12}}},
	{"food_service", 7, false,
		{{"meal_code", COLUMN_KEY}, {"meal_number", COLUMN_NUMBER, 3},
			{"meal_class", COLUMN_TEXT, 4}}},
	{"restriction", 46, false,
		{{"restrict_code", COLUMN_KEY}, {"application", COLUMN_TEXT, 9},
			{"advance", COLUMN_NUMBER, 30}, {"min_stay", COLUMN_NUMBER, 14}}},
	{"dual_carrier", 49, false,
		{{"id", COLUMN_KEY}, {"main_airline", COLUMN_REF, AIRLINES},
			{"low_flight", COLUMN_NUMBER, 8000},
			{"dual_airline", COLUMN_REF, AIRLINES}}},
};

static const char *const atis_queries[] = {
	/* two tables */
	"select city.city_name, state_code, airport.airport_name from city, airport"
	" where airport.city_code = city.city_code",
	"select flight.flight_code, aircraft.aircraft_type from flight, aircraft"
	" where aircraft.aircraft_code = flight.aircraft_code",
	"select airline.airline_name, count(*) from flight, airline"
	" where airline.airline_code = flight.airline_code group by airline.airline_name",
	"select fare.fare_code, one_way_cost, class_description from fare, class_of_service"
	" where class_of_service.class_code = fare.class_code and one_way_cost < 300",
	/* three and more */
	"select flight.flight_code, fare.rnd_trip_cost, airline_name"
	" from flight, flight_fare, fare, airline where flight.flight_code ="
	" flight_fare.flight_code and flight_fare.fare_code = fare.fare_code and"
	" airline.airline_code = flight.airline_code and fare.rnd_trip_cost < 400",
	"select distinct city_name from city, airport, flight, stop where city.city_code ="
	" airport.city_code and stop.stop_airport = airport.airport_code and"
	" stop.flight_code = flight.flight_code",
	"select flight.flight_code, day_name.day_name from flight, flight_day, day_name"
	" where flight.flight_code = flight_day.flight_code and flight_day.day_code ="
	" day_name.day_code and flight.from_airport = 3",
	"select transport_desc, city_name, ground_service.fare from ground_service, transport, "
	"city,"
	" airport where ground_service.transport_code = transport.transport_code and"
	" ground_service.city_code = city.city_code and ground_service.airport_code ="
	" airport.airport_code order by ground_service.fare, transport_desc",
	/* by a key, and by the beginning of one */
	"select * from flight where flight_code = 77",
	"select * from fare where from_airport = 2 and to_airport between 1 and 9",
	"select flight_code from flight_class where class_code = 3",
	/* distinct, groups, order */
	"select distinct from_airport, to_airport from flight",
	"select distinct aircraft_type from aircraft where weight > 100000",
	"select from_airport, to_airport, count(*), min(departure), max(departure) from flight"
	" group by from_airport, to_airport",
	"select airline_code, meal_code, count(*) from flight group by airline_code, meal_code"
	" having count(*) > 1 order by 3 desc, 1, 2",
	"select fare_code, one_way_cost from fare order by one_way_cost desc, fare_code",
};

static uint64_t atis_rows(const struct sqlbench *b, const struct atis_table *t)
{
	return t->may_shrink ? max_u64(t->rows * b->rows / 100, 40) : t->rows;
}

static void put_key(struct bytes *to, const struct column *c)
{
	if (c->kind == COLUMN_KEY)
		sqlbench_put(to, ", primary key (%s)", c->name);
	else if (c->kind == COLUMN_REF)
		sqlbench_put(to, ", index ix_%s (%s)", c->name, c->name);
}

static void create_atis_table(struct sqlbench *b, const struct atis_table *t)
{
	struct bytes columns = {0}, keys = {0};

	for (size_t i = 0; i < ARRAY_SIZE(t->columns) && t->columns[i].kind; i++) {
		const struct column *c = &t->columns[i];
		sqlbench_put(&columns, "%s%s %s", i ? ", " : "", c->name,
			c->kind == COLUMN_TEXT ? "char(40) not null" : "int not null");
		put_key(&keys, c);
	}
	put_u8(&columns, 0);
	put_u8(&keys, 0);
	sqlbench_do(b, "create table %s (%s%s) engine = %s", t->name, (char *)columns.data,
		(char *)keys.data, b->engine);
	bytes_free(&columns);
	bytes_free(&keys);
}

/* Every value is hit alike, and neighbours have nothing in common. */
static uint64_t spread(uint64_t row, uint64_t column, uint64_t range)
{
	return (row * 7919 + row / range * column + column * 31) % range;
}

static void put_value(struct bytes *to, const struct column *c, uint64_t row, uint64_t column)
{
	switch (c->kind) {
	case COLUMN_END:
		break;
	case COLUMN_KEY:
		sqlbench_put(to, "%" PRIu64, row);
		break;
	case COLUMN_REF:
		sqlbench_put(to, "%" PRIu64, 1 + spread(row, column, c->range));
		break;
	case COLUMN_NUMBER:
		sqlbench_put(to, "%" PRIu64, spread(row, column, c->range));
		break;
	case COLUMN_TEXT:
		sqlbench_put(to, "'%s %" PRIu64 "'", c->name, spread(row, column, c->range));
		break;
	}
}

static void insert_atis_row(struct sqlbench *b, const struct atis_table *t, uint64_t row)
{
	struct bytes values = {0};

	for (size_t i = 0; i < ARRAY_SIZE(t->columns) && t->columns[i].kind; i++) {
		sqlbench_put(&values, "%s", i ? ", " : "");
		put_value(&values, &t->columns[i], row, i);
	}
	put_u8(&values, 0);
	sqlbench_do(b, "insert into %s values (%s)", t->name, (char *)values.data);
	bytes_free(&values);
}

static void load_atis_table(struct sqlbench *b, const struct atis_table *t)
{
	uint64_t rows = atis_rows(b, t);

	create_atis_table(b, t);
	for (uint64_t row = 1; row <= rows && !b->r; row++)
		insert_atis_row(b, t, row);
	sqlbench_number(b, (int64_t)rows, "select count(*) from %s", t->name);
}

/* Each time a query must yield what it did the first time, and something. */
void sqlbench_atis(struct sqlbench *b)
{
	uint64_t rows[ARRAY_SIZE(atis_queries)];

	for (size_t i = 0; i < ARRAY_SIZE(atis_tables) && !b->r; i++)
		load_atis_table(b, &atis_tables[i]);
	for (size_t i = 0; i < ARRAY_SIZE(atis_queries) && !b->r; i++) {
		rows[i] = max_u64(sqlbench_do(b, "%s", atis_queries[i]), 1);
		sqlbench_rows(b, rows[i], "%s", atis_queries[i]);
	}
	for (uint64_t loop = 1; loop < b->loops && !b->r; loop++)
		for (size_t i = 0; i < ARRAY_SIZE(atis_queries); i++)
			sqlbench_rows(b, rows[i], "%s", atis_queries[i]);
	for (size_t i = 0; i < ARRAY_SIZE(atis_tables) && !b->r; i++)
		sqlbench_do(b, "drop table %s", atis_tables[i].name);
}

/* --- wisconsin: selections of known size, joins, aggregates, changes --- */

#define SCATTER 7919 /* has no divisor in common with a power of ten */

static void fill_wisconsin(struct sqlbench *b, const char *table, uint64_t rows)
{
	sqlbench_do(b,
		"create table %s (unique1 int not null, unique2 int not null, two int, four int,"
		" ten int, twenty int, hundred int, thousand int, twothous int, fivethous int,"
		" tenthous int, odd int, even int, stringu1 char(16), stringu2 char(16),"
		" string4 char(16)) engine = %s",
		table, b->engine);
	for (uint64_t i = 0; i < rows && !b->r; i++) {
		uint64_t u = i * SCATTER % rows;
		auto_free char *rest =
			xasprintf("%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
				  ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
				u % 10, u % 20, u % 100, u % 1000, u % 2000, u % 5000, u % 10000,
				u % 100 * 2 + 1, u % 100 * 2);
		sqlbench_do(b,
			"insert into %s values (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
			", %s, 'U%07" PRIu64 "', 'V%07" PRIu64 "', '%cxxx')",
			table, u, i, u % 2, u % 4, rest, u, i, (int)("AHOV"[i % 4]));
	}
	sqlbench_number(b, (int64_t)(rows * (rows - 1) / 2), "select sum(unique1) from %s", table);
}

static void index_wisconsin(struct sqlbench *b, const char *table)
{
	sqlbench_do(b, "create unique index %s_u1 on %s (unique1)", table, table);
	sqlbench_do(b, "create unique index %s_u2 on %s (unique2)", table, table);
	sqlbench_do(b, "create index %s_h on %s (hundred)", table, table);
}

static void wisconsin_selections(struct sqlbench *b)
{
	static const char *const columns[] = {"unique1", "unique2"};
	uint64_t one_percent = b->rows / 100, ten_percent = b->rows / 10;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const char *c = columns[i];
		sqlbench_rows(b, one_percent,
			"select * from tenk1 where %s >= %" PRIu64 " and %s < %" PRIu64, c,
			ten_percent, c, ten_percent + one_percent);
		sqlbench_rows(b, ten_percent,
			"select * from tenk1 where %s >= %" PRIu64 " and %s < %" PRIu64, c,
			ten_percent, c, 2 * ten_percent);
		sqlbench_rows(b, 1, "select * from tenk1 where %s = %" PRIu64, c, b->rows / 5);
	}
}

static void wisconsin_joins(struct sqlbench *b)
{
	uint64_t onek = b->rows / 10;

	sqlbench_rows(b, onek,
		"select t1.*, t2.unique1 from tenk1 t1, tenk1 t2 where t1.unique2 = t2.unique2 and"
		" t2.unique2 < %" PRIu64,
		onek);
	sqlbench_rows(b, onek,
		"select t.*, bp.unique1 from tenk1 t, bprime bp where t.unique2 = bp.unique2");
	sqlbench_rows(b, onek,
		"select t1.*, o.unique1 from onek o, tenk1 t1, tenk1 t2 where o.unique2 ="
		" t1.unique2 and t1.unique2 = t2.unique2 and t2.unique2 < %" PRIu64,
		onek);
	sqlbench_rows(
		b, onek, "select o.*, t.unique2 from onek o, tenk1 t where o.unique1 = t.unique1");
}

static void wisconsin_aggregates(struct sqlbench *b)
{
	sqlbench_rows(b, 100, "select distinct two, four, ten, twenty, hundred from tenk1");
	sqlbench_rows(b, b->rows / 10, "select distinct * from onek");
	sqlbench_number(b, 0, "select min(unique2) from tenk1");
	sqlbench_rows(b, 100, "select hundred, min(unique2) from tenk1 group by hundred");
	sqlbench_rows(b, 100, "select hundred, sum(unique2) from tenk1 group by hundred");
}

static void wisconsin_changes(struct sqlbench *b)
{
	int64_t next = (int64_t)b->rows;

	sqlbench_do(b,
		"insert into tenk1 values (%" PRId64 ", %" PRId64 ", 0, 2, 0, 10, 50, 688, 1950,"
		" 4950, 9950, 1, 100, 'MXXXXXXX', 'GXXXXXXX', 'OXXX')",
		next, next);
	sqlbench_do(b, "update tenk1 set unique1 = %" PRId64 " where unique1 = %" PRId64, next + 1,
		next);
	sqlbench_do(b, "update tenk1 set hundred = 17 where unique2 = %" PRId64, next);
	sqlbench_number(b, next + 1, "select unique1 from tenk1 where unique2 = %" PRId64, next);
	sqlbench_do(b, "delete from tenk1 where unique1 = %" PRId64, next + 1);
	sqlbench_number(b, next, "select count(*) from tenk1");
}

void sqlbench_wisconsin(struct sqlbench *b)
{
	fill_wisconsin(b, "tenk1", b->rows);
	fill_wisconsin(b, "onek", b->rows / 10);
	fill_wisconsin(b, "bprime", b->rows / 10);
	wisconsin_selections(b);
	index_wisconsin(b, "tenk1");
	index_wisconsin(b, "onek");
	for (uint64_t i = 0; i < b->loops && !b->r; i++) {
		wisconsin_selections(b);
		wisconsin_joins(b);
		wisconsin_aggregates(b);
		wisconsin_changes(b);
	}
	sqlbench_do(b, "drop table tenk1");
	sqlbench_do(b, "drop table onek");
	sqlbench_do(b, "drop table bprime");
}
