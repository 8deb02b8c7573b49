/* SPDX-License-Identifier: MIT */
/*
 * Names and categories are those the queries ask for. The words of the comments are our own but for
 * those that query 13 looks for; sentences have the shapes that the specification gives them.
 */
#include "tpch-words.h"

#include <string.h>

#include "vec.h"

const char *const tpch_regions[TPCH_REGION_COUNT] = {
	"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"};

const struct tpch_nation tpch_nations[TPCH_NATION_COUNT] = {
	{"ALGERIA", 0},
	{"ARGENTINA", 1},
	{"BRAZIL", 1},
	{"CANADA", 1},
	{"EGYPT", 4},
	{"ETHIOPIA", 0},
	{"FRANCE", 3},
	{"GERMANY", 3},
	{"INDIA", 2},
	{"INDONESIA", 2},
	{"IRAN", 4},
	{"IRAQ", 4},
	{"JAPAN", 2},
	{"JORDAN", 4},
	{"KENYA", 0},
	{"MOROCCO", 0},
	{"MOZAMBIQUE", 0},
	{"PERU", 1},
	{"CHINA", 2},
	{"ROMANIA", 3},
	{"SAUDI ARABIA", 4},
	{"VIETNAM", 2},
	{"RUSSIA", 3},
	{"UNITED KINGDOM", 3},
	{"UNITED STATES", 1},
};

#define WORDS(name, ...)                                                                           \
	static const char *const name##_list[] = {__VA_ARGS__};                                    \
	const struct tpch_words name = {name##_list, ARRAY_SIZE(name##_list)}
#define OWN_WORDS(name, ...)                                                                       \
	static const char *const name##_list[] = {__VA_ARGS__};                                    \
	static const struct tpch_words name = {name##_list, ARRAY_SIZE(name##_list)}

WORDS(tpch_segments, "AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD");
WORDS(tpch_priorities, "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW");
WORDS(tpch_instructions, "DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN");
WORDS(tpch_modes, "REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB");
WORDS(tpch_type1, "STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO");
WORDS(tpch_type2, "ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED");
WORDS(tpch_type3, "TIN", "NICKEL", "BRASS", "STEEL", "COPPER");
WORDS(tpch_size, "SM", "LG", "MED", "JUMBO", "WRAP");
WORDS(tpch_box, "CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM");
WORDS(tpch_q13_first, "special", "pending", "unusual", "express");
WORDS(tpch_q13_second, "packages", "requests", "accounts", "deposits");

/* No word is a part of another: queries look for them by LIKE. */
WORDS(tpch_colors, "amber", "apricot", "aqua", "ash", "auburn", "azure", "basil", "beige", "black",
	"blue", "bronze", "brown", "buff", "canary", "caramel", "carmine", "celadon", "cerise",
	"charcoal", "cherry", "chocolate", "cinnamon", "citron", "claret", "cobalt", "copper",
	"coral", "cream", "crimson", "cyan", "denim", "ebony", "ecru", "emerald", "fawn", "forest",
	"fuchsia", "garnet", "ginger", "gold", "gray", "green", "hazel", "honey", "indigo", "ivory",
	"jade", "jasmine", "khaki", "lava", "lemon", "lilac", "lime", "linen", "magenta",
	"mahogany", "maroon", "mauve", "melon", "mint", "moss", "mustard", "navy", "ochre", "olive",
	"onyx", "opal", "orchid", "peach", "pearl", "pine", "pink", "plum", "purple", "raspberry",
	"rose", "ruby", "saffron", "sage", "salmon", "scarlet", "sepia", "sienna", "silver",
	"slate", "tan", "teal", "umber", "violet", "walnut", "white", "yellow");

_Static_assert(ARRAY_SIZE(tpch_colors_list) == TPCH_COLORS, "a part's name is five of 92 words");

OWN_WORDS(nouns, "packages", "requests", "accounts", "deposits", "anchors", "barrels", "bridges",
	"candles", "carriers", "clerks", "couriers", "customers", "drafts", "engines", "farmers",
	"ferries", "gardens", "harbours", "invoices", "kettles", "ladders", "letters", "machines",
	"markets", "merchants", "millers", "notes", "orchards", "painters", "parcels", "pigeons",
	"porters", "quarries", "receipts", "sailors", "signals", "tailors", "timetables", "tunnels",
	"vessels", "wagons", "warehouses", "weavers", "whistles", "windows");
OWN_WORDS(verbs, "accept", "arrange", "borrow", "carry", "collect", "count", "deliver", "divide",
	"empty", "enlarge", "expect", "finish", "follow", "gather", "guard", "hurry", "inspect",
	"join", "leave", "lift", "measure", "mend", "observe", "offer", "pack", "polish", "prepare",
	"promise", "refuse", "repeat", "return", "ripen", "settle", "sort", "travel", "unload",
	"wait", "wander", "weigh", "wrap");
OWN_WORDS(adjectives, "special", "pending", "unusual", "express", "ancient", "broad", "calm",
	"cheap", "distant", "early", "eager", "faint", "famous", "gentle", "heavy", "honest",
	"idle", "narrow", "patient", "plain", "prompt", "quick", "rare", "solid", "spare", "steady",
	"stormy", "tidy", "urgent", "wooden");
OWN_WORDS(adverbs, "always", "barely", "boldly", "calmly", "gladly", "hardly", "lately", "loudly",
	"mostly", "neatly", "never", "nightly", "often", "openly", "quietly", "rarely", "safely",
	"seldom", "shortly", "slowly", "softly", "soon", "surely", "today", "usually", "wisely");
OWN_WORDS(prepositions, "about", "above", "across", "after", "against", "along", "among", "around",
	"at", "before", "behind", "below", "beside", "between", "beyond", "by", "during", "for",
	"from", "in place of", "inside", "near", "of", "on", "outside", "over", "past", "through",
	"to", "toward", "under", "without");
OWN_WORDS(auxiliaries, "can", "could", "may", "might", "must", "need to", "ought to", "shall",
	"should", "tend to", "try to", "will", "would");
OWN_WORDS(ends, ".", ".", ".", ";", ":", "?", "!", "--");

const char *tpch_word(const struct tpch_words *words, struct rng *rng)
{
	return words->at[rng_below(rng, words->count)];
}

/* What is written, and where it must stop. */
struct prose {
	char *at, *end;
	struct rng *rng;
};

static void say(struct prose *p, const char *word)
{
	size_t size = min_u64(strlen(word), (size_t)(p->end - p->at));

	memcpy(p->at, word, size);
	p->at += size;
}

/* One of the words, and a blank before it. */
static void say_one(struct prose *p, const struct tpch_words *words)
{
	say(p, " ");
	say(p, tpch_word(words, p->rng));
}

static void noun_phrase(struct prose *p)
{
	unsigned shape = (unsigned)rng_below(p->rng, 4);

	if (shape == 3)
		say_one(p, &adverbs);
	if (shape > 0)
		say_one(p, &adjectives);
	if (shape == 2) {
		say(p, ",");
		say_one(p, &adjectives);
	}
	say_one(p, &nouns);
}

static void verb_phrase(struct prose *p)
{
	unsigned shape = (unsigned)rng_below(p->rng, 4);

	if (shape & 1)
		say_one(p, &auxiliaries);
	say_one(p, &verbs);
	if (shape & 2)
		say_one(p, &adverbs);
}

static void prepositional_phrase(struct prose *p)
{
	say_one(p, &prepositions);
	say(p, " the");
	noun_phrase(p);
}

static void sentence(struct prose *p)
{
	unsigned shape = (unsigned)rng_below(p->rng, 5);

	noun_phrase(p);
	if (shape >= 3)
		prepositional_phrase(p);
	verb_phrase(p);
	if (shape == 1 || shape == 4)
		prepositional_phrase(p);
	else if (shape >= 2)
		noun_phrase(p);
	say(p, tpch_word(&ends, p->rng));
}

char *tpch_prose(size_t size, struct rng *rng)
{
	char *text = xmalloc(size);
	struct prose p = {text, text + size, rng};

	while (p.at < p.end)
		sentence(&p);
	return text;
}
