/* SPDX-License-Identifier: MIT */
#include "inode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "io.h"
#include "lower.h"

struct place {
	char *dir;
	int fd;
	struct inode_table *table;
	struct inode *root;
};

static bool place_open(struct place *p)
{
	struct error err;

	p->dir = make_temp_dir(&err);
	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY);
	if (!CHECK_EQ(inode_table_open(&p->table, dup(p->fd), &err), 0))
		return false;
	p->root = inode_of(p->table, 1);
	return true;
}

static void place_close(struct place *p)
{
	inode_table_close(p->table);
	close(p->fd);
	remove_tree(p->dir);
	free(p->dir);
}

static void make(const struct place *p, const char *name)
{
	close(openat(p->fd, name, O_CREAT | O_WRONLY, 0600));
}

static struct inode *look_up(struct place *p, const char *name)
{
	struct inode *i = NULL;
	struct stat st;

	return inode_lookup(p->table, p->root, name, &i, &st) ? NULL : i;
}

static uint64_t id_of(struct place *p, const char *name)
{
	struct inode *i = look_up(p, name);
	uint64_t id = i ? inode_id(i) : 0;

	if (i)
		inode_forget(p->table, i, 1);
	return id;
}

TEST(a_file_keeps_its_id_through_names_and_forgetting)
{
	struct place p;

	if (!place_open(&p))
		return;
	make(&p, "a");
	uint64_t id = id_of(&p, "a");
	CHECK(id > 1);
	CHECK_EQ(inode_id(p.root), 1);
	CHECK_EQ(linkat(p.fd, "a", p.fd, "b", 0), 0);
	CHECK_EQ(id_of(&p, "b"), id);
	CHECK_EQ(renameat(p.fd, "a", p.fd, "c"), 0);
	CHECK_EQ(id_of(&p, "c"), id);
	CHECK_EQ(id_of(&p, "a"), 0);
	place_close(&p);
}

TEST(an_id_is_never_given_twice)
{
	struct place p;
	uint64_t last = 1;

	if (!place_open(&p))
		return;
	/* The same name and, on most file systems, the same inode number each time. */
	for (int n = 0; n < 100; n++) {
		make(&p, "again");
		uint64_t id = id_of(&p, "again");
		CHECK(id > last);
		last = id;
		CHECK_EQ(unlinkat(p.fd, "again", 0), 0);
	}
	place_close(&p);
}

TEST(an_unlinked_file_stays_within_reach)
{
	struct place p;
	struct stat st;

	if (!place_open(&p))
		return;
	make(&p, "gone");
	struct inode *i = look_up(&p, "gone");
	{
		auto_name struct inode_name name = inode_peek(p.table, p.root, "gone");
		CHECK(name.last);
		CHECK_EQ(name.id, inode_id(i));
		CHECK_EQ(unlinkat(p.fd, "gone", 0), 0);
		inode_unlinked(&name, p.root, "gone");
	}
	inode_table_shrink(p.table);
	inode_table_shrink(p.table);
	{
		auto_pin struct inode_pin pin = inode_pin(p.table, i);
		CHECK(pin.fd >= 0);
		CHECK_EQ(lower_stat(pin.fd, &st), 0);
		CHECK_EQ(st.st_nlink, 0);
	}
	inode_forget(p.table, i, 1);
	place_close(&p);
}

/* Every descriptor can be given up: files are found again by handle, or as a user by name. */
static void check_found_again(struct place *p)
{
	enum { FILES = 200 };
	struct inode *files[FILES];
	char name[32];
	struct stat st;

	for (int n = 0; n < FILES; n++) {
		snprintf(name, sizeof(name), "f%d", n);
		make(p, name);
		files[n] = look_up(p, name);
	}
	CHECK_EQ(renameat(p->fd, "f7", p->fd, "moved"), 0);
	{
		auto_name struct inode_name moved = inode_peek(p->table, p->root, "moved");
		inode_renamed(&moved, p->root, "moved");
	}
	for (int round = 0; round < 10; round++)
		inode_table_shrink(p->table);
	CHECK(inode_table_evicted(p->table) > FILES / 2);
	for (int n = 0; n < FILES; n++) {
		auto_pin struct inode_pin pin = inode_pin(p->table, files[n]);
		if (!CHECK(pin.fd >= 0 && !lower_stat(pin.fd, &st)))
			return;
		CHECK_EQ(inode_table_ident(p->table, pin.fd), inode_id(files[n]));
	}
	for (int n = 0; n < FILES; n++)
		inode_forget(p->table, files[n], 1);
}

TEST(descriptors_given_up_are_opened_again)
{
	struct place p;

	if (!place_open(&p))
		return;
	check_found_again(&p);
	place_close(&p);
}
