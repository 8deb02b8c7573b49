/* SPDX-License-Identifier: MIT */
/*
 * Mounting and unmounting.
 *
 * The source directory is opened before anything is mounted, so the way below stays open when the
 * mount point is the source itself. The mount is in use only when the kernel's INIT is answered:
 * capture_mount() waits for that.
 */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cleanup.h"
#include "digest.h"
#include "io.h"
#include "ops.h"
#include "pool.h"
#include "scope.h"
#include "spawn.h"
#include "vec.h"

#define LONG_TIMEOUT 3600.0 /* seconds: nobody else changes the source */
#define SETTLE_MS    2000

/* What libfuse says when something fails; it has no other way to tell. */
static char library_words[256];

attr_printf(2, 0) static void keep_words(enum fuse_log_level level, const char *fmt, va_list args)
{
	if (level > FUSE_LOG_WARNING)
		return;
	vsnprintf(library_words, sizeof(library_words), fmt, args);
	library_words[strcspn(library_words, "\n")] = 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (!strcmp(dir, "/"))
		return strcmp(path, "/");
	return !strncmp(path, dir, len) && path[len] == '/';
}

/* Absolute path of the mount point; the caller frees. */
static int check_mount_point(const struct capture_options *o, char **ret_path, struct error *err)
{
	auto_free char *source = realpath(o->source, NULL);
	const char *wanted = o->mount_point ? o->mount_point : o->source;
	auto_free char *path = realpath(wanted, NULL);
	struct stat st;
	struct statfs fs;

	if (!source)
		return error_errno(err, errno, "directory '%s'", o->source);
	if (!path || stat(path, &st))
		return error_errno(err, errno, "mount point '%s'", wanted);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ENOTDIR, "mount point '%s' is not a directory", wanted);
	if (!strcmp(path, "/"))
		return error_set(err, EBUSY,
			"the root directory cannot be captured; name the "
			"database's directory with --dir");
	if (!statfs(path, &fs) && fs.f_type == PROC_SUPER_MAGIC)
		return error_set(err, EINVAL,
			"'%s' is in procfs, which the recorder itself needs; it cannot be captured "
			"or mounted over",
			path);
	if (is_below(path, source))
		return error_set(err, ELOOP,
			"mount point '%s' is inside the directory it would show (%s); choose one "
			"outside",
			path, source);
	if (is_below(source, path))
		return error_set(err, ELOOP,
			"mount point '%s' would hide the directory it shows (%s); choose another",
			path, source);
	*ret_path = take_ptr(path);
	return 0;
}

/* As a value of a mount option; the caller frees. */
static char *escaped(const char *value)
{
	char *out = xmalloc(2 * strlen(value) + 1), *to = out;

	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			*to++ = '\\';
		*to++ = *value;
	}
	*to = '\0';
	return out;
}

/* The mount allows what the file system below allows, and is listed by the directory it shows. */
static char *mount_options(const char *source, int source_fd)
{
	struct statvfs st = {0};
	bool root = geteuid() == 0;
	auto_free char *name = escaped(source);

	fstatvfs(source_fd, &st);
	return xasprintf("-ofsname=%s,subtype=fsreel,default_permissions%s%s%s%s%s", name,
		root ? ",allow_other" : "", root && !(st.f_flag & ST_NOSUID) ? ",suid" : "",
		root && !(st.f_flag & ST_NODEV) ? ",dev" : "",
		st.f_flag & ST_NOEXEC ? ",noexec" : "", st.f_flag & ST_RDONLY ? ",ro" : "");
}

int capture_possible(const char *path, struct error *err)
{
	if (access("/dev/fuse", F_OK))
		return error_set(err, ENODEV,
			"cannot mount on %s: there is no /dev/fuse; load the module with "
			"'modprobe fuse'",
			path);
	if (access("/dev/fuse", R_OK | W_OK))
		return error_set(err, EACCES,
			"cannot mount on %s: /dev/fuse is not open to this user; run as root or "
			"'chmod 666 /dev/fuse'",
			path);
	return 0;
}

static int mount_error(const char *path, struct error *err)
{
	int r = capture_possible(path, err);

	return r ? r
	         : error_set(err, EPERM, "cannot mount on %s: %s", path,
			   library_words[0] ? library_words : "the kernel refused");
}

static int start_session(struct capture *c, const char *source, int source_fd, struct error *err)
{
	auto_free char *options = mount_options(source, source_fd);
	char *argv[] = {(char *)(uintptr_t) "fsreel", options, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(2, argv);

	library_words[0] = 0;
	fuse_set_log_func(keep_words);
	c->session = fuse_session_new(&args, &session_ops, sizeof(session_ops), c);
	fuse_opt_free_args(&args);
	if (!c->session)
		return error_set(err, EINVAL, "libfuse: %s", library_words);
	if (fuse_session_mount(c->session, c->path))
		return mount_error(c->path, err);
	c->mounted = true;
	int r = kernel_attach(c->session);
	return r < 0 ? error_errno(err, r, "libfuse cannot hand over its input") : 0;
}

static void capture_free(struct capture *c)
{
	if (c->session)
		fuse_session_destroy(c->session);
	locks_free(c->locks);
	pieces_free(c->pieces);
	tasks_free(c->tasks);
	handle_table_free(c->handles);
	opened_free(c->opened);
	inode_table_close(c->inodes);
	claim_drop(&c->claim);
	free(c->path);
	free(c);
}

/* The kernel's number of the mount that is seen at the path; 0 = it does not tell. */
static uint64_t mount_id_at(const char *path)
{
	struct statx stx;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_MNT_ID, &stx) ||
		!(stx.stx_mask & STATX_MNT_ID))
		return 0;
	return stx.stx_mnt_id;
}

/* The first call on the mount returns when INIT has been answered. */
static int wait_for_init(struct capture *c, unsigned workers, struct error *err)
{
	struct statvfs st;
	int r = pool_start(c, workers);

	if (r)
		return error_errno(err, r, "cannot start the threads that serve %s", c->path);
	if (statvfs(c->path, &st))
		return error_errno(err, errno, "the mount on %s does not answer", c->path);
	c->mount_id = mount_id_at(c->path);
	c->serving = true;
	return 0;
}

static uint64_t tree_ident(void *arg, uint64_t dev, uint64_t ino, int path_fd)
{
	struct capture *c = arg;

	return inode_table_ident(c->inodes, path_fd);
}

static int tree_emit(void *arg, const struct tree_entry *entry, struct error *err)
{
	struct capture *c = arg;

	return trace_writer_tree(c->writer, entry, err);
}

/* Before the mount: a walk that comes back up by ".." would step into it. */
static int write_tree(struct capture *c, struct error *err)
{
	const struct tree_visitor visitor = {tree_ident, tree_emit, c};
	auto_pin struct inode_pin root = inode_pin(c->inodes, inode_of(c->inodes, FUSE_ROOT_ID));

	return tree_scan(root.fd, &visitor, err);
}

/* Local file systems do nothing when a descriptor is closed; others write, and may fail. */
static bool wants_flush(int source_fd)
{
	static const unsigned local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC};
	struct statfs fs;

	if (fstatfs(source_fd, &fs))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if ((unsigned)fs.f_type == local[i])
			return false;
	return true;
}

#define KEEP_BYTES (128u << 10) /* of a file in one number */

static int no_emit(void *arg, const struct tree_entry *entry, struct error *err)
{
	return 0;
}

/* All that a file has, where it has data. */
static int keep_file(void *arg, const struct tree_entry *e, int fd)
{
	struct capture *c = arg;
	auto_free char *data = xmalloc(KEEP_BYTES);
	ssize_t n = 1;

	for (size_t i = 0; i < e->extent_count; i++) {
		uint64_t at = e->extents[i].offset, end = at + e->extents[i].size;
		for (; at < end && n > 0; at += (uint64_t)n) {
			n = pread_full(fd, data, min_u64(KEEP_BYTES, end - at), (off_t)at);
			if (n > 0)
				trace_writer_file_data(c->writer, e->id, at, data, (size_t)n);
		}
	}
	return n < 0 ? (int)n : 0;
}

/* A digest of what it has in the end. */
static int keep_digest(void *arg, const struct tree_entry *e, int fd)
{
	struct capture *c = arg;
	struct digest d;
	int r = digest_file(&d, fd);

	if (!r)
		trace_writer_final(c->writer, e->id, e->size, d.bytes);
	return r;
}

/* The data are in frames behind the whole tree: a second walk. */
static int walk_data(struct capture *c,
	int (*data)(void *arg, const struct tree_entry *entry, int fd), struct error *err)
{
	const struct tree_visitor visitor = {tree_ident, no_emit, c, data};
	auto_pin struct inode_pin root = inode_pin(c->inodes, inode_of(c->inodes, FUSE_ROOT_ID));

	return tree_scan(root.fd, &visitor, err);
}

static int start(struct capture *c, const struct capture_options *o, struct error *err)
{
	auto_close int source_fd = open(o->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (source_fd < 0)
		return error_errno(err, errno, "directory '%s'", o->source);
	c->flush_below = wants_flush(source_fd);
	int r = claim_take(&c->claim, o->source, err);
	if (!r)
		r = inode_table_open(&c->inodes, dup(source_fd), err);
	if (!r)
		c->handles = handle_table_new(c->inodes);
	if (!r && c->writer)
		r = write_tree(c, err);
	if (!r && c->keep_data)
		r = walk_data(c, keep_file, err);
	if (!r)
		r = start_session(c, o->source, source_fd, err);
	return r ? r : wait_for_init(c, o->workers, err);
}

int capture_mount(struct capture **ret, const struct capture_options *options, struct error *err)
{
	struct capture *c = ALLOC(struct capture);
	int r = check_mount_point(options, &c->path, err);

	c->writer = options->writer;
	c->timeout = options->strict_meta ? 0 : LONG_TIMEOUT;
	c->strip_direct = options->strip_direct;
	c->locks = locks_new(&lock_events);
	c->keep_data = options->keep_data && options->writer;
	c->pieces = pieces_new(c->keep_data ? options->writer : NULL);
	c->tasks = tasks_new(options->writer, options->clock);
	c->opened = options->clock ? opened_new() : NULL;
	if (!r)
		r = start(c, options, err);
	if (r && c->mounted)
		capture_unmount(c, NULL, NULL);
	else if (r)
		capture_free(c);
	else
		*ret = c;
	return r;
}

bool capture_taken(const struct capture *c)
{
	if (c->released)
		return false;
	return fuse_session_exited(c->session) ||
	       (c->mount_id && mount_id_at(c->path) != c->mount_id);
}

const char *capture_path(const struct capture *c)
{
	return c->path;
}

bool capture_opened(struct capture *c, uint64_t number, uint64_t at_ns, uint64_t *ret_file,
	uint64_t *ret_handle)
{
	struct opened_file found;

	if (!c->opened || !opened_find(c->opened, number, at_ns, &found))
		return false;
	*ret_file = found.file;
	*ret_handle = found.handle;
	return true;
}

uint32_t capture_thread(struct capture *c, uint32_t tid, uint32_t tgid, const char *name)
{
	return tasks_index(c->tasks, tid, tgid, name);
}

void capture_thread_ended(struct capture *c, uint32_t tid)
{
	tasks_ended(c->tasks, tid);
}

static int unmount(const struct capture *c, struct error *err)
{
	const char *const argv[] = {"fusermount3", "-u", "-z", "-q", c->path, NULL};

	if (capture_taken(c) || !umount2(c->path, MNT_DETACH))
		return 0;
	if (errno != EPERM)
		return error_errno(err, errno, "unmount %s", c->path);
	return spawn_run(argv, NULL, err);
}

/* fusermount3 does not say why it failed; for an ordinary user a failure means busy. */
static bool unmount_unused(const struct capture *c)
{
	const char *const argv[] = {"fusermount3", "-u", "-q", c->path, NULL};

	/* Who is in it still keeps the session alive. */
	if (capture_taken(c))
		return fuse_session_exited(c->session);
	if (!umount2(c->path, 0))
		return true;
	return errno == EPERM && !spawn_run(argv, NULL, NULL);
}

/* Requests that the application does not wait for (the release after a close) are still under way
 * when it has ended: let them be handled. */
static void settle(struct capture *c)
{
	struct statvfs st;

	if (capture_taken(c))
		return;
	statvfs(c->path, &st);
	pool_settle(c->pool, SETTLE_MS);
}

static void write_leftovers(struct capture *c)
{
	struct worker w = {.capture = c};

	if (!c->writer)
		return;
	w.buffer = trace_buffer_new(c->writer);
	scope_leftovers(&w);
}

int capture_release(struct capture *c)
{
	settle(c);
	c->released = unmount_unused(c);
	return c->released ? 0 : -EBUSY;
}

int capture_unmount(struct capture *c, struct capture_stats *ret, struct error *err)
{
	if (c->serving && !c->released)
		settle(c);
	int r = c->released ? 0 : unmount(c, err);
	pool_stop(c->pool);
	write_leftovers(c);
	if (!r && c->keep_data && ret)
		r = walk_data(c, keep_digest, err);
	if (ret)
		*ret = (struct capture_stats){
			.requests = c->requests,
			.events = c->events,
			.joined = c->joined,
			.escapes = c->escapes,
			.evicted =
				inode_table_evicted(c->inodes) + handle_table_evicted(c->handles),
			.refused = handle_table_refused(c->handles),
			.allow_mmap = c->kernel.allow_mmap,
			.parallel_writes = c->kernel.parallel_writes,
		};
	capture_free(c);
	return r;
}
