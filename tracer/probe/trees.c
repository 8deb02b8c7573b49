/* SPDX-License-Identifier: MIT */
#include "trees.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "io.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* its inode number, fixed in the kernel's ABI */

static bool tids_have(const struct tids *tids, pid_t tid)
{
	vec_each (have, &tids->list)
		if (*have == tid)
			return true;
	return false;
}

static size_t add_threads(struct tids *tids, pid_t pid)
{
	auto_free char *path = xasprintf("/proc/%d/task", pid);
	auto_closedir DIR *dir = opendir(path);
	struct dirent *entry;
	size_t added = 0;

	while (dir && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);
		if (tid <= 0 || tids_have(tids, tid))
			continue;
		vec_push(&tids->list, tid);
		added++;
	}
	return added;
}

/* 0 if it is gone. A name may hold anything, also ")": what counts is behind the last one. */
static pid_t parent_of(pid_t pid)
{
	auto_free char *path = xasprintf("/proc/%d/stat", pid);
	auto_free char *text = read_text(path);
	char *name_end = text ? strrchr(text, ')') : NULL;
	char state;
	int parent;

	return name_end && sscanf(name_end, ") %c %d", &state, &parent) == 2 ? parent : 0;
}

static size_t add_children(struct tids *tids)
{
	auto_closedir DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t added = 0;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);
		if (pid > 0 && !tids_have(tids, pid) && tids_have(tids, parent_of(pid)))
			added += add_threads(tids, pid);
	}
	return added;
}

size_t tids_of_tree(struct tids *tids, pid_t pid)
{
	size_t before = tids->list.count;

	add_threads(tids, pid);
	while (add_children(tids))
		;
	return tids->list.count - before;
}

bool pids_are_global(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PID_NAMESPACE;
}
