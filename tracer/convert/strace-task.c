/* SPDX-License-Identifier: MIT */
#include "strace-task.h"

#include <sched.h>
#include <string.h>

void tasks_init(struct tasks *t, uint32_t cwd)
{
	*t = (struct tasks){.start_cwd = cwd};
}

static void table_put(struct tasks *t, struct fd_table *table)
{
	if (!table || --table->refs)
		return;
	t->fds -= table->fds.count;
	vec_each (fd, &table->fds)
		if (!--fd->opened->refs)
			free(fd->opened);
	vec_free(&table->fds);
	map_free(&table->index);
	free(table);
}

static void task_free(struct tasks *t, struct task *task)
{
	table_put(t, task->table);
	if (!--*task->cwd_refs) {
		free(task->cwd);
		free(task->cwd_refs);
	}
	if (task->pending.closing && !--task->pending.closing->refs)
		free(task->pending.closing);
	free((char *)(uintptr_t)task->pending.name.data);
	free(task);
}

void tasks_done(struct tasks *t)
{
	vec_each (task, &t->all)
		if (*task)
			task_free(t, *task);
	vec_free(&t->all);
	vec_free(&t->unused);
	vec_free(&t->cloning);
	map_free(&t->by_pid);
}

struct task *task_find(struct tasks *t, uint32_t pid)
{
	const uint64_t *at = map_get(&t->by_pid, pid, 0);

	return at ? t->all.at[*at] : NULL;
}

static struct task *task_new(struct tasks *t, uint32_t pid)
{
	if (t->all.count - t->unused.count >= TASKS_MAX)
		return NULL;
	struct task *task = ALLOC(struct task);
	uint32_t at = (uint32_t)t->all.count;
	task->pid = task->tgid = pid;
	task->umask = 022;
	if (t->unused.count) {
		at = t->unused.at[--t->unused.count];
		t->all.at[at] = task;
	} else {
		vec_push(&t->all, task);
	}
	map_put(&t->by_pid, pid, 0, at);
	return task;
}

static void own_cwd(struct task *task, uint32_t cwd)
{
	task->cwd = xmalloc(sizeof(*task->cwd));
	*task->cwd = cwd;
	task->cwd_refs = xmalloc(sizeof(*task->cwd_refs));
	*task->cwd_refs = 1;
}

struct task *task_of(struct tasks *t, uint32_t pid)
{
	struct task *task = task_find(t, pid);

	if (task)
		return task;
	task = task_new(t, pid);
	if (!task)
		return NULL;
	own_cwd(task, t->start_cwd);
	task->table = ALLOC(struct fd_table);
	task->table->refs = 1;
	memcpy(task->comm, "?", 2);
	return task;
}

static bool table_set(
	struct tasks *t, struct fd_table *table, int number, struct opened *o, bool cloexec)
{
	if (t->fds >= FDS_MAX)
		return false;
	map_put(&table->index, (uint64_t)number, 0, table->fds.count);
	vec_push(&table->fds, (struct fd){number, cloexec, o});
	t->fds++;
	return true;
}

static struct fd_table *table_copy(struct tasks *t, const struct fd_table *from)
{
	struct fd_table *copy = ALLOC(struct fd_table);

	copy->refs = 1;
	vec_each (fd, &from->fds) {
		if (!table_set(t, copy, fd->number, fd->opened, fd->cloexec)) {
			table_put(t, copy);
			return NULL;
		}
		fd->opened->refs++;
	}
	return copy;
}

struct task *task_clone(struct tasks *t, struct task *parent, uint32_t pid, uint64_t flags)
{
	struct fd_table *table = parent->table;

	if (flags & CLONE_FILES)
		table->refs++;
	else
		table = table_copy(t, table);
	struct task *task = table ? task_new(t, pid) : NULL;
	if (!task) {
		table_put(t, table);
		return NULL;
	}
	task->table = table;
	if (flags & CLONE_FS) {
		task->cwd = parent->cwd;
		task->cwd_refs = parent->cwd_refs;
		++*task->cwd_refs;
	} else {
		own_cwd(task, *parent->cwd);
	}
	task->umask = parent->umask;
	task->tgid = flags & CLONE_THREAD ? parent->tgid : pid;
	memcpy(task->comm, parent->comm, sizeof(task->comm));
	return task;
}

static bool is_clone(struct text name)
{
	static const char *const names[] = {"clone", "clone3", "fork", "vfork"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_is(name, names[i]))
			return true;
	return false;
}

void task_begun(struct tasks *t, struct task *task)
{
	task->pending.cloning = is_clone(task->pending.name);
	if (task->pending.cloning)
		vec_push(&t->cloning, task->pid);
}

struct task *task_cloning(struct tasks *t)
{
	while (t->next_cloning < t->cloning.count) {
		struct task *task = task_find(t, t->cloning.at[t->next_cloning++]);
		if (task && task->pending.active && task->pending.cloning)
			return task;
	}
	return NULL;
}

void task_end(struct tasks *t, struct task *task)
{
	const uint64_t at = *map_get(&t->by_pid, task->pid, 0);

	t->all.at[at] = NULL;
	vec_push(&t->unused, (uint32_t)at);
	map_del(&t->by_pid, task->pid, 0);
	task_free(t, task);
}

struct fd *task_fd(const struct task *task, int number)
{
	const uint64_t *at = map_get(&task->table->index, (uint64_t)number, 0);

	return at ? &task->table->fds.at[*at] : NULL;
}

struct opened *task_take_fd(struct tasks *t, struct task *task, int number)
{
	struct fd_table *table = task->table;
	struct fd *fd = task_fd(task, number);

	if (!fd)
		return NULL;
	struct opened *o = fd->opened;
	const struct fd last = table->fds.at[--table->fds.count];
	map_del(&table->index, (uint64_t)number, 0);
	if (last.number != number) {
		*fd = last;
		map_put(&table->index, (uint64_t)last.number, 0, (uint64_t)(fd - table->fds.at));
	}
	t->fds--;
	return o;
}

bool task_set_fd(struct tasks *t, struct task *task, int number, struct opened *o, bool cloexec)
{
	return table_set(t, task->table, number, o, cloexec);
}

bool task_unshare(struct tasks *t, struct task *task)
{
	if (task->table->refs == 1)
		return true;
	struct fd_table *own = table_copy(t, task->table);
	if (!own)
		return false;
	table_put(t, task->table);
	task->table = own;
	return true;
}
