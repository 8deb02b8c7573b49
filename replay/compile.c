/* SPDX-License-Identifier: MIT */
/*
 * One event becomes one step, or none: in four stages, each a loop over the operation's row in
 * ops.def where the row says enough.
 *
 *   check    are names, sizes and offsets such that a call may be made of them?
 *   resolve  ids -> slots. A file without a handle is reached by the name it has at this point of
 *            the trace; one that has lost its name by any handle that is open on it.
 *   advance  the picture of what exists follows the event
 *   order    the effects of the row (make, use, end) and its role for contents -> waits
 *
 * An event that fails a check or names what never was is counted as a divergence ("cannot be
 * replayed: ..."), and the trace goes on: it may come from a capture that began in the middle.
 *
 * Slots, names and files that are gone are used again or forgotten when no unfinished step can refer
 * to them any more, so memory depends on what exists at the same time, not on the trace's length.
 */
#include "compile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "bulk.h"
#include "clock.h"
#include "order.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20 /* Linux 6.9 */
#endif

#define PAGE      UINT64_C(4096)
#define MAX_NAME  255
#define MAX_VALUE 65536
#define MAX_KEPT  2000 /* files without a name whose descriptors are kept */

struct compiler {
	struct trace_reader *trace;
	const struct replay_options *options;
	struct survey survey;
	struct scene *scene;
	struct slots slots;
	struct ordering ordering;
	uint64_t call_cpu_ns, kib_cpu_ns; /* what capturing cost the caller, by call and by KiB */
	uint64_t number;                  /* of the event at hand, from 1 */
	unsigned kept;
	uint64_t raced;
	struct bulk *bulk; /* NULL: no data are stored */
	uint64_t missing;  /* of them, though an event names them */
	struct divergences unresolved;
};

/* ---- check ---- */

static bool attribute_ok(const struct event *ev)
{
	if (ev->name.size == 0 || ev->name.size > MAX_NAME ||
		memchr(ev->name.data, '\0', ev->name.size))
		return false;
	return true;
}

/* Attributes that change what a file may do are the machine's business, not a trace's. */
static bool attribute_may_change(const struct event *ev)
{
	static const char *const allowed[] = {"user.", "system.posix_acl_"};

	if (ev->op != OP_setxattr && ev->op != OP_removexattr)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		size_t n = strlen(allowed[i]);
		if (ev->name.size > n && !memcmp(ev->name.data, allowed[i], n))
			return true;
	}
	return false;
}

/* A name that was refused for its length is refused again: it never becomes part of a path. */
static bool name_ok(const struct event *ev, struct text name)
{
	return scene_name_ok(name) ||
	       (ev->result == -ENAMETOOLONG && name.size < PATH_MAX && scene_name_plain(name));
}

static bool moves_data(enum op op)
{
	return op == OP_read || op == OP_write;
}

/* Does KIND_SIZE stand for memory of ours? */
static bool size_is_buffer(enum op op)
{
	static const bool is_range[OP_LIMIT] = {
		[OP_truncate] = true,
		[OP_fallocate] = true,
		[OP_getlk] = true,
		[OP_setlk] = true,
		[OP_sync_file_range] = true,
		[OP_fadvise] = true,
		[OP_readahead] = true,
	};

	return !is_range[op];
}

static const char *check_text(const struct event *ev, const struct op_arg *arg)
{
	if (arg->kind == KIND_BYTES)
		return event_text(ev, arg)->size > MAX_VALUE ? "its value is too long" : NULL;
	if (arg->effect == EFFECT_NONE)
		return !attribute_ok(ev)           ? "the name of the attribute is malformed"
		       : !attribute_may_change(ev) ? "such attributes are not replayed"
		                                   : NULL;
	return name_ok(ev, *event_text(ev, arg)) ? NULL : "a name in it is not a plain name";
}

static const char *check_texts(const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];
	const char *why = NULL;

	for (unsigned i = 0; i < op->arg_count && !why; i++)
		if (arg_is_text(&op->args[i]))
			why = check_text(ev, &op->args[i]);
	return why;
}

/* Slots that the operation does not have are 0. */
static const char *check_event(const struct event *ev)
{
	if (ev->offset > INT64_MAX || ev->offset2 > INT64_MAX)
		return "its offset is out of range";
	if (ev->size > (size_is_buffer(ev->op) ? PLAN_MAX_BYTES : INT64_MAX))
		return "its size is out of range";
	return moves_data(ev->op) ? NULL : check_texts(ev);
}

/* ---- resolve ---- */

static const char *resolve_dir(
	struct compiler *c, uint64_t id, struct node **ret, uint32_t *ret_slot)
{
	struct node *dir = scene_node(c->scene, id);

	if (!dir)
		return "its directory is not known";
	*ret_slot = slots_dir(&c->slots, dir);
	if (*ret_slot == SLOT_NONE)
		return node_is_dir(dir) ? "its directory has no name any more"
		                        : "its directory is not a directory";
	*ret = dir;
	return NULL;
}

/* Operations that have a form by path; the others need the handle. */
static const bool has_path_form[OP_LIMIT] = {
	[OP_getattr] = true,
	[OP_readlink] = true,
	[OP_open] = true,
	[OP_opendir] = true,
	[OP_statfs] = true,
	[OP_setxattr] = true,
	[OP_getxattr] = true,
	[OP_listxattr] = true,
	[OP_removexattr] = true,
	[OP_access] = true,
	[OP_truncate] = true,
	[OP_chmod] = true,
	[OP_chown] = true,
	[OP_utimens] = true,
	[OP_link] = true,
};

/* Those of them that Linux can also do on a descriptor. */
static const bool has_handle_form[OP_LIMIT] = {
	[OP_getattr] = true,
	[OP_setxattr] = true,
	[OP_getxattr] = true,
	[OP_listxattr] = true,
	[OP_removexattr] = true,
	[OP_truncate] = true,
	[OP_chmod] = true,
	[OP_chown] = true,
	[OP_utimens] = true,
	[OP_link] = true,
};

/* Any handle that will do for a file without a name. */
static struct open_file *other_handle(const struct node *node, enum op op)
{
	for (struct open_file *f = node->handles; f; f = f->next)
		if (op != OP_truncate || (f->flags & O_ACCMODE) != O_RDONLY)
			return f;
	return NULL;
}

/* Its last name went while others were on their way to it: by what was kept of it then. */
static bool resolve_kept(const struct node *node, struct subject *s, struct draft *d)
{
	if (node->names.count || node->kept == SLOT_NONE)
		return false;
	d->step->bits |= STEP_KEPT;
	d->step->handle = node->kept;
	s->kept = true;
	return true;
}

/* (directory, name) of ev->file into dir and path. */
static const char *resolve_path(
	struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	struct node *node = s->node;

	if (!node)
		return "its file is not known";
	if (resolve_kept(node, s, d))
		return NULL;
	d->step->bits |= STEP_BY_PATH;
	s->by_path = true;
	if (node_is_dir(node)) {
		s->path = (struct text){".", 1};
		return resolve_dir(c, node->id, &s->dir, &d->args.dir);
	}
	if (node->names.count > 0) {
		const struct node_name *name = &node->names.at[node->names.count - 1];
		s->path = (struct text){name->text, strlen(name->text)};
		return resolve_dir(c, name->dir, &s->dir, &d->args.dir);
	}
	d->step->bits &= (uint8_t)~STEP_BY_PATH;
	s->by_path = false;
	s->handle = has_handle_form[ev->op] ? other_handle(node, ev->op) : NULL;
	if (!s->handle)
		return "its file has no name any more";
	d->step->handle = s->handle->slot;
	return NULL;
}

/* Only the directory counts: statfs is asked of the file system. */
static const char *resolve_statfs(struct compiler *c, struct subject *s, struct draft *d)
{
	struct node *node = s->node;

	if (node && !node_is_dir(node) && node->names.count)
		node = scene_node(c->scene, node->names.at[node->names.count - 1].dir);
	return resolve_dir(c, node ? node->id : TREE_ROOT, &s->dir, &d->args.dir);
}

static const char *resolve_named_dirs(
	struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	const struct op_desc *op = &op_descs[ev->op];
	const char *why = NULL;

	for (unsigned i = 0; i < op->arg_count && !why; i++) {
		size_t at = op->args[i].at;
		if (at == offsetof(struct event, dir))
			why = resolve_dir(c, ev->dir, &s->dir, &d->args.dir);
		else if (at == offsetof(struct event, dir2))
			why = resolve_dir(c, ev->dir2, &s->dir2, &d->args.dir2);
	}
	return why;
}

static bool has_named_dir(enum op op)
{
	for (unsigned i = 0; i < op_descs[op].arg_count; i++)
		if (op_descs[op].args[i].at == offsetof(struct event, dir))
			return true;
	return false;
}

/* link: the new name is in the row, the old one is the file's. */
static const char *resolve_link(
	struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	const char *why = resolve_dir(c, ev->dir, &s->dir2, &d->args.dir2);

	if (!why)
		why = resolve_path(c, ev, s, d);
	d->name2 = ev->name;
	return why;
}

static const char *resolve_handle(
	struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	s->handle = scene_handle(c->scene, ev->handle);
	if (!s->handle)
		return "its handle was never opened";
	d->step->handle = s->handle->slot;
	s->node = s->handle->node;
	if (ev->op != OP_copy_file_range)
		return NULL;
	s->handle2 = scene_handle(c->scene, ev->handle2);
	if (!s->handle2)
		return "its second handle was never opened";
	d->args.handle2 = s->handle2->slot;
	s->node2 = s->handle2->node;
	return NULL;
}

/* A slot for the handle that a successful open makes. One that failed has none: should it succeed
 * here, it is closed at once. */
static const char *resolve_new_handle(struct compiler *c, const struct event *ev, struct draft *d)
{
	if (ev->result < 0)
		return NULL;
	if (!ev->handle || scene_handle(c->scene, ev->handle))
		return "its handle is not a new one";
	uint32_t slot = slots_handle(&c->slots);
	if (d->step->bits & STEP_KEPT) /* which is in `handle` */
		d->args.handle2 = slot;
	else
		d->step->handle = slot;
	return slot == SLOT_NONE ? "too many handles are open" : NULL;
}

static const char *resolve(
	struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	const char *why = NULL;

	if (ev->handle && !op_opens(ev->op)) {
		why = resolve_handle(c, ev, s, d);
		s->size_before = why ? 0 : (s->node2 ? s->node2 : s->node)->size;
		return why;
	}
	s->node = ev->file ? scene_node(c->scene, ev->file) : NULL;
	s->node2 = ev->file2 ? scene_node(c->scene, ev->file2) : NULL;
	s->met = s->node != NULL;
	if (ev->op == OP_link)
		why = resolve_link(c, ev, s, d);
	else if (ev->op == OP_statfs || ev->op == OP_sync)
		why = resolve_statfs(c, s, d);
	else if (has_named_dir(ev->op))
		why = resolve_named_dirs(c, ev, s, d);
	else if (has_path_form[ev->op])
		why = resolve_path(c, ev, s, d);
	else if (ev->op != OP_phase)
		why = "it has no handle";
	if (!why && op_opens(ev->op))
		why = resolve_new_handle(c, ev, d);
	return why;
}

/* ---- fill in ---- */

/* By handle, these have all they need in the step itself. */
static const bool is_plain[OP_LIMIT] = {
	[OP_getattr] = true,
	[OP_read] = true,
	[OP_write] = true,
	[OP_release] = true,
	[OP_fsync] = true,
	[OP_fdatasync] = true,
	[OP_readdir] = true,
	[OP_releasedir] = true,
	[OP_fsyncdir] = true,
	[OP_getlk] = true,
	[OP_setlk] = true,
	[OP_flock] = true,
	[OP_fallocate] = true,
	[OP_truncate] = true,
	[OP_lseek] = true,
	[OP_sync_file_range] = true,
	[OP_fadvise] = true,
	[OP_readahead] = true,
	[OP_syncfs] = true,
};

/* What this one call asked for beyond the way its file was opened. */
static uint32_t write_flags(
	const struct event *ev, const struct open_file *file, uint64_t size_before)
{
	uint32_t extra = (uint32_t)ev->flags & ~file->flags, rwf = 0;

	/* Not where the end is: pages of a mapping, or the end moved before it was written. */
	if ((file->flags & O_APPEND) && ev->offset != size_before)
		rwf |= RWF_NOAPPEND;
	if (extra & O_APPEND)
		rwf |= RWF_APPEND;
	if ((extra & O_SYNC) == O_SYNC)
		rwf |= RWF_SYNC;
	else if (extra & O_DSYNC)
		rwf |= RWF_DSYNC;
	return rwf;
}

static uint32_t step_flags(const struct event *ev, const struct subject *s)
{
	if (ev->op == OP_write)
		return write_flags(ev, s->handle, s->size_before);
	if (ev->op == OP_read)
		return 0;
	if (ev->op == OP_rename)
		return (uint32_t)ev->flags & (RENAME_NOREPLACE | RENAME_EXCHANGE);
	return (uint32_t)ev->flags;
}

static bool syncs(const struct event *ev, const struct subject *s)
{
	if (ev->op == OP_write)
		return ((uint32_t)ev->flags | s->handle->flags) & O_DSYNC;
	return op_descs[ev->op].class == CLASS_SYNC;
}

static enum file_class class_of(const struct event *ev, const struct subject *s)
{
	if (s->node)
		return (enum file_class)s->node->file_class;
	if (ev->op == OP_mkdir || ev->op == OP_rmdir || ev->op == OP_statfs || ev->op == OP_sync)
		return FILE_DIRECTORY;
	if (ev->op == OP_tmpfile)
		return FILE_TEMP;
	return ev->name.size ? file_class_of(ev->name) : FILE_OTHER;
}

static uint32_t slot_if_dir(const struct node *node)
{
	return node && node_is_dir(node) ? node->dir_slot : SLOT_NONE;
}

static void fill_args(const struct event *ev, const struct subject *s, struct draft *d)
{
	struct step_args *args = &d->args;

	d->has_args = true;
	args->made_dir = slot_if_dir(s->node);
	args->other_dir = slot_if_dir(s->node2);
	args->mode = (uint32_t)ev->mode;
	args->uid = (uint32_t)ev->uid;
	args->gid = (uint32_t)ev->gid;
	args->rdev = ev->rdev;
	args->offset2 = ev->offset2;
	args->atime = ev->atime;
	args->mtime = ev->mtime;
	args->command = ev->command;
	d->value = ev->value;
	if (s->path.size)
		d->name = s->path;
	else if (op_descs[ev->op].class == CLASS_XATTR)
		d->attribute = ev->name;
	else
		d->name = ev->name;
	if (op_descs[ev->op].class == CLASS_XATTR)
		d->attribute = ev->name;
	if (ev->op == OP_rename)
		d->name2 = ev->name2;
}

/* What the call wrote, if it is stored; what it did not get to write is zeros. Page-aligned, as O_DIRECT
 * wants it. */
static void fill_data(struct compiler *c, const struct event *ev, struct draft *d)
{
	if (ev->op != OP_write || !ev->data || ev->result <= 0 || !c->bulk ||
		(uint64_t)ev->result > ev->size)
		return;
	uint64_t room = (ev->size + 4095) & ~UINT64_C(4095);
	void *data = xaligned(4096, room);
	if (bulk_read(c->bulk, ev->data, data, (uint64_t)ev->result) != ev->result) {
		free(data);
		c->missing++;
		return;
	}
	memset((char *)data + ev->result, 0, room - (uint64_t)ev->result);
	d->data = data;
	d->step->data = data;
}

static void fill(
	struct compiler *c, const struct event *ev, const struct subject *s, struct draft *d)
{
	struct step *step = d->step;

	step->op = (uint8_t)ev->op;
	step->offset = ev->offset;
	step->size = ev->size;
	step->expect = ev->result;
	step->number = c->number;
	step->mode = (uint16_t)ev->mode;
	step->content = (uint8_t)min_u64(ev->content, UINT8_MAX);
	step->flags = step_flags(ev, s);
	step->file_class = (uint8_t)class_of(ev, s);
	if (ev->op == OP_write && survey_is_mapped(ev) && (s->handle->flags & O_DIRECT))
		step->bits |= STEP_CACHED;
	if (syncs(ev, s))
		step->bits |= STEP_SYNCS;
	if (!is_plain[ev->op] || s->by_path || s->kept)
		fill_args(ev, s, d);
}

/* ---- advance ---- */

/*
 * POSIX lets a process take a lock through one descriptor and drop it through another; locks of open
 * files do not. So all locks of one owner on one file go through the handle that it locked with
 * first.
 */
static void choose_lock_handle(const struct event *ev, struct subject *s, struct draft *d)
{
	if (ev->op == OP_flock)
		s->handle->flocked = true;
	if ((ev->op != OP_setlk && ev->op != OP_getlk) || !ev->owner)
		return;
	for (struct open_file *f = s->node->handles; f; f = f->next)
		if (f->lock_owner == ev->owner) {
			s->handle = f;
			d->step->handle = f->slot;
			return;
		}
	if (ev->op == OP_setlk && !s->handle->lock_owner)
		s->handle->lock_owner = ev->owner;
}

/* What exists after the event. Things that ended stay until retired. */
static void advance(struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	if (s->handle && ev->thread)
		s->handle->thread = ev->thread;
	if (s->handle)
		choose_lock_handle(ev, s, d);
	scene_event_on(c->scene, ev, s->node);
	if (ev->result < 0)
		return;
	if (!s->node && ev->file)
		s->node = scene_node(c->scene, ev->file);
	if (op_opens(ev->op) && s->node) {
		s->handle = scene_open(c->scene, ev->handle, s->node);
		s->handle->slot = s->kept ? d->args.handle2 : d->step->handle;
		s->handle->flags = (uint32_t)ev->flags;
		s->handle->thread = ev->thread;
	}
}

/* The file loses its last name here, but it will be asked for by name once more. */
static void keep_orphan(
	struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	struct node *node = ev->op == OP_rename                         ? s->node2
	                    : ev->op == OP_unlink || ev->op == OP_rmdir ? s->node
	                                                                : NULL;

	if (!node || ev->result < 0 || node->names.count || node->kept != SLOT_NONE ||
		!map_get(&c->survey.orphans, node->id, 0) || c->kept == MAX_KEPT)
		return;
	node->kept = slots_handle(&c->slots);
	if (node->kept == SLOT_NONE)
		return;
	c->kept++;
	d->step->bits |= STEP_KEEPS;
	d->step->handle = node->kept;
	s->keeps = node;
}

/* Directories that lost their name lose their slot too. */
static void retire_dir(struct compiler *c, struct node *node)
{
	if (node && node_is_dir(node) && !node->names.count)
		slots_retire_dir(&c->slots, node);
}

static void retire_ended(struct compiler *c, const struct event *ev, struct subject *s)
{
	if (ev->result < 0)
		return;
	if (op_releases(ev->op)) {
		slots_retire_handle(&c->slots, s->handle->slot);
		scene_close(c->scene, s->handle);
		if (!s->node->names.count && !s->node->handles)
			slots_retire_node(&c->slots, s->node);
	}
	retire_dir(c, s->node);
	retire_dir(c, s->node2);
}

/* ---- reading ahead ---- */

/*
 * On the pass-through a file is read ahead by page reads that the kernel makes by itself. Where the
 * advice is in the trace, the replay gives it again, and its kernel will read by itself as well.
 */
static void note_advice(struct node *node, const struct event *ev)
{
	bool wanted =
		ev->op == OP_readahead || (ev->op == OP_fadvise && ev->mode == POSIX_FADV_WILLNEED);

	if (!wanted || !node || ev->result < 0)
		return;
	if (!node->advices)
		node->advices = ALLOC(struct advices);
	uint64_t place = node->advices->count++ % ADVICES;
	node->advices->at[place].start = ev->offset & ~(PAGE - 1);
	node->advices->at[place].end =
		ev->size ? (ev->offset + ev->size + PAGE - 1) & ~(PAGE - 1) : UINT64_MAX;
	node->advices->at[place].until_ns = event_end_ns(ev) + NSEC_PER_SEC;
}

static bool was_advised(const struct compiler *c, const struct event *ev)
{
	const struct node *node = NULL;

	if (ev->op == OP_read && survey_is_mapped(ev))
		node = scene_node(c->scene, ev->file);
	if (!node || !node->advices)
		return false;
	for (size_t i = 0; i < min_u64(node->advices->count, ADVICES); i++)
		if (ev->offset >= node->advices->at[i].start &&
			ev->offset + ev->size <= node->advices->at[i].end &&
			ev->start_ns <= node->advices->at[i].until_ns)
			return true;
	return false;
}

/* ---- the whole ---- */

/* Whose lanes: the last user's of the handle where the kernel closes it later. NULL: nobody's. */
static struct thread_lanes *thread_of(
	struct compiler *c, const struct event *ev, const struct subject *s)
{
	uint32_t thread = ev->thread ? ev->thread : s->handle ? s->handle->thread : 0;

	if (thread >= c->survey.threads.count || !c->survey.threads.at[thread].lanes.count)
		return NULL;
	return &c->survey.threads.at[thread];
}

/* CPU time of this call's thread since its previous call began, without what capturing that one cost. */
static void add_cpu(struct compiler *c, const struct event *ev)
{
	struct thread_lanes *t = &c->survey.threads.at[ev->thread];
	uint64_t cost = c->call_cpu_ns + t->carried * c->kib_cpu_ns / 1024;

	if (ev->cpu_ns > cost)
		t->cpu_ns += ev->cpu_ns - cost;
	t->carried = moves_data(ev->op) && ev->result > 0 ? (uint64_t)ev->result : 0;
}

static uint64_t take_cpu(struct compiler *c, const struct event *ev)
{
	struct thread_lanes *t = &c->survey.threads.at[ev->thread];
	uint64_t ns = t->cpu_ns;

	t->cpu_ns = 0;
	return c->options->mode == MODE_PACED ? ns : 0;
}

static void order(struct compiler *c, const struct event *ev, struct subject *s, struct draft *d)
{
	struct step *step = d->step;
	bool release = op_releases(ev->op);

	struct thread_lanes *t = thread_of(c, ev, s);
	step->lane = t ? t->lanes.at[survey_lane(t, ev)] : 0;
	deps_begin(c->ordering.deps, step->lane, ev->start_ns);
	for (size_t i = 0; t && t->lanes.count > 1 && i < t->lanes.count; i++)
		deps_lane(c->ordering.deps, t->lanes.at[i]);
	order_event(&c->ordering, ev, s);
	step->progress = deps_end(
		c->ordering.deps, release ? 0 : event_end_ns(ev), &step->waits, &step->wait_count);
}

/* Most calls have all they need in the step; only the others pay for the rest. */
static void draft_init(struct draft *d, const struct event *ev)
{
	*d->step = (struct step){.handle = SLOT_NONE};
	d->has_args = false;
	d->data = NULL;
	if (is_plain[ev->op] && ev->handle)
		return;
	d->args = (struct step_args){.dir = SLOT_NONE, .dir2 = SLOT_NONE, .handle2 = SLOT_NONE};
	d->name = d->name2 = d->attribute = d->value = (struct text){0};
}

/* Is or was its size changed at about this time? By whom may be known later only. */
static bool size_moves(const struct compiler *c, const struct event *ev, const struct node *node)
{
	if (node->resized_ns >= ev->start_ns || map_get(&c->survey.cut, node->id, 0))
		return true;
	for (const struct open_file *f = node->handles; f; f = f->next)
		if ((f->flags & O_ACCMODE) != O_RDONLY)
			return true;
	return false;
}

/*
 * A read that overlapped with a call that changed the file's size, and ended in the wrong order: what
 * it read is not what the file has at this point of the trace.
 */
static bool raced(const struct compiler *c, const struct event *ev, const struct node *node)
{
	bool reads = ev->op == OP_read || ev->op == OP_copy_file_range;

	if (!reads || ev->result < 0 || !node || !S_ISREG(node->mode))
		return false;
	if (ev->event_flags & EVENT_RACED)
		return true;
	uint64_t there = node->size > ev->offset ? node->size - ev->offset : 0;
	return (uint64_t)ev->result != min_u64(there, ev->size) && size_moves(c, ev, node);
}

/* True if the event has become a step. */
static bool compile_event(struct compiler *c, const struct event *ev, struct draft *d)
{
	struct subject s = {0};

	if (moves_data(ev->op))
		deps_prefetch(c->ordering.deps, ev->file, ev->offset);
	draft_init(d, ev);
	const char *why = check_event(ev);
	if (!why)
		why = resolve(c, ev, &s, d);
	if (why) {
		divergence_unresolved(&c->unresolved, ev->op, c->number, why);
		scene_event(c->scene, ev);
		return false;
	}
	fill(c, ev, &s, d);
	note_advice(s.node, ev);
	fill_data(c, ev, d);
	if (raced(c, ev, s.node)) {
		d->step->bits |= STEP_RACED;
		c->raced++;
	}
	advance(c, ev, &s, d);
	keep_orphan(c, ev, &s, d);
	d->step->cpu_ns = take_cpu(c, ev);
	order(c, ev, &s, d);
	retire_ended(c, ev, &s);
	c->slots.step++;
	return true;
}

/* An event that is not replayed still says who closed a descriptor. */
static void skip_event(struct compiler *c, const struct event *ev)
{
	struct open_file *file = ev->handle ? scene_handle(c->scene, ev->handle) : NULL;

	if (file && ev->thread)
		file->thread = ev->thread;
	scene_event(c->scene, ev);
}

int compiler_next(struct compiler *c, uint64_t oldest, struct draft *ret, struct error *err)
{
	struct event ev;
	int r;

	slots_reuse(&c->slots, oldest);
	while ((r = trace_reader_next(c->trace, &ev, err)) == 1) {
		if (ev.thread >= c->survey.threads.count)
			return error_set(err, 0, "the trace changed while it was read");
		c->number++;
		add_cpu(c, &ev);
		if (!survey_is_step(&ev) || was_advised(c, &ev))
			skip_event(c, &ev);
		else if (compile_event(c, &ev, ret))
			return 1;
	}
	return r;
}

static int read_tree(struct compiler *c, struct error *err)
{
	struct tree_entry entry;
	int r = trace_reader_rewind(c->trace, err);

	while (r == 0 && (r = trace_reader_tree(c->trace, &entry, err)) == 1) {
		r = 0;
		scene_tree(c->scene, &entry);
	}
	return r;
}

/* A time from the description of the capture, bounded: it may come from a stranger. */
static uint64_t meta_ns(const struct trace_reader *trace, const char *key)
{
	json_int_t ns = json_integer_value(json_object_get(trace_reader_meta(trace), key));

	return ns > 0 ? min_u64((uint64_t)ns, NSEC_PER_MSEC) : 0;
}

/* Did a probe keep the CPU clocks? */
static bool is_exact(const struct trace_reader *trace)
{
	const char *clock =
		json_string_value(json_object_get(trace_reader_meta(trace), "cpu_clock"));

	return clock && !strcmp(clock, "exact");
}

int compiler_new(struct compiler **ret, struct trace_reader *trace,
	const struct replay_options *options, struct files *files, uint64_t window,
	struct error *err)
{
	struct compiler *c = ALLOC(struct compiler);

	c->trace = trace;
	c->options = options;
	c->kib_cpu_ns = meta_ns(trace, "client_cpu_ns_per_kib");
	c->scene = scene_new();
	slots_init(&c->slots, c->scene, files);
	int r = read_tree(c, err);
	if (r == 0)
		r = bulk_of_trace(&c->bulk, trace, err);
	if (r == 0)
		r = survey_trace(&c->survey, trace, err);
	if (r < 0) {
		compiler_free(c);
		return r;
	}
	c->call_cpu_ns = is_exact(trace) ? think_residue(&c->survey.think)
	                                 : think_call_cost(&c->survey.think,
						   meta_ns(trace, "client_cpu_ns"));
	c->ordering.deps = deps_new(options->order, c->survey.lane_count, window);
	c->ordering.scene = c->scene;
	c->ordering.slots = &c->slots;
	c->ordering.has_phases = c->survey.by_op[OP_phase] > 0;
	*ret = c;
	return 0;
}

void compiler_free(struct compiler *c)
{
	if (!c)
		return;
	survey_done(&c->survey);
	scene_free(c->scene);
	deps_free(c->ordering.deps);
	life_done(&c->ordering.dir_moves);
	life_done(&c->ordering.phase);
	divergence_free(&c->unresolved);
	slots_done(&c->slots);
	bulk_close(c->bulk);
	free(c);
}

const struct survey *compiler_survey(const struct compiler *c)
{
	return &c->survey;
}

const struct divergences *compiler_unresolved(const struct compiler *c)
{
	return &c->unresolved;
}

uint64_t compiler_missing(const struct compiler *c)
{
	return c->missing;
}

uint64_t compiler_raced(const struct compiler *c)
{
	return c->raced;
}

const struct deps_stats *compiler_waits(const struct compiler *c)
{
	return deps_stats(c->ordering.deps);
}
