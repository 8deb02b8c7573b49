/* SPDX-License-Identifier: MIT */
/*
 * Lifetimes come from the effects in the operation's row (make, use, end), plus the names and handles
 * that a call goes through without naming them. Contents come from what the operation does.
 */
#include "order.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>

static bool is_name(const struct op_arg *arg)
{
	return arg->kind == KIND_NAME && arg->effect != EFFECT_NONE;
}

static uint64_t dir_of_name(const struct event *ev, const struct op_arg *arg)
{
	return arg->at == offsetof(struct event, name2) ? ev->dir2 : ev->dir;
}

static enum deps_change change_of(const struct event *ev, const struct subject *s, unsigned effect)
{
	if (ev->result < 0 || effect == EFFECT_USE)
		return DEPS_USE;
	if (ev->op == OP_create && s->met)
		return DEPS_USE;
	return effect == EFFECT_MAKE ? DEPS_MAKE : DEPS_END;
}

static void touch_node(struct ordering *o, struct node *node, enum deps_change change)
{
	if (!node)
		return;
	node->touched = o->slots->step;
	deps_life(o->deps, &node->life, change);
	if (!node->names.count && !node->handles)
		slots_retire_node(o->slots, node);
}

static void touch_name(struct ordering *o, uint64_t dir, struct text name, enum deps_change change)
{
	struct binding *b = scene_binding_new(o->scene, dir, name);

	b->touched = o->slots->step;
	deps_life(o->deps, &b->life, change);
	if (!b->node)
		slots_retire_name(o->slots, dir, name);
}

static void touch_file(
	struct ordering *o, const struct subject *s, uint64_t id, enum deps_change change)
{
	touch_node(o, s->node && s->node->id == id ? s->node : scene_node(o->scene, id), change);
}

/* The row's arguments, each with its effect. */
static void order_args(struct ordering *o, const struct event *ev, const struct subject *s)
{
	const struct op_desc *op = &op_descs[ev->op];

	for (unsigned i = 0; i < op->arg_count; i++) {
		const struct op_arg *arg = &op->args[i];
		if (arg->effect == EFFECT_NONE)
			continue;
		enum deps_change change = change_of(ev, s, arg->effect);
		if (is_name(arg)) {
			touch_name(o, dir_of_name(ev, arg), *event_text(ev, arg), change);
		} else if (arg->kind == KIND_FILE) {
			touch_file(o, s, *event_number(ev, arg), change);
		}
	}
}

/* Through which names and handles the call goes, beside what the row says. */
static void order_ways(struct ordering *o, const struct event *ev, const struct subject *s)
{
	if (s->handle && !op_opens(ev->op))
		deps_life(o->deps, &s->handle->life, op_releases(ev->op) ? DEPS_END : DEPS_USE);
	if (s->handle2)
		deps_life(o->deps, &s->handle2->life, DEPS_USE);
	if (s->kept)
		deps_life(o->deps, &s->node->kept_life, DEPS_USE);
	if (s->keeps)
		deps_life(o->deps, &s->keeps->kept_life, DEPS_MAKE);
	if (s->path.size && s->dir && s->dir != s->node) {
		touch_name(o, s->dir->id, s->path, DEPS_USE);
		touch_node(o, s->dir, DEPS_USE);
	}
	if (ev->op == OP_rename && ev->result >= 0 &&
		((s->node && node_is_dir(s->node)) || (s->node2 && node_is_dir(s->node2))))
		deps_life(o->deps, &o->dir_moves, DEPS_END);
	else if (s->dir)
		deps_life(o->deps, &o->dir_moves, DEPS_USE);
}

/* What a call changes of a file that had this size before. */
static struct deps_range changes(
	const struct node *node, uint64_t offset, uint64_t size, uint64_t size_before)
{
	return (struct deps_range){
		node->id, offset, size, size_before, offset + size > size_before};
}

static void order_read(struct ordering *o, const struct event *ev, struct node *node)
{
	struct deps_range range = {.file = node->id,
		.offset = ev->offset,
		.size = (uint64_t)ev->result,
		.at_end = (uint64_t)ev->result < ev->size};

	deps_read(o->deps, node_contents(node), &range);
}

/* What is to be read should have been written by then; it need not be there. */
static void order_advice(struct ordering *o, const struct event *ev, struct node *node)
{
	uint64_t there = node->size > ev->offset ? node->size - ev->offset : 0;
	struct deps_range range = {.file = node->id,
		.offset = ev->offset,
		.size = ev->size ? min_u64(ev->size, there) : there};

	if (there)
		deps_read(o->deps, node_contents(node), &range);
}

static void order_write(struct ordering *o, const struct event *ev, const struct subject *s)
{
	struct deps_range range =
		changes(s->node, ev->offset, (uint64_t)ev->result, s->size_before);

	deps_write(o->deps, node_contents(s->node), &range);
}

static void order_fallocate(struct ordering *o, const struct event *ev, const struct subject *s)
{
	struct deps_range range = changes(s->node, ev->offset, ev->size, s->size_before);

	deps_write(o->deps, node_contents(s->node), &range);
}

static void order_copy(struct ordering *o, const struct event *ev, const struct subject *s)
{
	struct deps_range to = changes(s->node2, ev->offset2, (uint64_t)ev->result, s->size_before);

	order_read(o, ev, s->node);
	deps_write(o->deps, node_contents(s->node2), &to);
}

static void order_resize(struct ordering *o, struct node *node)
{
	if (node)
		deps_resize(o->deps, node_contents(node), &node->life);
}

static void order_names(struct ordering *o, uint64_t dir)
{
	struct node *node = scene_node(o->scene, dir);

	if (node)
		deps_change_names(o->deps, node_contents(node));
}

static struct deps_lock lock_of(const struct event *ev)
{
	bool flock = ev->op == OP_flock;

	return (struct deps_lock){
		.owner = flock ? ev->handle : ev->owner,
		.start = flock ? 0 : ev->offset,
		.end = flock || ev->size == 0 ? INT64_MAX : ev->offset + ev->size - 1,
		.exclusive = flock ? ev->mode & LOCK_EX : ev->mode == F_WRLCK,
		.unlock = flock ? ev->mode & LOCK_UN : ev->mode == F_UNLCK,
		.flock = flock,
		.granted = ev->result >= 0,
	};
}

static void order_lock(struct ordering *o, const struct event *ev, struct node *node)
{
	struct deps_lock lock = lock_of(ev);

	deps_lock(o->deps, node_contents(node), &lock);
}

/* Closing lets go of what was locked through the handle. */
static void order_implied_unlock(struct ordering *o, const struct open_file *file)
{
	struct deps_lock lock = {.end = INT64_MAX, .unlock = true, .granted = true};

	if (file->lock_owner) {
		lock.owner = file->lock_owner;
		deps_lock(o->deps, node_contents(file->node), &lock);
	}
	if (file->flocked) {
		lock.owner = file->id;
		lock.flock = true;
		deps_lock(o->deps, node_contents(file->node), &lock);
	}
}

/* A directory that could not be removed or replaced: the names in it were there. */
static void order_full(struct ordering *o, const struct event *ev, const struct subject *s)
{
	struct node *node = ev->op == OP_rmdir ? s->node : ev->op == OP_rename ? s->node2 : NULL;

	if (node && node_is_dir(node) && (ev->result == -ENOTEMPTY || ev->result == -EEXIST))
		deps_found_full(o->deps, node_contents(node));
}

/* One that failed has seen what is there, or that nothing is. */
static bool changes_attribute(const struct event *ev)
{
	return ev->result >= 0 && ev->op != OP_getxattr && ev->op != OP_listxattr;
}

static bool touches_attributes(enum op op)
{
	return op_descs[op].class == CLASS_XATTR || op == OP_chmod || op == OP_chown ||
	       op == OP_utimens;
}

/* What a successful call does to the contents of files and directories. */
static void order_success(struct ordering *o, const struct event *ev, const struct subject *s)
{
	struct node *node = s->node;

	switch (ev->op) {
	case OP_read:
		order_read(o, ev, node);
		break;
	case OP_write:
		order_write(o, ev, s);
		break;
	case OP_fallocate:
		order_fallocate(o, ev, s);
		break;
	case OP_copy_file_range:
		order_copy(o, ev, s);
		break;
	case OP_truncate:
		order_resize(o, node);
		break;
	case OP_open:
		if (ev->flags & O_TRUNC)
			order_resize(o, node);
		break;
	case OP_create:
		order_names(o, ev->dir);
		if (s->met && (ev->flags & O_TRUNC))
			order_resize(o, node);
		break;
	case OP_unlink:
		order_names(o, ev->dir);
		order_resize(o, node);
		break;
	case OP_rename:
		order_names(o, ev->dir);
		order_names(o, ev->dir2);
		if (!(ev->flags & RENAME_EXCHANGE))
			order_resize(o, s->node2);
		break;
	case OP_mknod:
	case OP_mkdir:
	case OP_rmdir:
	case OP_symlink:
	case OP_link:
		order_names(o, ev->dir);
		break;
	case OP_fsync:
	case OP_fdatasync:
	case OP_fsyncdir:
	case OP_readdir:
	case OP_lseek:
	case OP_sync_file_range:
		deps_look(o->deps, node_contents(node));
		break;
	case OP_fadvise:
	case OP_readahead:
		order_advice(o, ev, node);
		break;
	case OP_syncfs:
	case OP_sync:
		deps_everything(o->deps);
		break;
	case OP_release:
	case OP_releasedir:
		order_implied_unlock(o, s->handle);
		break;
	case OP_setxattr:
	case OP_removexattr:
	case OP_getxattr:
	case OP_listxattr:
	case OP_lookup:
	case OP_getattr:
	case OP_readlink:
	case OP_tmpfile:
	case OP_flush:
	case OP_opendir:
	case OP_statfs:
	case OP_access:
	case OP_getlk:
	case OP_setlk:
	case OP_flock:
	case OP_chmod:
	case OP_chown:
	case OP_utimens:
	case OP_ioctl:
	case OP_mmap:
	case OP_munmap:
	case OP_msync:
	case OP_madvise:
	case OP_rwf:
	case OP_batch:
	case OP_request:
	case OP_fork:
	case OP_exec:
	case OP_exit:
	case OP_phase:
	case OP_LIMIT:
		break;
	}
}

static void order_contents(struct ordering *o, const struct event *ev, const struct subject *s)
{
	struct node *node = s->node;

	if (ev->op == OP_setlk || ev->op == OP_flock)
		order_lock(o, ev, node);
	if (node && touches_attributes(ev->op))
		deps_attribute(o->deps, node_contents(node), changes_attribute(ev));
	if (ev->result < 0)
		order_full(o, ev, s);
	else
		order_success(o, ev, s);
}

/* Most calls: their row says no more than that they use a file. */
static const bool only_uses_file[OP_LIMIT] = {
	[OP_read] = true,
	[OP_write] = true,
	[OP_fsync] = true,
	[OP_fdatasync] = true,
	[OP_setlk] = true,
};

void order_event(struct ordering *o, const struct event *ev, const struct subject *s)
{
	/* What came before a mark belongs to another phase than what comes after. */
	if (o->has_phases)
		deps_life(o->deps, &o->phase, ev->op == OP_phase ? DEPS_END : DEPS_USE);
	if (only_uses_file[ev->op])
		touch_file(o, s, ev->file, DEPS_USE);
	else
		order_args(o, ev, s);
	order_ways(o, ev, s);
	if (op_opens(ev->op) && s->handle)
		deps_life(o->deps, &s->handle->life, DEPS_MAKE);
	order_contents(o, ev, s);
}
