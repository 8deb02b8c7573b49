/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "paths.h"

#define NAME(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

static struct paths *sample(void)
{
	struct paths *p = paths_new();
	const struct tree_entry entries[] = {
		{.id = 1, .mode = S_IFDIR},
		{.id = 2, .parent = 1, .name = NAME("data"), .mode = S_IFDIR},
		{.id = 3, .parent = 2, .name = NAME("x.db"), .mode = S_IFREG},
		{.id = 3, .parent = 1, .name = NAME("other"), .again = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		paths_tree(p, &entries[i]);
	return p;
}

static void after(struct paths *p, struct event ev)
{
	paths_event(p, &ev);
}

TEST(tree_names_files)
{
	struct paths *p = sample();

	CHECK_EQ(paths_of(p, 1), ".");
	CHECK_EQ(paths_of(p, 2), "data");
	CHECK_EQ(paths_of(p, 3), "data/x.db");
	CHECK_EQ(paths_of(p, 99), "#99");
	CHECK_EQ(paths_class(p, 1), FILE_DIRECTORY);
	CHECK_EQ(paths_class(p, 2), FILE_DIRECTORY);
	CHECK_EQ(paths_class(p, 3), FILE_DATABASE);
	CHECK_EQ(paths_class(p, 99), FILE_OTHER);
	paths_free(p);
}

TEST(renaming_a_directory_renames_what_is_in_it)
{
	struct paths *p = sample();

	after(p, (struct event){.op = OP_create, .dir = 2, .file = 4, .name = NAME("x.db-wal")});
	CHECK_EQ(paths_of(p, 4), "data/x.db-wal");
	CHECK_EQ(paths_class(p, 4), FILE_WAL);
	after(p, (struct event){.op = OP_rename,
			 .dir = 1,
			 .name = NAME("data"),
			 .dir2 = 1,
			 .name2 = NAME("old"),
			 .file = 2});
	CHECK_EQ(paths_of(p, 4), "old/x.db-wal");
	after(p, (struct event){.op = OP_unlink, .dir = 2, .file = 4, .name = NAME("x.db-wal")});
	CHECK_EQ(paths_of(p, 4), "old/x.db-wal");
	after(p, (struct event){.op = OP_mkdir, .dir = 9, .file = 5, .name = NAME("sub")});
	CHECK_EQ(paths_of(p, 5), "#9/sub");
	CHECK_EQ(paths_class(p, 5), FILE_DIRECTORY);
	paths_free(p);
}

TEST(files_without_a_name_are_temporary)
{
	struct paths *p = sample();

	after(p, (struct event){.op = OP_tmpfile, .dir = 2, .file = 4});
	CHECK_EQ(paths_class(p, 4), FILE_TEMP);
	CHECK_EQ(paths_of(p, 4), "#4");
	after(p, (struct event){.op = OP_link, .dir = 2, .file = 4, .name = NAME("t.MYD")});
	CHECK_EQ(paths_class(p, 4), FILE_DATABASE);
	for (uint64_t id = 10; id < 100000; id++)
		after(p, (struct event){.op = OP_tmpfile, .dir = 1, .file = id});
	CHECK_EQ(paths_class(p, 10), FILE_OTHER);
	CHECK_EQ(paths_class(p, 99999), FILE_TEMP);
	CHECK_EQ(paths_of(p, 4), "data/t.MYD");
	paths_free(p);
}

TEST(failed_events_change_nothing)
{
	struct paths *p = sample();

	after(p, (struct event){.op = OP_rename,
			 .result = -2,
			 .dir = 2,
			 .name = NAME("x.db"),
			 .dir2 = 2,
			 .name2 = NAME("y.db"),
			 .file = 3});
	CHECK_EQ(paths_of(p, 3), "data/x.db");
	paths_free(p);
}

TEST(exchange_swaps_names)
{
	struct paths *p = sample();

	after(p, (struct event){.op = OP_create, .dir = 1, .file = 4, .name = NAME("new")});
	after(p, (struct event){.op = OP_rename,
			 .dir = 1,
			 .name = NAME("new"),
			 .dir2 = 2,
			 .name2 = NAME("x.db"),
			 .file = 4,
			 .file2 = 3,
			 .flags = 2});
	CHECK_EQ(paths_of(p, 4), "data/x.db");
	CHECK_EQ(paths_of(p, 3), "new");
	paths_free(p);
}

/* A malformed trace can make a directory its own parent. */
TEST(loops_end)
{
	struct paths *p = paths_new();

	after(p, (struct event){.op = OP_mkdir, .dir = 3, .file = 2, .name = NAME("a")});
	after(p, (struct event){.op = OP_mkdir, .dir = 2, .file = 3, .name = NAME("b")});
	const char *path = paths_of(p, 3);
	CHECK(strlen(path) <= 65536);
	CHECK_EQ(path + strlen(path) - 4, "/a/b");
	paths_free(p);
}

/* Files that come and go do not stay in memory for ever; those that exist do. */
TEST(old_unlinked_files_are_forgotten)
{
	struct paths *p = sample();

	for (uint64_t id = 10; id < 100000; id++) {
		after(p, (struct event){.op = OP_create, .dir = 1, .file = id, .name = NAME("j")});
		after(p, (struct event){.op = OP_unlink, .dir = 1, .file = id, .name = NAME("j")});
	}
	CHECK_EQ(paths_of(p, 99999), "j");
	CHECK_EQ(paths_of(p, 10), "#10");
	CHECK_EQ(paths_of(p, 3), "data/x.db");
	paths_free(p);
}
