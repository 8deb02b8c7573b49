/* SPDX-License-Identifier: MIT */
/*
 * Does whatever programs do to files, at random, many at once, below the working directory:
 *
 *	churn SEED PROCESSES THREADS CALLS
 *
 * Few names and many threads, so that files are opened while others remove, rename or truncate them,
 * and directories move while they are used. What fails is as good as what succeeds: the calls are for
 * a capture to see. The same seed gives each thread the same calls; who is first is left to chance.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rng.h"

#define NAMES   6
#define DIRS    3
#define OPEN    8      /* files a thread has open */
#define LARGEST 200000 /* bytes */
#define BLOCK   4096

struct hand {
	struct rng rng;
	unsigned calls;
	int set_lock; /* F_SETLK or F_OFD_SETLK: programs do not mix them */
	int fd[OPEN];
	void *block; /* BLOCK * 8 bytes, aligned for O_DIRECT */
	char path[64], path2[64];
};

static const char *any_dir(struct hand *h, char *out, size_t size)
{
	unsigned at = (unsigned)rng_below(&h->rng, DIRS * 2);

	if (at < DIRS)
		snprintf(out, size, "d%u", at);
	else
		snprintf(out, size, "d%u/e", at - DIRS);
	return out;
}

static const char *any_path(struct hand *h, char *out, size_t size)
{
	char dir[32];

	if (rng_below(&h->rng, 4) == 0)
		snprintf(out, size, "f%u", (unsigned)rng_below(&h->rng, NAMES));
	else
		snprintf(out, size, "%s/f%u", any_dir(h, dir, sizeof(dir)),
			(unsigned)rng_below(&h->rng, NAMES));
	return out;
}

static const char *path(struct hand *h)
{
	return any_path(h, h->path, sizeof(h->path));
}

static const char *path2(struct hand *h)
{
	return any_path(h, h->path2, sizeof(h->path2));
}

static int *any_slot(struct hand *h)
{
	return &h->fd[rng_below(&h->rng, OPEN)];
}

static off_t any_offset(struct hand *h)
{
	return (off_t)rng_below(&h->rng, LARGEST);
}

static void put(int *slot, int fd)
{
	if (fd < 0)
		return;
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

static void call_open(struct hand *h)
{
	static const int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
		O_RDWR | O_TRUNC, O_WRONLY | O_CREAT | O_APPEND, O_RDWR | O_CREAT | O_DIRECT,
		O_RDWR | O_DSYNC};

	put(any_slot(h), open(path(h), flags[rng_below(&h->rng, 8)] | O_CLOEXEC, 0644));
}

static void call_tmpfile(struct hand *h)
{
	char name[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	if (fd < 0)
		return;
	(void)!write(fd, "nameless", 8);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (rng_below(&h->rng, 2))
		(void)!linkat(AT_FDCWD, name, AT_FDCWD, path(h), AT_SYMLINK_FOLLOW);
	put(any_slot(h), fd);
}

static void call_close(struct hand *h)
{
	int *slot = any_slot(h);

	if (*slot >= 0)
		close(*slot);
	*slot = -1;
}

/* Whole blocks with O_DIRECT: what else it takes depends on the file system. */
static void call_write(struct hand *h)
{
	int fd = *any_slot(h), flags = fcntl(fd, F_GETFL);
	off_t at = any_offset(h);
	size_t n = 1 + rng_below(&h->rng, 8 * BLOCK);

	if (rng_below(&h->rng, 2) || (flags & O_DIRECT)) {
		at &= ~(off_t)(BLOCK - 1);
		n = (n + BLOCK - 1) / BLOCK * BLOCK;
	}
	memset(h->block, (int)rng_below(&h->rng, 256), 100);
	(void)!pwrite(fd, h->block, n, at);
}

static void call_read(struct hand *h)
{
	(void)!pread(*any_slot(h), h->block, BLOCK * (1 + rng_below(&h->rng, 8)),
		any_offset(h) & ~(off_t)(BLOCK - 1));
}

static void call_sync(struct hand *h)
{
	if (rng_below(&h->rng, 2))
		fsync(*any_slot(h));
	else
		fdatasync(*any_slot(h));
}

static void call_map(struct hand *h)
{
	int fd = *any_slot(h);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < BLOCK)
		return;
	char *p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return;
	/* By a system call, as another thread may cut the file off: an error then, no signal. */
	int zero = open("/dev/zero", O_RDONLY);
	(void)!read(zero, p + rng_below(&h->rng, BLOCK - 8), 8);
	close(zero);
	if (rng_below(&h->rng, 2))
		msync(p, BLOCK, MS_SYNC);
	munmap(p, BLOCK);
}

/* Not with O_DIRECT, where it is to the file system what it takes. */
static void call_copy(struct hand *h, int from, int to)
{
	if (((fcntl(from, F_GETFL) | fcntl(to, F_GETFL)) & O_DIRECT) == 0)
		(void)!copy_file_range(from, &(off_t){0}, to, &(off_t){any_offset(h)}, BLOCK, 0);
}

static void call_size(struct hand *h)
{
	int fd = *any_slot(h);

	switch (rng_below(&h->rng, 5)) {
	case 0:
		(void)!ftruncate(fd, any_offset(h));
		break;
	case 1:
		(void)!truncate(path(h), any_offset(h));
		break;
	case 2:
		(void)!fallocate(fd, 0, any_offset(h), BLOCK);
		break;
	case 3:
		(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BLOCK);
		break;
	case 4:
		call_copy(h, fd, *any_slot(h));
		break;
	}
}

static void call_name(struct hand *h)
{
	switch (rng_below(&h->rng, 8)) {
	case 0:
	case 1:
		unlink(path(h));
		break;
	case 2:
	case 3:
		rename(path(h), path2(h));
		break;
	case 4:
		(void)!link(path(h), path2(h));
		break;
	case 5:
		(void)!symlink("f0", path(h));
		break;
	case 6:
		(void)!renameat2(AT_FDCWD, path(h), AT_FDCWD, path2(h), RENAME_EXCHANGE);
		break;
	case 7:
		(void)!renameat2(AT_FDCWD, path(h), AT_FDCWD, path2(h), RENAME_NOREPLACE);
		break;
	}
}

static void call_dir(struct hand *h)
{
	char dir[32], dir2[32];

	any_dir(h, dir, sizeof(dir));
	any_dir(h, dir2, sizeof(dir2));
	switch (rng_below(&h->rng, 4)) {
	case 0:
	case 1:
		mkdir(dir, 0755);
		break;
	case 2:
		rename(dir, dir2);
		break;
	case 3:
		rmdir(dir);
		break;
	}
}

static void call_ask(struct hand *h)
{
	char target[64];
	struct stat st;

	switch (rng_below(&h->rng, 5)) {
	case 0:
		stat(path(h), &st);
		break;
	case 1:
		lstat(path(h), &st);
		break;
	case 2:
		fstat(*any_slot(h), &st);
		break;
	case 3:
		(void)!readlink(path(h), target, sizeof(target));
		break;
	case 4:
		(void)!access(path(h), R_OK);
		break;
	}
}

static void call_attribute(struct hand *h)
{
	char value[64];

	switch (rng_below(&h->rng, 6)) {
	case 0:
		setxattr(path(h), "user.a", "value", 1 + rng_below(&h->rng, 5), 0);
		break;
	case 1:
		fsetxattr(*any_slot(h), "user.b", "value", 1 + rng_below(&h->rng, 5), 0);
		break;
	case 2:
		getxattr(path(h), "user.a", value, sizeof(value));
		break;
	case 3:
		removexattr(path(h), "user.a");
		break;
	case 4:
		chmod(path(h), rng_below(&h->rng, 2) ? 0600 : 0644);
		break;
	case 5:
		utimensat(AT_FDCWD, path(h), NULL, 0);
		break;
	}
}

static void call_lock(struct hand *h)
{
	static const short types[] = {F_RDLCK, F_WRLCK, F_UNLCK};
	struct flock lock = {.l_type = types[rng_below(&h->rng, 3)],
		.l_start = (off_t)rng_below(&h->rng, 8),
		.l_len = 1 + (off_t)rng_below(&h->rng, 8)};
	int fd = *any_slot(h);

	/* A process that locks through several descriptors has them open alike. */
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return;
	switch (rng_below(&h->rng, 3)) {
	case 0:
	case 1:
		fcntl(fd, h->set_lock, &lock);
		break;
	case 2:
		flock(fd, (rng_below(&h->rng, 2)          ? LOCK_EX
				  : rng_below(&h->rng, 2) ? LOCK_SH
							  : LOCK_UN) |
				  LOCK_NB);
		break;
	}
}

typedef void call_fn(struct hand *h);

/* What is here more often is done more often. */
static call_fn *const calls[] = {
	call_open,
	call_open,
	call_open,
	call_close,
	call_write,
	call_write,
	call_write,
	call_read,
	call_read,
	call_sync,
	call_size,
	call_name,
	call_name,
	call_name,
	call_dir,
	call_ask,
	call_ask,
	call_attribute,
	call_lock,
	call_lock,
	call_tmpfile,
	call_map,
};

static void *work(void *arg)
{
	struct hand *h = arg;

	for (int i = 0; i < OPEN; i++)
		h->fd[i] = -1;
	if (posix_memalign(&h->block, BLOCK, (size_t)BLOCK * 8))
		abort();
	memset(h->block, 'x', (size_t)BLOCK * 8);
	for (unsigned i = 0; i < h->calls; i++)
		calls[rng_below(&h->rng, sizeof(calls) / sizeof(*calls))](h);
	for (int i = 0; i < OPEN; i++)
		if (h->fd[i] >= 0)
			close(h->fd[i]);
	free(h->block);
	return NULL;
}

static int process(uint64_t seed, unsigned threads, unsigned count)
{
	struct hand *hands = calloc(threads, sizeof(*hands));
	pthread_t *ids = calloc(threads, sizeof(*ids));

	if (!hands || !ids)
		abort();
	for (unsigned i = 0; i < threads; i++) {
		rng_init(&hands[i].rng, seed * 1000 + i);
		hands[i].calls = count;
		hands[i].set_lock = seed % 2 ? F_SETLK : F_OFD_SETLK;
		if (pthread_create(&ids[i], NULL, work, &hands[i]))
			abort();
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(hands);
	free(ids);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: churn SEED PROCESSES THREADS CALLS\n");
		return 2;
	}
	uint64_t seed = strtoull(argv[1], NULL, 10);
	unsigned processes = (unsigned)atoi(argv[2]), threads = (unsigned)atoi(argv[3]);

	for (unsigned i = 0; i < processes; i++)
		if (fork() == 0)
			_exit(process(seed * 100 + i, threads, (unsigned)atoi(argv[4])));
	while (wait(NULL) > 0)
		continue;
	return 0;
}
