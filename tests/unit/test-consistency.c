/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "consistency.h"

static struct consistency *started(void)
{
	struct consistency *c = consistency_new();
	const struct tree_entry entries[] = {{.id = 1}, {.id = 2, .parent = 1}};

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		consistency_tree(c, &entries[i]);
	return c;
}

static void then(struct consistency *c, struct event ev)
{
	consistency_event(c, &ev);
}

/* How many kinds of contradiction there are, and whether `what` is one. */
static unsigned kinds(const struct consistency *c)
{
	unsigned n = 0;

	for (enum contradiction what = 0; what < CONTRADICTION_COUNT; what++)
		n += consistency_count(c, what) != 0;
	return n;
}

#define OPEN(h)  ((struct event){.op = OP_open, .file = 2, .handle = (h)})
#define CLOSE(h) ((struct event){.op = OP_release, .file = 2, .handle = (h)})

TEST(a_sensible_trace_is_good)
{
	struct consistency *c = started();

	then(c, OPEN(1));
	then(c, (struct event){.op = OP_create, .dir = 1, .file = 3, .handle = 2, .start_ns = 5});
	then(c, (struct event){.op = OP_write,
			.file = 3,
			.handle = 2,
			.size = 10,
			.result = 10,
			.start_ns = 6});
	then(c, (struct event){.op = OP_release, .file = 2, .handle = 1, .start_ns = 7});
	then(c, (struct event){.op = OP_open, .file = 2, .result = -2, .start_ns = 8});
	CHECK_EQ(kinds(c), 0);
	consistency_free(c);
}

static void expect_only(enum contradiction what, const struct event *events, size_t count)
{
	struct consistency *c = started();

	for (size_t i = 0; i < count; i++)
		consistency_event(c, &events[i]);
	CHECK_EQ(kinds(c), 1);
	CHECK_EQ(consistency_count(c, what), 1);
	CHECK(consistency_first(c, what) != NULL);
	consistency_free(c);
}

#define EXPECT(what, ...)                                                                          \
	expect_only(what, (const struct event[]){__VA_ARGS__},                                     \
		sizeof((const struct event[]){__VA_ARGS__}) / sizeof(struct event))

TEST(each_contradiction_is_seen)
{
	EXPECT(WRONG_ORDER, {.op = OP_getattr, .file = 1, .took_ns = 9},
		{.op = OP_getattr, .file = 1, .took_ns = 8});
	EXPECT(WRONG_ID, {.op = OP_getattr, .file = 3});
	EXPECT(HANDLE_NEVER_OPEN, {.op = OP_fsync, .file = 2, .handle = 1});
	EXPECT(HANDLE_OPEN_TWICE, OPEN(1), OPEN(1));
	EXPECT(HANDLE_AFTER_END, OPEN(1), CLOSE(1),
		{.op = OP_fsync, .file = 2, .handle = 1, .start_ns = 1});
	EXPECT(HANDLE_OTHER_FILE, OPEN(1), {.op = OP_fsync, .file = 1, .handle = 1});
	EXPECT(WRONG_CONTENT, {.op = OP_write, .content = 11});
	EXPECT(TOO_MUCH_DONE, {.op = OP_read, .size = 10, .result = 11});
}

/* A call that began before the close ended may end after it. */
TEST(calls_that_overlap_a_close_are_good)
{
	struct consistency *c = started();

	then(c, OPEN(1));
	then(c, (struct event){.op = OP_release, .file = 2, .handle = 1, .took_ns = 10});
	then(c, (struct event){
			.op = OP_fsync, .file = 2, .handle = 1, .start_ns = 5, .took_ns = 9});
	CHECK_EQ(kinds(c), 0);
	consistency_free(c);
}

TEST(children_come_after_their_directory)
{
	struct consistency *c = consistency_new();

	consistency_tree(c, &(struct tree_entry){.id = 1});
	consistency_tree(c, &(struct tree_entry){.id = 3, .parent = 7});
	CHECK_EQ(consistency_count(c, WRONG_PARENT), 1);
	consistency_free(c);
}
