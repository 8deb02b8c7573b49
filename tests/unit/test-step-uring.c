/* SPDX-License-Identifier: MIT */
/* Every call that the ring carries, against the blocking form: same results, same files after. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "io.h"
#include "step.h"
#include "vec.h"

enum { DIR_D = 1, DIR_E = 2, HANDLE_D = 5 };

/* Slot 0 is the root, which nothing makes, moves or removes: as good as SLOT_NONE here. */
#define ARGS(...)                                                                                  \
	&(const struct step_args)                                                                  \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define XATTR_ARGS(text)                                                                           \
	ARGS(.attribute = "user.colour", .value = text, .value_size = sizeof(text) - 1)

/* Played from the first to the last, in two directories. `blocking`: the ring has no form for it. */
struct scene {
	struct step step;
	bool blocking;
};

static const struct scene scenes[] = {
	{{.op = OP_mkdir, .args = ARGS(.name = "d", .mode = 0755, .made_dir = DIR_D)}},
	{{.op = OP_mkdir, .args = ARGS(.name = "d", .mode = 0755)}}, /* EEXIST */
	{{.op = OP_mkdir,
		.args = ARGS(.dir = DIR_D, .name = "e", .mode = 0700, .made_dir = DIR_E)}},
	{{.op = OP_lookup, .args = ARGS(.name = "none")}},
	{{.op = OP_lookup, .args = ARGS(.name = "d")}},
	{{.op = OP_create,
		.handle = 0,
		.flags = O_RDWR | O_EXCL,
		.args = ARGS(.dir = DIR_D, .name = "f", .mode = 06640)}},
	{{.op = OP_create,
		.handle = 1,
		.flags = O_RDWR | O_EXCL,
		.args = ARGS(.dir = DIR_D, .name = "f", .mode = 0640)}}, /* EEXIST */
	{{.op = OP_write, .handle = 0, .offset = 0, .size = 20000, .content = CONTENT_RANDOM}},
	{{.op = OP_write,
		.handle = 0,
		.offset = 50000,
		.size = 3,
		.content = CONTENT_ZERO,
		.flags = RWF_DSYNC}},
	{{.op = OP_write,
		.handle = 0,
		.offset = 4096,
		.size = 8192,
		.content = CONTENT_WORDS + 3,
		.flags = RWF_SYNC}},
	{{.op = OP_write, .handle = 9, .offset = 0, .size = 1}, true}, /* EBADF */
	{{.op = OP_read, .handle = 0, .offset = 100, .size = 8192}},
	{{.op = OP_read, .handle = 0, .offset = 50000, .size = 100}},   /* short */
	{{.op = OP_read, .handle = 0, .offset = 1000000, .size = 100}}, /* end of file */
	{{.op = OP_read, .handle = 0, .offset = 0, .size = PAYLOAD_SIZE + 1}, true},
	{{.op = OP_fsync, .handle = 0}},
	{{.op = OP_fdatasync, .handle = 0}},
	{{.op = OP_truncate, .handle = 0, .size = 30001}},
	{{.op = OP_truncate,
		 .bits = STEP_BY_PATH,
		 .size = 30000,
		 .handle = SLOT_NONE,
		 .args = ARGS(.dir = DIR_D, .name = "f")},
		true},
	{{.op = OP_fallocate, .handle = 0, .offset = 30000, .size = 10000}},
	{{.op = OP_fallocate,
		.handle = 0,
		.flags = FALLOC_FL_KEEP_SIZE,
		.offset = 40000,
		.size = 4096}},
	{{.op = OP_fallocate,
		.handle = 0,
		.flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		.offset = 8192,
		.size = 4096}},
	{{.op = OP_fallocate, .handle = 0, .offset = 0, .size = 0}}, /* EINVAL */
	{{.op = OP_setxattr, .handle = 0, .args = XATTR_ARGS("green")}},
	{{.op = OP_setxattr, .handle = 0, .flags = XATTR_CREATE, .args = XATTR_ARGS("red")}},
	{{.op = OP_getxattr, .handle = 0, .size = 0, .args = XATTR_ARGS("")}},
	{{.op = OP_getxattr, .handle = 0, .size = 2, .args = XATTR_ARGS("")}}, /* ERANGE */
	{{.op = OP_getxattr, .handle = 0, .size = 100, .args = XATTR_ARGS("")}},
	{{.op = OP_getattr, .handle = 0}},
	{{.op = OP_getattr,
		.bits = STEP_BY_PATH,
		.handle = SLOT_NONE,
		.args = ARGS(.dir = DIR_D, .name = "f")}},
	{{.op = OP_symlink, .args = ARGS(.name = "s", .value = "d/f", .value_size = 3)}},
	{{.op = OP_open, .handle = 2, .args = ARGS(.name = "s")}}, /* ELOOP */
	{{.op = OP_link, .args = ARGS(.dir = DIR_D, .name = "f", .dir2 = DIR_E, .name2 = "l")}},
	{{.op = OP_rename,
		.args = ARGS(.dir = DIR_D, .name = "f", .dir2 = SLOT_ROOT, .name2 = "g")}},
	{{.op = OP_rename,
		.flags = RENAME_NOREPLACE,
		.args = ARGS(.dir = SLOT_ROOT, .name = "g", .dir2 = DIR_E, .name2 = "l")}},
	{{.op = OP_rename,
		.flags = RENAME_EXCHANGE,
		.args = ARGS(.dir = SLOT_ROOT, .name = "g", .dir2 = SLOT_ROOT, .name2 = "s")}},
	{{.op = OP_open,
		.handle = 1,
		.flags = O_RDWR | O_APPEND | O_DSYNC,
		.args = ARGS(.dir = DIR_E, .name = "l")}},
	{{.op = OP_write, .handle = 1, .offset = 40000, .size = 77, .content = CONTENT_REPEATED}},
	{{.op = OP_tmpfile,
		.handle = 3,
		.flags = O_RDWR,
		.args = ARGS(.dir = DIR_D, .mode = 0600)}},
	{{.op = OP_write, .handle = 3, .offset = 0, .size = 4096, .content = CONTENT_RANDOM}},
	{{.op = OP_release, .handle = 3}},
	{{.op = OP_release, .handle = 3}, true}, /* EBADF */
	{{.op = OP_opendir, .handle = HANDLE_D, .args = ARGS(.name = "d")}},
	{{.op = OP_fsyncdir, .handle = HANDLE_D}},
	{{.op = OP_fsyncdir, .handle = HANDLE_D, .flags = 1}},
	{{.op = OP_readdir, .handle = HANDLE_D, .size = 4096}, true},
	{{.op = OP_releasedir, .handle = HANDLE_D}},
	/* The directory moves; what was in its slot must be found again below the new name. */
	{{.op = OP_rename,
		.args = ARGS(.dir = DIR_D, .name = "e", .dir2 = SLOT_ROOT, .name2 = "e2",
			.made_dir = DIR_E)}},
	{{.op = OP_create,
		.handle = 2,
		.flags = O_WRONLY,
		.args = ARGS(.dir = DIR_E, .name = "x", .mode = 0600)}},
	{{.op = OP_release, .handle = 2}},
	{{.op = OP_unlink, .args = ARGS(.dir = DIR_E, .name = "x")}},
	{{.op = OP_unlink, .args = ARGS(.dir = DIR_E, .name = "x")}},      /* ENOENT */
	{{.op = OP_unlink, .args = ARGS(.name = "d")}},                    /* EISDIR */
	{{.op = OP_rmdir, .args = ARGS(.name = "e2", .made_dir = DIR_E)}}, /* ENOTEMPTY */
	{{.op = OP_rmdir, .args = ARGS(.name = "d", .made_dir = DIR_D)}},
	{{.op = OP_chmod, .handle = 0, .args = ARGS(.mode = 0600)}, true},
	{{.op = OP_release, .handle = 0}},
	{{.op = OP_release, .handle = 1}},
};

/* A stage: a directory to play in. */
struct stage {
	char *path;
	int root_fd;
	struct replay_context ctx;
	struct io_uring ring;
	unsigned in_ring;
	bool ready;
};

static void stage_set(struct stage *s)
{
	*s = (struct stage){.path = make_temp_dir(NULL), .root_fd = -1};
	if (!CHECK(s->path != NULL))
		return;
	s->root_fd = open(s->path, O_RDONLY | O_DIRECTORY);
	s->ctx.payload = payload_new();
	s->ctx.buffer = aligned_alloc(4096, PAYLOAD_SIZE);
	CHECK_EQ(files_new(&s->ctx.files, s->root_fd, NULL), 0);
	files_dir_set(s->ctx.files, DIR_D, SLOT_ROOT, "d");
	files_dir_set(s->ctx.files, DIR_E, DIR_D, "e");
	int r = io_uring_queue_init(4, &s->ring, 0);
	s->ready = r == 0;
	if (r < 0)
		check_skip("no io_uring here");
}

static void stage_clear(struct stage *s)
{
	if (s->ready)
		io_uring_queue_exit(&s->ring);
	files_free(s->ctx.files);
	payload_free((struct payload *)(uintptr_t)s->ctx.payload);
	free(s->ctx.buffer);
	close(s->root_fd);
	CHECK_EQ(remove_tree(s->path), 0);
	free(s->path);
}

/* In the ring if it is carried there, else blocking, as an engine does it. */
static int64_t play_ring(struct stage *s, const struct step *step)
{
	struct io_uring_sqe prepared = {0};
	struct open_how how;
	struct io_uring_cqe *cqe;

	if (!step_uring_prep(&prepared, &s->ctx, step, &how))
		return step_sync(&s->ctx, step);
	s->in_ring++;
	*io_uring_get_sqe(&s->ring) = prepared;
	CHECK_EQ(io_uring_submit_and_wait(&s->ring, 1), 1);
	if (!CHECK_EQ(io_uring_wait_cqe(&s->ring, &cqe), 0))
		return -EIO;
	int64_t res = cqe->res;
	io_uring_cqe_seen(&s->ring, cqe);
	return step_uring_done(&s->ctx, step, res);
}

static void same_attributes(const struct stage *a, const struct stage *b, const char *name)
{
	struct stat of_a, of_b;
	char value_a[64] = "", value_b[64] = "";

	int ra = fstatat(a->root_fd, name, &of_a, AT_SYMLINK_NOFOLLOW);
	int rb = fstatat(b->root_fd, name, &of_b, AT_SYMLINK_NOFOLLOW);
	CHECK_EQ(ra, rb);
	if (ra < 0)
		return;
	CHECK_EQ(of_a.st_mode, of_b.st_mode);
	CHECK_EQ(of_a.st_size, of_b.st_size);
	CHECK_EQ(of_a.st_nlink, of_b.st_nlink);
	auto_free char *path_a = xasprintf("%s/%s", a->path, name);
	auto_free char *path_b = xasprintf("%s/%s", b->path, name);
	(void)!lgetxattr(path_a, "user.colour", value_a, sizeof(value_a) - 1);
	(void)!lgetxattr(path_b, "user.colour", value_b, sizeof(value_b) - 1);
	CHECK_EQ((const char *)value_a, (const char *)value_b);
}

static void same_bytes(const struct stage *a, const struct stage *b, const char *name)
{
	static char of_a[1 << 17], of_b[1 << 17];
	auto_close int fd_a = openat(a->root_fd, name, O_RDONLY);
	auto_close int fd_b = openat(b->root_fd, name, O_RDONLY);

	ssize_t n = read_full(fd_a, of_a, sizeof(of_a));
	CHECK_EQ(read_full(fd_b, of_b, sizeof(of_b)), n);
	if (CHECK(n > 30000))
		CHECK_BYTES(of_a, of_b, (size_t)n);
}

TEST(ring_and_blocking_agree)
{
	struct stage sync, ring;

	stage_set(&sync);
	stage_set(&ring);
	for (size_t i = 0; ring.ready && i < ARRAY_SIZE(scenes); i++) {
		const struct step *step = &scenes[i].step;
		unsigned before = ring.in_ring;
		int64_t want = step_sync(&sync.ctx, step);
		int64_t got = play_ring(&ring, step);
		bool carried = ring.in_ring > before;
		bool same = CHECK_EQ(got, want);
		bool as_said =
			CHECK_EQ(carried, !scenes[i].blocking && step_uring_has((enum op)step->op));
		if (!same || !as_said)
			printf("\tscene %zu, %s\n", i, op_name((enum op)step->op));
	}
	static const char *const names[] = {"d", "s", "g", "e2", "e2/l", "e2/x", "d/f", "d/e"};
	for (size_t i = 0; ring.ready && i < ARRAY_SIZE(names); i++)
		same_attributes(&sync, &ring, names[i]);
	if (ring.ready)
		same_bytes(&sync, &ring, "e2/l");
	stage_clear(&ring);
	stage_clear(&sync);
}

/* The rows above leave out no operation that the ring has, so a new one must get a scene. */
TEST(every_form_is_played)
{
	for (unsigned op = 1; op < OP_LIMIT; op++) {
		bool played = false;
		for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
			played |= scenes[i].step.op == op && !scenes[i].blocking;
		if (!CHECK_EQ(played, step_uring_has((enum op)op) || op == OP_truncate))
			printf("\t%s\n", op_name((enum op)op));
	}
}
