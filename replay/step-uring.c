/* SPDX-License-Identifier: MIT */
/*
 * The same calls as step-sync.c, as submissions to a ring.
 *
 * A row per operation that io_uring carries: its opcode, how its file is reached, and the function
 * that fills the submission. An operation without a row, an opcode that this kernel does not know
 * (asked once), a call that is too long for one buffer or a file that cannot be reached all mean
 * "not in the ring here": the caller makes the blocking call, which gives the right result or the
 * right error.
 *
 * Only plain descriptors are used: registered files keep a mount busy for a while after the ring is
 * gone. Directories stay pinned from prep to done.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "step.h"

/* In the kernel since 6.9, in liburing since 2.6. */
#define OPCODE_FTRUNCATE 55

/* One submission in the making: what the step's slots have turned into. */
struct call {
	struct io_uring_sqe *sqe;
	struct replay_context *ctx;
	const struct step *step;
	struct open_how *how;
	int fd;  /* of the handle, or of args->dir */
	int fd2; /* of args->dir2 */
};

/* How the file of an operation is reached. */
enum reach {
	BY_HANDLE, /* not at all if the step has none */
	TAKE_HANDLE,
	BY_DIR,
	BY_DIRS, /* dir and dir2 */
	BY_EITHER,
};

struct form {
	uint8_t opcode;
	uint8_t reach; /* enum reach */
	bool (*prep)(const struct call *c);
};

static bool prep_statx(const struct call *c)
{
	bool by_path = c->step->op == OP_lookup || (c->step->bits & STEP_BY_PATH);
	const char *name = by_path ? c->step->args->name : "";
	int flags = by_path ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;

	io_uring_prep_statx(c->sqe, c->fd, name, flags, STATX_BASIC_STATS, c->ctx->buffer);
	return true;
}

static bool prep_mkdir(const struct call *c)
{
	io_uring_prep_mkdirat(c->sqe, c->fd, c->step->args->name, step_mode(c->ctx, c->step));
	return true;
}

static bool prep_unlink(const struct call *c)
{
	int flags = c->step->op == OP_rmdir ? AT_REMOVEDIR : 0;

	io_uring_prep_unlinkat(c->sqe, c->fd, c->step->args->name, flags);
	return true;
}

static bool prep_symlink(const struct call *c)
{
	io_uring_prep_symlinkat(c->sqe, c->step->args->value, c->fd, c->step->args->name);
	return true;
}

static bool prep_rename(const struct call *c)
{
	const struct step_args *args = c->step->args;

	io_uring_prep_renameat(c->sqe, c->fd, args->name, c->fd2, args->name2, c->step->flags);
	return true;
}

static bool prep_link(const struct call *c)
{
	const struct step_args *args = c->step->args;

	io_uring_prep_linkat(c->sqe, c->fd, args->name, c->fd2, args->name2, 0);
	return true;
}

static bool prep_open(const struct call *c)
{
	*c->how = step_open_how(c->ctx, c->step);
	io_uring_prep_openat2(c->sqe, c->fd, step_open_name(c->step), c->how);
	return true;
}

static bool prep_read(const struct call *c)
{
	if (c->step->size > PAYLOAD_SIZE)
		return false;
	io_uring_prep_read(c->sqe, c->fd, c->ctx->buffer, (unsigned)c->step->size, c->step->offset);
	return true;
}

static bool prep_write(const struct call *c)
{
	const struct step *step = c->step;
	const void *data = step_data(c->ctx, step);

	/* RWF_HIPRI asks for polling, which a ring must have been made for. */
	if (!data || (step->flags & RWF_HIPRI))
		return false;
	io_uring_prep_write(c->sqe, c->fd, data, (unsigned)step->size, step->offset);
	c->sqe->rw_flags = (int)step->flags;
	return true;
}

static bool prep_close(const struct call *c)
{
	io_uring_prep_close(c->sqe, c->fd);
	return true;
}

static bool prep_fsync(const struct call *c)
{
	bool data_only =
		c->step->op == OP_fdatasync || (c->step->op == OP_fsyncdir && (c->step->flags & 1));

	io_uring_prep_fsync(c->sqe, c->fd, data_only ? IORING_FSYNC_DATASYNC : 0);
	return true;
}

static bool prep_setxattr(const struct call *c)
{
	const struct step_args *args = c->step->args;
	int flags = (int)c->step->flags & (XATTR_CREATE | XATTR_REPLACE);

	io_uring_prep_fsetxattr(
		c->sqe, c->fd, args->attribute, args->value, flags, args->value_size);
	return true;
}

static bool prep_getxattr(const struct call *c)
{
	unsigned size = (unsigned)min_u64(c->step->size, PAYLOAD_SIZE);

	io_uring_prep_fgetxattr(c->sqe, c->fd, c->step->args->attribute, c->ctx->buffer, size);
	return true;
}

static bool prep_fallocate(const struct call *c)
{
	io_uring_prep_fallocate(
		c->sqe, c->fd, (int)c->step->flags, (off_t)c->step->offset, (off_t)c->step->size);
	return true;
}

static bool prep_truncate(const struct call *c)
{
#ifdef HAVE_PREP_FTRUNCATE
	io_uring_prep_ftruncate(c->sqe, c->fd, (off_t)c->step->size);
#else
	io_uring_prep_rw(OPCODE_FTRUNCATE, c->sqe, c->fd, NULL, 0, c->step->size);
#endif
	return true;
}

static const struct form forms[OP_LIMIT] = {
	[OP_lookup] = {IORING_OP_STATX, BY_DIR, prep_statx},
	[OP_getattr] = {IORING_OP_STATX, BY_EITHER, prep_statx},
	[OP_mkdir] = {IORING_OP_MKDIRAT, BY_DIR, prep_mkdir},
	[OP_unlink] = {IORING_OP_UNLINKAT, BY_DIR, prep_unlink},
	[OP_rmdir] = {IORING_OP_UNLINKAT, BY_DIR, prep_unlink},
	[OP_symlink] = {IORING_OP_SYMLINKAT, BY_DIR, prep_symlink},
	[OP_rename] = {IORING_OP_RENAMEAT, BY_DIRS, prep_rename},
	[OP_link] = {IORING_OP_LINKAT, BY_DIRS, prep_link},
	[OP_open] = {IORING_OP_OPENAT2, BY_DIR, prep_open},
	[OP_create] = {IORING_OP_OPENAT2, BY_DIR, prep_open},
	[OP_tmpfile] = {IORING_OP_OPENAT2, BY_DIR, prep_open},
	[OP_opendir] = {IORING_OP_OPENAT2, BY_DIR, prep_open},
	[OP_read] = {IORING_OP_READ, BY_HANDLE, prep_read},
	[OP_write] = {IORING_OP_WRITE, BY_HANDLE, prep_write},
	[OP_release] = {IORING_OP_CLOSE, TAKE_HANDLE, prep_close},
	[OP_releasedir] = {IORING_OP_CLOSE, TAKE_HANDLE, prep_close},
	[OP_fsync] = {IORING_OP_FSYNC, BY_HANDLE, prep_fsync},
	[OP_fdatasync] = {IORING_OP_FSYNC, BY_HANDLE, prep_fsync},
	[OP_fsyncdir] = {IORING_OP_FSYNC, BY_HANDLE, prep_fsync},
	[OP_setxattr] = {IORING_OP_FSETXATTR, BY_HANDLE, prep_setxattr},
	[OP_getxattr] = {IORING_OP_FGETXATTR, BY_HANDLE, prep_getxattr},
	[OP_fallocate] = {IORING_OP_FALLOCATE, BY_HANDLE, prep_fallocate},
	[OP_truncate] = {OPCODE_FTRUNCATE, BY_HANDLE, prep_truncate},
};

static bool known[OP_LIMIT];

static void ask_kernel(void)
{
	struct io_uring_probe *probe = io_uring_get_probe();

	if (!probe)
		return;
	for (unsigned op = 0; op < OP_LIMIT; op++)
		known[op] = forms[op].prep && io_uring_opcode_supported(probe, forms[op].opcode);
	io_uring_free_probe(probe);
}

bool step_uring_has(enum op op)
{
	static pthread_once_t asked = PTHREAD_ONCE_INIT;

	pthread_once(&asked, ask_kernel);
	return known[op];
}

/* The directory slots that a step pins while it is in the ring: 0, 1 (dir) or 2 (dir and dir2). */
static unsigned pinned_dirs(const struct step *step)
{
	switch ((enum reach)forms[step->op].reach) {
	case BY_HANDLE:
	case TAKE_HANDLE:
		return 0;
	case BY_DIR:
		return 1;
	case BY_DIRS:
		return 2;
	case BY_EITHER:
		return step->bits & STEP_BY_PATH ? 1 : 0;
	}
	return 0;
}

static void unpin(struct replay_context *ctx, const struct step *step, unsigned dirs)
{
	if (dirs > 0)
		files_dir_put(ctx->files, step->args->dir);
	if (dirs > 1)
		files_dir_put(ctx->files, step->args->dir2);
}

/* Turn the step's slots into descriptors. A handle that is to be closed stays until all is well. */
static bool reach_files(struct call *c)
{
	const struct step *step = c->step;
	struct files *files = c->ctx->files;
	unsigned dirs = pinned_dirs(step);

	if (dirs == 0) {
		c->fd = step->bits & STEP_BY_PATH ? -1 : files_handle(files, step->handle);
		return c->fd >= 0;
	}
	c->fd = files_dir_get(files, step->args->dir);
	if (c->fd < 0)
		return false;
	c->fd2 = dirs > 1 ? files_dir_get(files, step->args->dir2) : -1;
	if (dirs > 1 && c->fd2 < 0) {
		unpin(c->ctx, step, 1);
		return false;
	}
	return true;
}

bool step_uring_prep(struct io_uring_sqe *sqe, struct replay_context *ctx, const struct step *step,
	struct open_how *how)
{
	const struct form *form = &forms[step->op];
	struct call call = {sqe, ctx, step, how, -1, -1};

	if (!step_uring_has((enum op)step->op) ||
		(step->bits & (STEP_KEEPS | STEP_KEPT | STEP_CACHED)) || !reach_files(&call))
		return false;
	if (!form->prep(&call)) {
		unpin(ctx, step, pinned_dirs(step));
		return false;
	}
	if (form->reach == TAKE_HANDLE)
		files_take_handle(ctx->files, step->handle);
	return true;
}

int64_t step_uring_done(struct replay_context *ctx, const struct step *step, int64_t res)
{
	unpin(ctx, step, pinned_dirs(step));
	if (res < 0)
		return res;
	if (forms[step->op].prep == prep_open) {
		files_set_handle(ctx->files, step->handle, (int)res);
		return 0;
	}
	if (step->op == OP_rmdir || step->op == OP_rename)
		step_dirs_changed(ctx, step);
	return res;
}
