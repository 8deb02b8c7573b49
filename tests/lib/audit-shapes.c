/* SPDX-License-Identifier: MIT */
/*
 * audit-shapes [WORD...]: calls of rare shapes in the current directory, for an audit to account for.
 * With words only those shapes whose names contain one of them. A shape that the kernel does not
 * have is left out silently; what a call returns is other tests' business.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "vec.h"

#define MIB    (1u << 20)
#define VECTOR 1000

static char *block; /* 8 MiB, on a page */
static char *volatile nowhere = (char *)16;

static int make(const char *name, int flags)
{
	int fd = open(name, O_CREAT | O_RDWR | flags, 0644);

	if (fd < 0 || write(fd, block, 65536) != 65536) {
		perror(name);
		exit(1);
	}
	return fd;
}

static void ignore(long result)
{
}

/* --- data --- */

static void large(void)
{
	int fd = make("large", 0);

	ignore(pwrite(fd, block, 5 * MIB, 0));
	ignore(pwrite(fd, block + 777, 3 * MIB, 4096));
	ignore(pwrite(fd, block + 1, 2 * MIB, 12345));
	ignore(pread(fd, block + 3, 5 * MIB, 1));
	ignore(pread(fd, block, 8 * MIB, 4 * MIB)); /* past the end */
	ignore(pread(fd, block, MIB, 0));
	ignore(pread(fd, block, 0, 0));
	ignore(pread(fd, nowhere, 4096, 0));
	ignore(pwrite(fd, nowhere, 4096, 0));
	ignore(pread(fd, block, 4096, -5));
	close(fd);
}

static void vectors(void)
{
	int fd = make("vectors", 0);
	struct iovec v[VECTOR];

	for (int i = 0; i < VECTOR; i++)
		v[i] = (struct iovec){block + i * 5000, 100};
	ignore(pwritev(fd, v, VECTOR, 0));
	ignore(preadv(fd, v, VECTOR, 10));
	ignore(writev(fd, v, 3));
	ignore(writev(fd, v, 0));
	for (int i = 0; i < 4; i++)
		v[i] = (struct iovec){block + i * MIB + 50, 700000};
	ignore(pwritev(fd, v, 4, 0));
	ignore(preadv(fd, v, 4, 0));
	v[1].iov_base = NULL;
	ignore(pwritev(fd, v, 4, 0));
	close(fd);
}

static void flags(void)
{
	static const int all[] = {RWF_DSYNC, RWF_SYNC, RWF_HIPRI, RWF_NOWAIT, RWF_APPEND, 0x80};
	int fd = make("flags", 0);
	struct iovec v = {block, 4096};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		ignore(pwritev2(fd, &v, 1, 8192, all[i]));
		ignore(preadv2(fd, &v, 1, 0, all[i]));
		ignore(pwritev2(fd, &v, 1, -1, all[i]));
	}
	close(fd);
}

static void appends(void)
{
	int fd = make("appends", O_APPEND), other = open("appends", O_RDWR);

	ignore(write(fd, block, 100));
	ignore(pwrite(fd, block, 100, 0));
	fcntl(other, F_SETFL, O_APPEND);
	ignore(write(other, block, 100));
	fcntl(other, F_SETFL, O_DIRECT);
	ignore(pwrite(other, block, 4096, 4096));
	ignore(pwrite(other, block + 1, 4096, 4096));
	ignore(pwrite(other, block, 100, 4096));
	close(fd);
	close(other);
	fd = make("dsync", O_DSYNC);
	ignore(write(fd, block, 100));
	close(fd);
}

static void mapped(void)
{
	int fd = make("mapped", 0);
	char *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return;
	p[5] = 1;
	p[40000] = 2;
	ignore(pread(fd, block, 100, 0));
	ignore(msync(p, 4096, MS_ASYNC));
	ignore(msync(p, 65536, MS_SYNC));
	p[50000] = 3;
	ignore(madvise(p, 65536, MADV_DONTNEED));
	ignore(p[60000]);
	close(fd);
	p[6] = 4;
	munmap(p, 65536);
	fd = open("mapped", O_RDONLY);
	p = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	ignore(readahead(fd, 0, 65536));
	ignore(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED));
	ignore(read(fd, block, 4096));
	munmap(p, 65536);
	close(fd);
}

static void pipes(void)
{
	int a = make("pipes", 0), b = make("pipes2", 0), outside = open("/etc/passwd", O_RDONLY);
	int ends[2];
	loff_t at = 100, at2 = 5;
	off_t from = 10;

	ignore(sendfile(b, a, &from, 60000));
	ignore(sendfile(b, outside, NULL, 500));
	ignore(copy_file_range(a, &at, b, &at2, 30000, 0));
	ignore(copy_file_range(a, NULL, b, NULL, 30000, 0));
	ignore(copy_file_range(outside, NULL, b, NULL, 300, 0));
	ignore(pipe(ends));
	lseek(a, 0, SEEK_SET);
	ignore(splice(a, NULL, ends[1], NULL, 8192, 0));
	ignore(splice(ends[0], NULL, b, NULL, 8192, 0));
	at = 0;
	ignore(splice(a, &at, ends[1], NULL, 5000, SPLICE_F_MOVE));
	ignore(splice(ends[0], NULL, b, &at2, 5000, 0));
	ignore(vmsplice(ends[1], &(struct iovec){block, 4096}, 1, 0));
	ignore(splice(ends[0], NULL, b, NULL, 4096, 0));
	ignore(ioctl(b, FICLONE, a));
	close(a);
	close(b);
	close(outside);
	close(ends[0]);
	close(ends[1]);
}

static void space(void)
{
	int fd = make("space", 0);

	ignore(fallocate(fd, 0, 0, MIB));
	ignore(fallocate(fd, FALLOC_FL_KEEP_SIZE, MIB, MIB));
	ignore(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192));
	ignore(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 4096));
	ignore(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
	ignore(fallocate(fd, 0, 0, 0));
	ignore(lseek(fd, 0, SEEK_HOLE));
	ignore(lseek(fd, 0, SEEK_DATA));
	ignore(lseek(fd, 100 * MIB, SEEK_DATA));
	ignore(lseek(fd, 0, SEEK_END));
	ignore(sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE));
	ignore(syncfs(fd));
	ignore(ftruncate(fd, 10));
	ignore(ftruncate(fd, -1));
	ignore(truncate("space", 20));
	ignore(truncate("absent", 20));
	close(fd);
}

/* --- names --- */

static void opens(void)
{
	struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
	char link[64];
	int fd, dir = (mkdir("opens", 0755), open("opens", O_RDONLY | O_DIRECTORY));

	close(make("opens/f", 0));
	close((int)syscall(SYS_openat2, dir, "f", &how, sizeof(how)));
	ignore(syscall(SYS_openat2, dir, "../flags", &how, sizeof(how)));
	close(openat(dir, "f", O_RDONLY | O_TRUNC));
	ignore(openat(dir, "f", O_RDWR | O_CREAT | O_EXCL, 0600));
	ignore(openat(dir, "absent/deeper", O_RDWR | O_CREAT, 0600));
	ignore(openat(dir, "f/deeper", O_RDONLY));
	ignore(open("opens", O_WRONLY));
	ignore(openat(dir, "absent", O_RDONLY));
	ignore(openat(dir, "absent", O_RDONLY));
	fd = openat(dir, "f", O_PATH);
	ignore(fchdir(fd));
	ignore(read(fd, block, 10));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	close(open(link, O_RDONLY));
	close(fd);
	fd = openat(dir, ".", O_TMPFILE | O_RDWR, 0600);
	if (fd >= 0) {
		ignore(write(fd, block, 500));
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ignore(linkat(AT_FDCWD, link, dir, "named", AT_SYMLINK_FOLLOW));
		close(fd);
	}
	close(creat("opens/created", 0600));
	close(open("../shapes/opens/f", O_RDONLY));
	close(open("opens/../opens/./f", O_RDONLY));
	close(dir);
}

static void names(void)
{
	struct statx stx;
	struct stat st;
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + 128];
	} h = {.handle.handle_bytes = 128};
	int id;

	close(make("n1", 0));
	close(make("n2", 0));
	ignore(rename("n1", "n1"));
	ignore(link("n1", "n3"));
	ignore(rename("n1", "n3")); /* two names of one file: nothing happens */
	ignore(syscall(SYS_renameat2, AT_FDCWD, "n1", AT_FDCWD, "n2", RENAME_EXCHANGE));
	ignore(syscall(SYS_renameat2, AT_FDCWD, "n1", AT_FDCWD, "n2", RENAME_NOREPLACE));
	ignore(syscall(SYS_renameat2, AT_FDCWD, "n1", AT_FDCWD, "n4", RENAME_WHITEOUT));
	ignore(rename("absent", "n5"));
	ignore(rename("n1", "absent/n5"));
	ignore(rename("n2", "/dev/shm/audit-shapes"));
	ignore(mkdir("n6", 0755));
	ignore(mkdir("n6", 0755));
	ignore(mkdir("n6/d", 0755));
	ignore(rmdir("n6"));
	ignore(rmdir("n2"));
	ignore(unlink("n6"));
	ignore(unlinkat(AT_FDCWD, "n6/d", AT_REMOVEDIR));
	ignore(symlink("n2", "l1"));
	ignore(symlink("n2", "l1"));
	ignore(stat("l1", &st));
	ignore(lstat("l1", &st));
	ignore(open("l1", O_RDONLY | O_NOFOLLOW));
	ignore(statx(AT_FDCWD, "n2", AT_STATX_FORCE_SYNC, STATX_ALL, &stx));
	ignore(statx(AT_FDCWD, "n2", AT_STATX_DONT_SYNC, STATX_ALL, &stx));
	ignore(name_to_handle_at(AT_FDCWD, "n2", &h.handle, &id, 0));
	ignore(mknod("fifo", S_IFIFO | 0600, 0));
	close(open("fifo", O_RDONLY | O_NONBLOCK));
	ignore(access("n2", W_OK));
	ignore(access("absent", F_OK));
	ignore(faccessat(AT_FDCWD, "n2", X_OK, AT_EACCESS));
}

static void attributes(void)
{
	static const struct timespec omit[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
	int fd = make("attributes", 0);
	char value[64];

	ignore(fchmod(fd, 0600));
	ignore(fchmod(fd, 0600));
	ignore(fchmodat(AT_FDCWD, "attributes", 0640, 0));
	ignore(chown("attributes", (uid_t)-1, (gid_t)-1));
	ignore(fchown(fd, 0, 0));
	ignore(futimens(fd, omit));
	ignore(futimens(fd, NULL));
	ignore(utimensat(AT_FDCWD, "attributes", NULL, AT_SYMLINK_NOFOLLOW));
	ignore(fsetxattr(fd, "user.x", "1", 1, XATTR_CREATE));
	ignore(fsetxattr(fd, "user.x", "1", 1, XATTR_CREATE));
	ignore(setxattr("attributes", "nonsense.x", "1", 1, 0));
	ignore(getxattr("attributes", "user.x", value, sizeof(value)));
	ignore(getxattr("attributes", "user.y", value, sizeof(value)));
	ignore(getxattr("attributes", "security.selinux", value, sizeof(value)));
	ignore(listxattr("attributes", value, sizeof(value)));
	ignore(listxattr("attributes", value, 1));
	ignore(removexattr("attributes", "user.x"));
	ignore(removexattr("attributes", "user.x"));
	ignore(ioctl(fd, FS_IOC_GETFLAGS, value));
	ignore(ioctl(fd, FIONREAD, value));
	ignore(isatty(fd));
	ignore(fstatvfs(fd, &(struct statvfs){0}));
	close(fd);
}

/* --- descriptors and processes --- */

static void descriptors(void)
{
	int fd = make("descriptors", 0), other = open("/dev/null", O_RDWR);

	ignore(dup2(other, dup(fd)));
	ignore(dup2(fd, 200));
	ignore(dup2(fd, 201));
	ignore(fcntl(fd, F_DUPFD_CLOEXEC, 202));
	ignore(syscall(SYS_close_range, 200, 210, 0));
	ignore(fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK}));
	ignore(fcntl(fd, F_GETLK, &(struct flock){.l_type = F_WRLCK}));
	ignore(fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_RDLCK}));
	ignore(fcntl(fd, F_SETLEASE, F_RDLCK));
	ignore(close(fd));
	ignore(close(fd));
	close(other);
}

static void *write_some(void *name)
{
	int fd = make(name, 0);

	for (int i = 0; i < 20; i++)
		ignore(pwrite(fd, block, 1000, i * 1000));
	ignore(fsync(fd));
	return NULL;
}

static void child(void (*body)(int fd), int fd)
{
	pid_t pid = fork();

	if (!pid) {
		body(fd);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void leave_open(int fd)
{
	ignore(write(fd, block, 10));
	make("left", 0);
}

static void be_killed(int fd)
{
	ignore(write(fd, block, 10));
	raise(SIGKILL);
}

static void run_program(int fd)
{
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	execlp("cat", "cat", "processes", NULL);
}

static void *run_from_thread(void *arg)
{
	execlp("cp", "cp", "processes", "copied", NULL);
	return NULL;
}

static void run_beside(int fd)
{
	pthread_t t;

	pthread_create(&t, NULL, run_from_thread, NULL);
	pthread_join(t, NULL);
}

static void processes(void)
{
	pthread_t threads[4];
	int fd = make("processes", 0);

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(
			&threads[i], NULL, write_some, (char[4][3]){"t0", "t1", "t2", "t3"}[i]);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	fflush(NULL);
	ignore(dup2(open("/dev/null", O_WRONLY), 1));
	child(leave_open, fd);
	child(be_killed, fd);
	child(run_program, fd);
	child(run_beside, fd);
	close(fd);
}

static void sockets(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

	ignore(bind(fd, (struct sockaddr *)&name, sizeof(name)));
	ignore(bind(client, (struct sockaddr *)&name, sizeof(name)));
	ignore(listen(fd, 1));
	ignore(connect(client, (struct sockaddr *)&name, sizeof(name)));
	close(fd);
	close(client);
}

/* --- io_uring --- */

static void submit(struct io_uring *ring, unsigned count)
{
	struct io_uring_cqe *cqe;

	io_uring_submit(ring);
	while (count-- && !io_uring_wait_cqe(ring, &cqe))
		io_uring_cqe_seen(ring, cqe);
}

static void ring_data(struct io_uring *ring, int fd, unsigned flags)
{
	struct iovec v[3] = {{block, 1000}, {block + 5000, 3000}, {block + 9000, 77}};
	struct io_uring_sqe *sqe[6];

	for (int i = 0; i < 6; i++)
		sqe[i] = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe[0], fd, block, 4096, 0);
	io_uring_prep_writev(sqe[1], fd, v, 3, 4096);
	io_uring_prep_read(sqe[2], fd, block + MIB, 4096, 4096);
	io_uring_prep_readv(sqe[3], fd, v, 3, 0);
	io_uring_prep_fsync(sqe[4], fd, IORING_FSYNC_DATASYNC);
	io_uring_prep_fsync(sqe[5], fd, 0);
	for (int i = 0; i < 6; i++)
		io_uring_sqe_set_flags(sqe[i], flags | (i < 5 ? IOSQE_IO_LINK : 0));
	submit(ring, 6);
}

static void ring_fixed(struct io_uring *ring, int fd)
{
	struct io_uring_sqe *sqe;

	if (io_uring_register_buffers(ring, &(struct iovec){block, MIB}, 1) ||
		io_uring_register_files(ring, &fd, 1))
		return;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write_fixed(sqe, 0, block, 8192, 0, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read_fixed(sqe, fd, block, 8192, 100, 0);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe, fd, block, 100, -1);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe, fd, block, 3 * MIB, 0);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_fallocate(sqe, fd, 0, 0, 10 * MIB);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read(sqe, -1, block, 100, 0);
	submit(ring, 6);
}

static void ring_names(struct io_uring *ring)
{
	struct statx stx;
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_openat(sqe, AT_FDCWD, "ring-file", O_CREAT | O_RDWR, 0644);
	submit(ring, 1);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_statx(sqe, AT_FDCWD, "ring-file", 0, STATX_ALL, &stx);
	submit(ring, 1);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_renameat(sqe, AT_FDCWD, "ring-file", AT_FDCWD, "ring-file2", 0);
	submit(ring, 1);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_mkdirat(sqe, AT_FDCWD, "ring-dir", 0755);
	submit(ring, 1);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_unlinkat(sqe, AT_FDCWD, "ring-file2", 0);
	submit(ring, 1);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_unlinkat(sqe, AT_FDCWD, "absent", 0);
	submit(ring, 1);
	int fd = open("ring-data", O_RDWR);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_close(sqe, fd);
	submit(ring, 1);
}

static void rings(void)
{
	struct io_uring ring;
	int fd = make("ring-data", 0);

	if (io_uring_queue_init(32, &ring, 0))
		return;
	ring_data(&ring, fd, 0);
	ring_data(&ring, fd, IOSQE_ASYNC);
	ring_fixed(&ring, fd);
	ring_names(&ring);
	io_uring_queue_exit(&ring);
	if (!io_uring_queue_init(32, &ring, IORING_SETUP_SQPOLL)) {
		ring_data(&ring, fd, 0);
		io_uring_queue_exit(&ring);
	}
	close(fd);
}

static const struct shape {
	const char *name;
	void (*run)(void);
} shapes[] = {
	{"large", large},
	{"vectors", vectors},
	{"flags", flags},
	{"appends", appends},
	{"mapped", mapped},
	{"pipes", pipes},
	{"space", space},
	{"opens", opens},
	{"names", names},
	{"attributes", attributes},
	{"descriptors", descriptors},
	{"sockets", sockets},
	{"rings", rings},
	{"processes", processes},
};

static bool is_wanted(const char *name, char **words)
{
	bool wanted = !*words;

	for (; *words; words++)
		wanted |= strstr(name, *words) != NULL;
	return wanted;
}

int main(int argc, char **argv)
{
	block = xaligned(4096, 9 * MIB);
	memset(block, 'x', 9 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (is_wanted(shapes[i].name, argv + 1))
			shapes[i].run();
	return 0;
}
