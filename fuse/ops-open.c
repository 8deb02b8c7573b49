/* SPDX-License-Identifier: MIT */
/* Open files and directories: from open() or creat() to the last close(). */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "lower.h"
#include "ops.h"
#include "reply.h"

/* Entries are read from below into this much of the worker's memory, and answered from the rest. */
#define DIR_BYTES (256u << 10)

struct dirent64_below {
	uint64_t ino;
	int64_t next;
	uint16_t size;
	uint8_t type;
	char name[];
};

static uint64_t next_handle(struct capture *c)
{
	return ++c->last_handle;
}

/* Where the kernel cannot map files on direct I/O, the file SQLite maps goes through its cache. */
static bool needs_cache(const struct capture *c, const struct inode *i)
{
	return !c->kernel.allow_mmap && inode_name_ends(c->inodes, i, "-shm");
}

static void set_opened(struct scope *rec, struct handle *h)
{
	rec->ev.file = inode_id(h->inode);
	rec->ev.handle = h->id;
	h->thread = rec->ev.thread;
}

/* Before the application has it. */
static void remember(struct capture *c, const struct handle *h)
{
	const struct opened_file what = {inode_id(h->inode), h->id};

	if (c->opened)
		opened_add(c->opened, (uintptr_t)h, what, now_ns());
}

/* A descriptor more than the system gives: one try more with more room. */
static bool make_room(const struct capture *c, int fd)
{
	if (fd != -EMFILE)
		return false;
	handle_table_shrink(c->handles);
	inode_table_shrink(c->inodes);
	return true;
}

static int open_once(struct capture *c, int path_fd, int flags)
{
	int fd = lower_reopen(path_fd, flags);

	return make_room(c, fd) ? lower_reopen(path_fd, flags) : fd;
}

/* O_APPEND is the kernel's affair, but a file that may only grow can be opened no other way. */
static int open_below(struct capture *c, int path_fd, int flags, int wanted)
{
	if (!handle_table_room(c->handles))
		return -ENFILE;
	int fd = open_once(c, path_fd, flags);

	return fd == -EPERM && (wanted & O_APPEND) ? open_once(c, path_fd, flags | O_APPEND) : fd;
}

static int create_once(int dir, const char *name, int flags, mode_t mode, const struct caller *as)
{
	return name ? lower_create(dir, name, flags, mode, as)
	            : lower_tmpfile(dir, flags, mode, as);
}

static int create_below(struct capture *c, int dir, const char *name, int flags, mode_t mode,
	const struct caller *as)
{
	if (!handle_table_room(c->handles))
		return -ENFILE;
	int fd = create_once(dir, name, flags, mode, as);

	return make_room(c, fd) ? create_once(dir, name, flags, mode, as) : fd;
}

static int create_file(struct scope *rec, struct inode *dir, const char *name, mode_t mode,
	int flags, struct inode **ret, struct stat *st, struct handle **ret_handle)
{
	struct capture *c = rec->worker->capture;
	struct caller as = reply_caller(rec->req);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, dir);

	rec->ev.mode = mode & ~as.umask;
	rec->ev.uid = as.uid;
	rec->ev.gid = as.gid;
	if (pin.fd < 0)
		return pin.fd;
	int below = handle_flags_below(flags, c->strip_direct);
	int fd = create_below(c, pin.fd, name, below, mode, &as);
	if (fd < 0)
		return fd;
	int r = inode_adopt(c->inodes, dir, name, fd, ret, st);
	if (r < 0) {
		close(fd);
		return r;
	}
	inode_changed(dir);
	/* Somebody else made a pipe of that name, in the moment since the kernel looked. */
	if (!S_ISREG(st->st_mode)) {
		inode_forget(c->inodes, *ret, 1);
		close(fd);
		return -ESTALE;
	}
	*ret_handle = handle_new(c->handles, *ret, next_handle(c), fd, flags);
	return 0;
}

static void reply_create(
	struct scope *rec, struct inode *i, const struct stat *st, struct handle *h)
{
	struct capture *c = rec->worker->capture;
	struct fuse_entry_param e = reply_entry_param(c, i, st);

	set_opened(rec, h);
	remember(c, h);
	scope_result(rec, 0);
	if (kernel_reply_create(rec->req, &e, (uintptr_t)h, needs_cache(c, i)) != -ENOENT)
		return;
	handle_free(h);
	inode_forget(c->inodes, i, 1);
}

void op_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct inode *dir = inode_of(c->inodes, parent);
	bool nameless = kernel_call()->is_tmpfile;
	struct inode *i;
	struct stat st;
	struct handle *h;

	RECORD(rec, req, create);
	rec.ev.op = nameless ? OP_tmpfile : OP_create;
	rec.ev.dir = inode_id(dir);
	rec.ev.flags = (unsigned)fi->flags;
	if (nameless)
		name = NULL;
	else
		rec.ev.name = (struct text){name, strlen(name)};
	int r = create_file(&rec, dir, name, mode, fi->flags, &i, &st, &h);
	if (r < 0)
		reply_error(&rec, r);
	else
		reply_create(&rec, i, &st, h);
}

static void open_any(struct scope *rec, fuse_ino_t ino, int flags, int below)
{
	struct capture *c = rec->worker->capture;
	struct inode *i = inode_of(c->inodes, ino);
	bool drop_set_id = kernel_call()->kill_suid && (flags & O_TRUNC) && inode_has_set_id(i);

	rec->ev.file = inode_id(i);
	rec->ev.flags = (unsigned)flags;
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	if (drop_set_id)
		caller_drop_fsetid();
	int fd = pin.fd < 0 ? pin.fd : open_below(c, pin.fd, below, flags);
	if (drop_set_id)
		caller_regain_fsetid();
	if (fd < 0) {
		reply_error(rec, fd);
		return;
	}
	if (drop_set_id)
		reply_lost_set_id(c, i, fd);
	struct handle *h = handle_new(c->handles, i, next_handle(c), fd, flags);
	set_opened(rec, h);
	remember(c, h);
	scope_result(rec, 0);
	if (kernel_reply_open(rec->req, (uintptr_t)h, needs_cache(c, i)) == -ENOENT)
		handle_free(h);
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);

	RECORD(rec, req, open);
	open_any(&rec, ino, fi->flags, handle_flags_below(fi->flags, c->strip_direct));
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	RECORD(rec, req, opendir);
	open_any(&rec, ino, fi->flags, O_RDONLY | O_DIRECTORY);
}

/* The file system below learns of every close(), if it wants to know. */
static int flush_below(const struct capture *c, struct handle *h)
{
	if (!c->flush_below || (h->flags & O_ACCMODE) == O_RDONLY)
		return 0;
	auto_use struct handle_use use = handle_use_any(h);
	return use.fd < 0 ? use.fd : lower_flush(use.fd);
}

void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct handle *h = handle_of(fi);
	struct lock_answers tell = {0};

	{
		RECORD(rec, req, flush);
		set_opened(&rec, h);
		/* POSIX: closing any descriptor of a file drops the process's locks on it. */
		locks_drop_owner(c->locks, h->inode, kernel_call()->owner, &rec, &tell);
		reply_error(&rec, flush_below(c, h));
	}
	locks_answer(c->locks, &tell);
}

static void release(struct scope *rec, struct handle *h, struct lock_answers *tell)
{
	struct capture *c = rec->worker->capture;

	rec->ev.file = inode_id(h->inode);
	rec->ev.handle = h->id;
	/* Sent for nobody, but it is what a program's last close() does. */
	rec->ev.thread = h->thread;
	rec->ev.event_flags &= ~(unsigned)EVENT_DERIVED;
	locks_drop_handle(c->locks, h->inode, h, rec, tell);
	/* The descriptor first: close() may take time (delayed allocation), and it is this call's,
	 * unless locks that it ended had to be logged before. */
	handle_free(h);
	reply_error(rec, 0);
}

void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct lock_answers tell = {0};

	{
		RECORD(rec, req, release);
		release(&rec, handle_of(fi), &tell);
	}
	locks_answer(c->locks, &tell);
}

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct lock_answers tell = {0};

	{
		RECORD(rec, req, releasedir);
		release(&rec, handle_of(fi), &tell);
	}
	locks_answer(c->locks, &tell);
}

/* As many of the entries in `below` as fit; their bytes, and how many in *ret_count. */
static size_t convert(fuse_req_t req, struct handle *h, const char *below, ssize_t below_size,
	char *out, size_t room, uint64_t *ret_count)
{
	size_t used = 0;

	for (ssize_t at = 0; at < below_size;) {
		const struct dirent64_below *d = (const void *)(below + at);
		struct stat st = {.st_ino = d->ino, .st_mode = (mode_t)DTTOIF(d->type)};
		size_t size =
			fuse_add_direntry(req, out + used, room - used, d->name, &st, d->next);
		if (size > room - used) {
			h->dir_at = -1;
			return used;
		}
		used += size;
		at += d->size;
		h->dir_at = d->next;
		++*ret_count;
	}
	return used;
}

static ssize_t read_entries(fuse_req_t req, struct handle *h, struct worker *w, off_t offset,
	size_t size, uint64_t *ret_count)
{
	char *out = w->data + DIR_BYTES;
	auto_use struct handle_use use = handle_use_any(h);
	ssize_t used;

	if (use.fd < 0)
		return use.fd;
	pthread_mutex_lock(&h->lock);
	off_t at = h->dir_at == offset ? offset : lower_seek(use.fd, offset, SEEK_SET);
	ssize_t n = at < 0 ? at : lower_read_dir(use.fd, w->data, min_u64(size, DIR_BYTES));
	used = n < 0 ? n : (ssize_t)convert(req, h, w->data, n, out, size, ret_count);
	pthread_mutex_unlock(&h->lock);
	return used;
}

void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	struct worker *w = worker_self();
	uint64_t count = 0;

	RECORD(rec, req, readdir);
	set_opened(&rec, h);
	rec.ev.offset = (uint64_t)offset;
	rec.ev.size = size;
	size = min_u64(size, kernel_max_data() - DIR_BYTES);
	ssize_t used = read_entries(req, h, w, offset, size, &count);
	scope_result(&rec, used < 0 ? used : (ssize_t)count);
	if (used < 0)
		fuse_reply_err(req, (int)-used);
	else
		fuse_reply_buf(req, w->data + DIR_BYTES, (size_t)used);
}
