/* SPDX-License-Identifier: MIT */
/*
 * Parameters are rows: what kind, from which range, and which value validates. They stand in a query
 * as $a, $b, ... in the order of its row.
 */
#include "tpch-sql.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "cleanup.h"
#include "tpch-words.h"
#include "vec.h"

/* clang-format off */
const char *const tpch_schema[] = {
	"create table region (r_regionkey integer not null, r_name char(25) not null, r_comment varchar(152))",
	"create table nation (n_nationkey integer not null, n_name char(25) not null,"
		" n_regionkey integer not null, n_comment varchar(152))",
	"create table supplier (s_suppkey integer not null, s_name char(25) not null,"
		" s_address varchar(40) not null, s_nationkey integer not null, s_phone char(15) not null,"
		" s_acctbal numeric(15,2) not null, s_comment varchar(101) not null)",
	"create table customer (c_custkey integer not null, c_name varchar(25) not null,"
		" c_address varchar(40) not null, c_nationkey integer not null, c_phone char(15) not null,"
		" c_acctbal numeric(15,2) not null, c_mktsegment char(10) not null,"
		" c_comment varchar(117) not null)",
	"create table part (p_partkey integer not null, p_name varchar(55) not null, p_mfgr char(25) not null,"
		" p_brand char(10) not null, p_type varchar(25) not null, p_size integer not null,"
		" p_container char(10) not null, p_retailprice numeric(15,2) not null,"
		" p_comment varchar(23) not null)",
	"create table partsupp (ps_partkey integer not null, ps_suppkey integer not null,"
		" ps_availqty integer not null, ps_supplycost numeric(15,2) not null,"
		" ps_comment varchar(199) not null)",
	"create table orders (o_orderkey integer not null, o_custkey integer not null,"
		" o_orderstatus char(1) not null, o_totalprice numeric(15,2) not null,"
		" o_orderdate date not null, o_orderpriority char(15) not null, o_clerk char(15) not null,"
		" o_shippriority integer not null, o_comment varchar(79) not null)",
	"create table lineitem (l_orderkey integer not null, l_partkey integer not null,"
		" l_suppkey integer not null, l_linenumber integer not null,"
		" l_quantity numeric(15,2) not null, l_extendedprice numeric(15,2) not null,"
		" l_discount numeric(15,2) not null, l_tax numeric(15,2) not null,"
		" l_returnflag char(1) not null, l_linestatus char(1) not null, l_shipdate date not null,"
		" l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null,"
		" l_shipmode char(10) not null, l_comment varchar(44) not null)",
	NULL,
};

const char *const tpch_primary_keys[] = {
	"region (r_regionkey)",
	"nation (n_nationkey)",
	"supplier (s_suppkey)",
	"customer (c_custkey)",
	"part (p_partkey)",
	"partsupp (ps_partkey, ps_suppkey)",
	"orders (o_orderkey)",
	"lineitem (l_orderkey, l_linenumber)",
	NULL,
};

const char *const tpch_foreign_keys[] = {
	"nation (n_regionkey) region",
	"supplier (s_nationkey) nation",
	"customer (c_nationkey) nation",
	"partsupp (ps_partkey) part",
	"partsupp (ps_suppkey) supplier",
	"orders (o_custkey) customer",
	"lineitem (l_orderkey) orders",
	"lineitem (l_partkey, l_suppkey) partsupp",
	NULL,
};

const char *const tpch_indexes[] = {
	"create index nation_region on nation (n_regionkey)",
	"create index supplier_nation on supplier (s_nationkey)",
	"create index customer_nation on customer (c_nationkey)",
	"create index partsupp_supplier on partsupp (ps_suppkey)",
	"create index orders_customer on orders (o_custkey)",
	"create index orders_date on orders (o_orderdate)",
	"create index lineitem_part on lineitem (l_partkey, l_suppkey)",
	"create index lineitem_shipped on lineitem (l_shipdate)",
	NULL,
};
/* clang-format on */

/* --- parameters --- */

enum kind {
	KIND_END,
	/* Numbers from `low` to `high` in steps of `step`. */
	KIND_NUMBER,
	KIND_HUNDREDTHS,
	KIND_DAY,   /* tpch.h's day, as a date */
	KIND_MONTH, /* months from January 1992, as the date of the first */
	KIND_PLUS,  /* `low` more than the parameter before it */
	KIND_BRAND, /* 11 to 55, no digit above 5 */
	/* Words. */
	KIND_WORD,      /* of `words` */
	KIND_TWO,       /* of `words` and of p_type's second list */
	KIND_TYPE,      /* a whole p_type */
	KIND_CONTAINER, /* a whole p_container */
	KIND_NATION,
	KIND_REGION,
	KIND_REGION_OF, /* of the nation before it */
	KIND_FRACTION,  /* 0.0001 at scale factor 1, less the more data there are */
};

struct parameter {
	enum kind kind;
	unsigned low, high, step;
	unsigned given;   /* the value for validation */
	const char *word; /* the same where it is a word */
	const struct tpch_words *words;
};

struct query {
	const char *sql;
	struct parameter parameters[11];
};

#define NUMBER(low, high, given)                                                                   \
	{                                                                                          \
		KIND_NUMBER, low, high, 1, given                                                   \
	}
#define HUNDREDTHS(low, high, given)                                                               \
	{                                                                                          \
		KIND_HUNDREDTHS, low, high, 1, given                                               \
	}
#define DAY(low, high, given)                                                                      \
	{                                                                                          \
		KIND_DAY, low, high, 1, given                                                      \
	}
#define MONTH(low, high, given)                                                                    \
	{                                                                                          \
		KIND_MONTH, low, high, 1, given                                                    \
	}
#define YEAR(low, high, given)                                                                     \
	{                                                                                          \
		KIND_MONTH, (low - 1992) * 12, (high - 1992) * 12, 12, (given - 1992) * 12         \
	}
#define PLUS(n)                                                                                    \
	{                                                                                          \
		KIND_PLUS, n                                                                       \
	}
#define BRAND(given)                                                                               \
	{                                                                                          \
		KIND_BRAND, 11, 55, 1, given                                                       \
	}
#define WORD(words, given)                                                                         \
	{                                                                                          \
		KIND_WORD, .word = given, &words                                                   \
	}
#define TEXT(kind, given)                                                                          \
	{                                                                                          \
		kind, .word = given                                                                \
	}

#define PRICE "l_extendedprice * (1 - l_discount)"

static const struct query queries[TPCH_QUERIES + 1] = {
	[1] = {"select l_returnflag, l_linestatus, sum(l_quantity) as quantity,"
	       " sum(l_extendedprice) as base_price, sum(" PRICE ") as price,"
	       " sum(" PRICE " * (1 + l_tax)) as charge, avg(l_quantity) as avg_quantity,"
	       " avg(l_extendedprice) as avg_price, avg(l_discount) as avg_discount,"
	       " count(*) as orders from lineitem where l_shipdate <= '$a'"
	       " group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus",
		{DAY(2406, 2466, 2436)}},
	[2] = {"select s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment"
	       " from part join partsupp on ps_partkey = p_partkey"
	       " join supplier on s_suppkey = ps_suppkey"
	       " join nation on n_nationkey = s_nationkey"
	       " join region on r_regionkey = n_regionkey"
	       " where p_size = $a and p_type like '%$b' and r_name = '$c' and ps_supplycost ="
	       " (select min(ps.ps_supplycost) from partsupp ps"
	       " join supplier s on s.s_suppkey = ps.ps_suppkey"
	       " join nation n on n.n_nationkey = s.s_nationkey"
	       " join region r on r.r_regionkey = n.n_regionkey"
	       " where ps.ps_partkey = p_partkey and r.r_name = '$c')"
	       " order by s_acctbal desc, n_name, s_name, p_partkey limit 100",
		{NUMBER(1, 50, 15), WORD(tpch_type3, "BRASS"), TEXT(KIND_REGION, "EUROPE")}},
	[3] = {"select l_orderkey, sum(" PRICE ") as revenue, o_orderdate, o_shippriority"
	       " from customer join orders on o_custkey = c_custkey"
	       " join lineitem on l_orderkey = o_orderkey"
	       " where c_mktsegment = '$a' and o_orderdate < '$b' and l_shipdate > '$b'"
	       " group by l_orderkey, o_orderdate, o_shippriority"
	       " order by revenue desc, o_orderdate limit 10",
		{WORD(tpch_segments, "BUILDING"), DAY(1155, 1185, 1169)}},
	[4] = {"select o_orderpriority, count(*) as order_count from orders"
	       " where o_orderdate >= '$a' and o_orderdate < '$b'"
	       " and exists (select * from lineitem where l_orderkey = o_orderkey"
	       " and l_commitdate < l_receiptdate)"
	       " group by o_orderpriority order by o_orderpriority",
		{MONTH(12, 69, 18), PLUS(3)}},
	[5] = {"select n_name, sum(" PRICE ") as revenue"
	       " from customer join orders on o_custkey = c_custkey"
	       " join lineitem on l_orderkey = o_orderkey"
	       " join supplier on s_suppkey = l_suppkey and s_nationkey = c_nationkey"
	       " join nation on n_nationkey = s_nationkey"
	       " join region on r_regionkey = n_regionkey"
	       " where r_name = '$a' and o_orderdate >= '$b' and o_orderdate < '$c'"
	       " group by n_name order by revenue desc",
		{TEXT(KIND_REGION, "ASIA"), YEAR(1993, 1997, 1994), PLUS(12)}},
	[6] = {"select sum(l_extendedprice * l_discount) as revenue from lineitem"
	       " where l_shipdate >= '$a' and l_shipdate < '$b'"
	       " and l_discount between $c and $d and l_quantity < $e",
		{YEAR(1993, 1997, 1994), PLUS(12), HUNDREDTHS(1, 8, 5), PLUS(2),
			NUMBER(24, 25, 24)}},
	[7] = {"select supp_nation, cust_nation, l_year, sum(volume) as revenue from ("
	       "select n1.n_name as supp_nation, n2.n_name as cust_nation,"
	       " extract(year from l_shipdate) as l_year, " PRICE " as volume"
	       " from supplier join lineitem on l_suppkey = s_suppkey"
	       " join orders on o_orderkey = l_orderkey join customer on c_custkey = o_custkey"
	       " join nation n1 on n1.n_nationkey = s_nationkey"
	       " join nation n2 on n2.n_nationkey = c_nationkey"
	       " where ((n1.n_name = '$a' and n2.n_name = '$b')"
	       " or (n1.n_name = '$b' and n2.n_name = '$a'))"
	       " and l_shipdate between '1995-01-01' and '1996-12-31') as shipping"
	       " group by supp_nation, cust_nation, l_year"
	       " order by supp_nation, cust_nation, l_year",
		{TEXT(KIND_NATION, "FRANCE"), TEXT(KIND_NATION, "GERMANY")}},
	[8] = {"select o_year, sum(case when nation = '$a' then volume else 0 end) / sum(volume)"
	       " as share from ("
	       "select extract(year from o_orderdate) as o_year, " PRICE " as volume,"
	       " n2.n_name as nation from part join lineitem on l_partkey = p_partkey"
	       " join supplier on s_suppkey = l_suppkey join orders on o_orderkey = l_orderkey"
	       " join customer on c_custkey = o_custkey"
	       " join nation n1 on n1.n_nationkey = c_nationkey"
	       " join region on r_regionkey = n1.n_regionkey"
	       " join nation n2 on n2.n_nationkey = s_nationkey"
	       " where r_name = '$b' and o_orderdate between '1995-01-01' and '1996-12-31'"
	       " and p_type = '$c') as all_nations group by o_year order by o_year",
		{TEXT(KIND_NATION, "BRAZIL"), TEXT(KIND_REGION_OF, "AMERICA"),
			TEXT(KIND_TYPE, "ECONOMY ANODIZED STEEL")}},
	[9] = {"select nation, o_year, sum(amount) as profit from ("
	       "select n_name as nation, extract(year from o_orderdate) as o_year,"
	       " " PRICE " - ps_supplycost * l_quantity as amount"
	       " from part join lineitem on l_partkey = p_partkey"
	       " join supplier on s_suppkey = l_suppkey"
	       " join partsupp on ps_suppkey = l_suppkey and ps_partkey = l_partkey"
	       " join orders on o_orderkey = l_orderkey"
	       " join nation on n_nationkey = s_nationkey where p_name like '%$a%') as profits"
	       " group by nation, o_year order by nation, o_year desc",
		{WORD(tpch_colors, "green")}},
	[10] = {"select c_custkey, c_name, sum(" PRICE ") as revenue, c_acctbal, n_name,"
		" c_address, c_phone, c_comment from customer join orders on o_custkey = c_custkey"
		" join lineitem on l_orderkey = o_orderkey"
		" join nation on n_nationkey = c_nationkey"
		" where o_orderdate >= '$a' and o_orderdate < '$b' and l_returnflag = 'R'"
		" group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment"
		" order by revenue desc limit 20",
		{MONTH(13, 36, 21), PLUS(3)}},
	[11] = {"select ps_partkey, sum(ps_supplycost * ps_availqty) as worth"
		" from partsupp join supplier on s_suppkey = ps_suppkey"
		" join nation on n_nationkey = s_nationkey where n_name = '$a' group by ps_partkey"
		" having sum(ps_supplycost * ps_availqty) > ("
		"select sum(ps_supplycost * ps_availqty) * $b"
		" from partsupp join supplier on s_suppkey = ps_suppkey"
		" join nation on n_nationkey = s_nationkey where n_name = '$a')"
		" order by worth desc",
		{TEXT(KIND_NATION, "GERMANY"), TEXT(KIND_FRACTION, NULL)}},
	[12] = {"select l_shipmode,"
		" sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 1 else 0 end)"
		" as high_lines,"
		" sum(case when o_orderpriority not in ('1-URGENT', '2-HIGH') then 1 else 0 end)"
		" as low_lines from orders join lineitem on l_orderkey = o_orderkey"
		" where l_shipmode in ('$a', '$b') and l_commitdate < l_receiptdate"
		" and l_shipdate < l_commitdate and l_receiptdate >= '$c'"
		" and l_receiptdate < '$d' group by l_shipmode order by l_shipmode",
		{WORD(tpch_modes, "MAIL"), WORD(tpch_modes, "SHIP"), YEAR(1993, 1997, 1994),
			PLUS(12)}},
	[13] = {"select c_count, count(*) as customers from ("
		"select c_custkey, count(o_orderkey) as c_count from customer"
		" left join orders on o_custkey = c_custkey and o_comment not like '%$a%$b%'"
		" group by c_custkey) as counts"
		" group by c_count order by customers desc, c_count desc",
		{WORD(tpch_q13_first, "special"), WORD(tpch_q13_second, "requests")}},
	[14] = {"select 100.00 * sum(case when p_type like 'PROMO%' then " PRICE " else 0 end)"
		" / sum(" PRICE ") as promo_percent"
		" from lineitem join part on p_partkey = l_partkey"
		" where l_shipdate >= '$a' and l_shipdate < '$b'",
		{MONTH(12, 71, 44), PLUS(1)}},
	[15] = {"with revenue as (select l_suppkey as supplier, sum(" PRICE ") as total"
		" from lineitem where l_shipdate >= '$a' and l_shipdate < '$b' group by l_suppkey)"
		" select s_suppkey, s_name, s_address, s_phone, total"
		" from supplier join revenue on supplier = s_suppkey"
		" where total = (select max(total) from revenue) order by s_suppkey",
		{MONTH(12, 69, 48), PLUS(3)}},
	[16] = {"select p_brand, p_type, p_size, count(distinct ps_suppkey) as suppliers"
		" from partsupp join part on p_partkey = ps_partkey"
		" where p_brand <> 'Brand#$a' and p_type not like '$b%'"
		" and p_size in ($c, $d, $e, $f, $g, $h, $i, $j) and ps_suppkey not in ("
		"select s_suppkey from supplier where s_comment like '%Customer%Complaints%')"
		" group by p_brand, p_type, p_size"
		" order by suppliers desc, p_brand, p_type, p_size",
		{BRAND(45), {KIND_TWO, .word = "MEDIUM POLISHED", &tpch_type1}, NUMBER(1, 50, 49),
			NUMBER(1, 50, 14), NUMBER(1, 50, 23), NUMBER(1, 50, 45), NUMBER(1, 50, 19),
			NUMBER(1, 50, 3), NUMBER(1, 50, 36), NUMBER(1, 50, 9)}},
	[17] = {"select sum(l_extendedprice) / 7.0 as yearly"
		" from lineitem join part on p_partkey = l_partkey"
		" where p_brand = 'Brand#$a' and p_container = '$b' and l_quantity < ("
		"select 0.2 * avg(l.l_quantity) from lineitem l where l.l_partkey = p_partkey)",
		{BRAND(23), TEXT(KIND_CONTAINER, "MED BOX")}},
	[18] = {"select c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice,"
		" sum(l_quantity) as quantity from customer join orders on o_custkey = c_custkey"
		" join lineitem on l_orderkey = o_orderkey where o_orderkey in ("
		"select l_orderkey from lineitem group by l_orderkey having sum(l_quantity) > $a)"
		" group by c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice"
		" order by o_totalprice desc, o_orderdate limit 100",
		{NUMBER(312, 315, 300)}},
	[19] = {"select sum(" PRICE ") as revenue from lineitem join part on p_partkey = l_partkey"
		" where l_shipmode in ('AIR', 'AIR REG')"
		" and l_shipinstruct = 'DELIVER IN PERSON' and ((p_brand = 'Brand#$a'"
		" and p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')"
		" and l_quantity between $d and $e and p_size between 1 and 5)"
		" or (p_brand = 'Brand#$b'"
		" and p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')"
		" and l_quantity between $f and $g and p_size between 1 and 10)"
		" or (p_brand = 'Brand#$c'"
		" and p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')"
		" and l_quantity between $h and $i and p_size between 1 and 15))",
		{BRAND(12), BRAND(23), BRAND(34), NUMBER(1, 10, 1), PLUS(10), NUMBER(10, 20, 10),
			PLUS(10), NUMBER(20, 30, 20), PLUS(10)}},
	[20] = {"select s_name, s_address from supplier join nation on n_nationkey = s_nationkey"
		" where n_name = '$a' and s_suppkey in (select ps_suppkey from partsupp"
		" where ps_partkey in (select p_partkey from part where p_name like '$b%')"
		" and ps_availqty > (select 0.5 * sum(l_quantity) from lineitem"
		" where l_partkey = ps_partkey and l_suppkey = ps_suppkey"
		" and l_shipdate >= '$c' and l_shipdate < '$d')) order by s_name",
		{TEXT(KIND_NATION, "CANADA"), WORD(tpch_colors, "forest"), YEAR(1993, 1997, 1994),
			PLUS(12)}},
	[21] = {"select s_name, count(*) as waits from supplier"
		" join lineitem l1 on l1.l_suppkey = s_suppkey"
		" join orders on o_orderkey = l1.l_orderkey"
		" join nation on n_nationkey = s_nationkey where o_orderstatus = 'F'"
		" and l1.l_receiptdate > l1.l_commitdate and n_name = '$a'"
		" and exists (select * from lineitem l2 where l2.l_orderkey = l1.l_orderkey"
		" and l2.l_suppkey <> l1.l_suppkey)"
		" and not exists (select * from lineitem l3 where l3.l_orderkey = l1.l_orderkey"
		" and l3.l_suppkey <> l1.l_suppkey and l3.l_receiptdate > l3.l_commitdate)"
		" group by s_name order by waits desc, s_name limit 100",
		{TEXT(KIND_NATION, "SAUDI ARABIA")}},
	[22] = {"select country, count(*) as customers, sum(c_acctbal) as balance from ("
		"select substr(c_phone, 1, 2) as country, c_acctbal from customer"
		" where substr(c_phone, 1, 2) in ('$a', '$b', '$c', '$d', '$e', '$f', '$g')"
		" and c_acctbal > (select avg(c_acctbal) from customer where c_acctbal > 0.00"
		" and substr(c_phone, 1, 2) in ('$a', '$b', '$c', '$d', '$e', '$f', '$g'))"
		" and not exists (select * from orders where o_custkey = c_custkey)) as idle"
		" group by country order by country",
		{NUMBER(10, 34, 13), NUMBER(10, 34, 31), NUMBER(10, 34, 23), NUMBER(10, 34, 29),
			NUMBER(10, 34, 30), NUMBER(10, 34, 18), NUMBER(10, 34, 17)}},
};

/* --- values for the parameters --- */

/* A parameter as it stands in the text, and the number it came from, which the next may need. */
struct value {
	char text[40];
	unsigned number;
	enum kind kind;
};

static void format_number(struct value *v, const struct tpch *t)
{
	if (v->kind == KIND_DAY || v->kind == KIND_MONTH)
		snprintf(v->text, sizeof(v->text), "%s",
			t->dates[v->kind == KIND_DAY ? v->number : tpch_month(v->number)]);
	else
		snprintf(v->text, sizeof(v->text), v->kind == KIND_HUNDREDTHS ? "0.%02u" : "%u",
			v->number);
}

static void format_fraction(struct value *v, const struct tpch *t)
{
	/* 0.0001 / scale factor */
	snprintf(v->text, sizeof(v->text), "%.10f", 0.1 / (double)t->thousandths);
}

static unsigned nation_by_name(const char *name)
{
	unsigned i = 0;

	while (strcmp(tpch_nations[i].name, name) != 0)
		i++;
	return i;
}

/* NULL for a number. The words between are blanks. */
static void draw_words(struct value *v, const struct parameter *p, struct rng *rng)
{
	const char *words[3] = {"", "", ""};

	if (p->kind == KIND_NATION)
		words[0] = tpch_nations[rng_below(rng, TPCH_NATION_COUNT)].name;
	else if (p->kind == KIND_REGION)
		words[0] = tpch_regions[rng_below(rng, TPCH_REGION_COUNT)];
	else
		words[0] = tpch_word(p->kind == KIND_CONTAINER ? &tpch_size
				     : p->kind == KIND_WORD    ? p->words
							       : &tpch_type1,
			rng);
	if (p->kind == KIND_CONTAINER)
		words[1] = tpch_word(&tpch_box, rng);
	if (p->kind == KIND_TWO || p->kind == KIND_TYPE)
		words[1] = tpch_word(&tpch_type2, rng);
	if (p->kind == KIND_TYPE)
		words[2] = tpch_word(&tpch_type3, rng);
	snprintf(v->text, sizeof(v->text), "%s%s%s%s%s", words[0], *words[1] ? " " : "", words[1],
		*words[2] ? " " : "", words[2]);
}

static void draw(struct value *v, const struct parameter *p, const struct tpch *t, struct rng *rng)
{
	v->kind = p->kind;
	switch (p->kind) {
	case KIND_NUMBER:
	case KIND_HUNDREDTHS:
	case KIND_DAY:
	case KIND_MONTH:
		v->number = p->low +
		            p->step * (unsigned)rng_below(rng, (p->high - p->low) / p->step + 1);
		format_number(v, t);
		return;
	case KIND_BRAND:
		v->number = 11 + 10 * (unsigned)rng_below(rng, 5) + (unsigned)rng_below(rng, 5);
		format_number(v, t);
		return;
	case KIND_WORD:
	case KIND_TWO:
	case KIND_TYPE:
	case KIND_CONTAINER:
	case KIND_NATION:
	case KIND_REGION:
		draw_words(v, p, rng);
		return;
	case KIND_END:
	case KIND_PLUS:
	case KIND_REGION_OF:
	case KIND_FRACTION:
		return; /* not drawn: they follow from something else */
	}
}

static void validate(struct value *v, const struct parameter *p, const struct tpch *t)
{
	v->kind = p->kind;
	v->number = p->given;
	if (p->word)
		snprintf(v->text, sizeof(v->text), "%s", p->word);
	else
		format_number(v, t);
}

/* True if it depends on what is there already, and not on chance. */
static bool follow(struct value *v, const struct value *before, const struct parameter *p,
	const struct tpch *t)
{
	if (p->kind == KIND_FRACTION) {
		format_fraction(v, t);
	} else if (p->kind == KIND_REGION_OF) {
		unsigned region = tpch_nations[nation_by_name(before->text)].region;
		snprintf(v->text, sizeof(v->text), "%s", tpch_regions[region]);
	} else if (p->kind == KIND_PLUS) {
		*v = (struct value){.number = before->number + p->low, .kind = before->kind};
		format_number(v, t);
	} else {
		return false;
	}
	return true;
}

/* No two parameters that are drawn from the same values may be the same. */
static bool occurs(const struct value *values, size_t count, const struct value *v)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].kind == v->kind && !strcmp(values[i].text, v->text))
			return true;
	return false;
}

static void choose(
	struct value *values, const struct query *q, const struct tpch *t, struct rng *rng)
{
	for (size_t i = 0; q->parameters[i].kind != KIND_END; i++) {
		const struct parameter *p = &q->parameters[i];
		if (follow(&values[i], &values[i] - !!i, p, t))
			continue;
		if (!rng)
			validate(&values[i], p, t);
		else
			do
				draw(&values[i], p, t, rng);
			while (occurs(values, i, &values[i]));
	}
}

char *tpch_query(const struct tpch *t, unsigned number, bool drawn)
{
	const struct query *q = &queries[number];
	struct value values[ARRAY_SIZE(q->parameters)] = {0};
	struct bytes out = {0};
	struct rng rng;

	rng_init(&rng, t->seed * 1000003 + number);
	choose(values, q, t, drawn ? &rng : NULL);
	for (const char *at = q->sql; *at; at++)
		if (*at == '$') {
			const char *text = values[*++at - 'a'].text;
			put_bytes(&out, text, strlen(text));
		} else {
			put_u8(&out, (uint8_t)*at);
		}
	put_u8(&out, 0);
	return (char *)out.data;
}

/* --- answers --- */

uint64_t tpch_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* True if all of `text` is a number. */
static bool round_number(const char *text, char out[64])
{
	char *end = NULL;

	if (!strchr("-0123456789", *text) || !*text)
		return false;
	double v = strtod(text, &end);
	if (*end)
		return false;
	snprintf(out, 64, "%.4f", v);
	if (!strcmp(out, "-0.0000"))
		snprintf(out, 64, "0.0000");
	return true;
}

void tpch_answer_cell(struct tpch_answer *a, const char *text)
{
	char number[64];
	auto_free char *cell = xstrdup(text ? text : "\\N");

	for (size_t n = strlen(cell); n && cell[n - 1] == ' '; n--)
		cell[n - 1] = '\0';
	a->row = tpch_hash(a->row ? a->row : TPCH_HASH, round_number(cell, number) ? number : cell);
	a->row = tpch_hash(a->row, "\t");
}

void tpch_answer_row(struct tpch_answer *a)
{
	a->rows++;
	a->checksum += a->row;
	a->row = 0;
}
