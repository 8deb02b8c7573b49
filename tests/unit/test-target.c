/* SPDX-License-Identifier: MIT */
/* TARGET texts: what they mean and how they are refused. Making them is tests/cases/targets.sh. */
#include "target.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "fstype.h"

/* The error of a TARGET that must be refused, or NULL. Good until the next call. */
static const char *refusal(const char *spec)
{
	static struct error err;
	struct target *t = NULL;

	err = (struct error){0};
	if (target_new(&t, spec, NULL, &err)) {
		CHECK(t == NULL);
		return err.text;
	}
	target_free(t);
	return NULL;
}

static bool mentions(const char *text, const char *part)
{
	return text && strstr(text, part);
}

TEST(good_targets)
{
	static const char *const specs[] = {"ext4", "xfs", "ext3:data=writeback", "ext4::-b 1024",
		"ext3:data=ordered:-J size=400", "btrfs:compress=zstd:3", "btrfs:compress=zstd:-3",
		"tmpfs:size=1G", "f2fs", "ext4:", "ext4::", "dir:/tmp", "dir:."};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		CHECK_EQ(refusal(specs[i]), (const char *)NULL);
}

TEST(refused_targets)
{
	CHECK(mentions(refusal("exf4"), "did you mean 'ext4'"));
	CHECK(mentions(refusal("zzzzzzzz"), "fsreel targets"));
	CHECK(mentions(refusal(""), "not a file system"));
	CHECK(mentions(refusal("ext4:-b 1024"), "write ext4::-b 1024"));
	CHECK(mentions(refusal("tmpfs::-b 1024"), "no mkfs"));
	CHECK(mentions(refusal("ext4:ro"), "nothing can be written"));
	CHECK(mentions(refusal("ext4:noatime,nobh"), "'nobh'"));
	CHECK(mentions(refusal("ext4:journal=7"), "'journal'"));
	CHECK(mentions(refusal("dir:/no/such/place"), "No such file"));
	CHECK(mentions(refusal("dir:/etc/passwd"), "not a directory"));
	CHECK(mentions(refusal("dir:"), "No such file"));
}

TEST(labels)
{
	struct target *t;

	CHECK_EQ(target_new(&t, "ext4:noatime", NULL, NULL), 0);
	CHECK_EQ(target_label(t), "ext4:noatime");
	CHECK(!target_is_dir(t));
	target_free(t);
	CHECK_EQ(target_new(&t, "dir:/tmp", "root", NULL), 0);
	CHECK_EQ(target_label(t), "root");
	CHECK(target_is_dir(t));
	target_free(t);
}

TEST(unsafe_is_marked)
{
	CHECK(mentions(fs_type_unsafe("ext2", "", NULL, ""), "no journal"));
	CHECK(mentions(fs_type_unsafe("tmpfs", NULL, NULL, NULL), "memory"));
	CHECK(mentions(fs_type_unsafe("ext4", "noatime,barrier=0", NULL, ""), "barriers"));
	CHECK(mentions(fs_type_unsafe("ext4", "", "rw,nobarrier", ""), "barriers"));
	CHECK(mentions(fs_type_unsafe("ext4", "", "", "-O ^has_journal"), "no journal"));
	CHECK(mentions(fs_type_unsafe("ext3", "data=writeback", "", ""), "stale"));
	CHECK_EQ(fs_type_unsafe("ext4", "barrier=1", "rw,relatime", "-b 1024"), (const char *)NULL);
	CHECK_EQ(fs_type_unsafe("xfs", "noatime", "rw,noatime", ""), (const char *)NULL);
}

TEST(options_are_whole_words)
{
	CHECK(option_present("rw,nobarrier,ssd", "nobarrier"));
	CHECK(option_present("nobarrier", "nobarrier"));
	CHECK(!option_present("rw,nobarriers", "nobarrier"));
	CHECK(!option_present("rw,x=nobarrier", "nobarrier"));
	CHECK(!option_present("", "nobarrier"));
	CHECK(!option_present(NULL, "nobarrier"));
}

TEST(missing_names_the_remedy)
{
	const struct fs_type nowhere = {
		.name = "nowherefs",
		.mkfs = "mkfs.nowherefs",
		.package = "nowherefs-progs",
		.config = "NOWHERE_FS",
		.module = "nowherefs",
	};
	char *text = fs_type_missing(&nowhere);

	CHECK(mentions(text, "apt install nowherefs-progs"));
	CHECK(mentions(text, "CONFIG_NOWHERE_FS"));
	free(text);
}

TEST(table_lists_every_type)
{
	struct table *t = targets_table();
	json_t *rows = table_json(t);

	CHECK_EQ(json_array_size(rows), fs_type_count + 1);
	json_decref(rows);
	table_free(t);
}
