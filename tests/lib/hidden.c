/* SPDX-License-Identifier: MIT */
/* Makes each call that a FUSE file system is not asked for, once, in the directory that is named. */
#include <fcntl.h>
#include <liburing.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int held, const char *what)
{
	if (held)
		return;
	perror(what);
	exit(1);
}

static void advise_and_sync(int fd)
{
	static char data[8192] = {1};
	struct iovec iov = {data, 512};

	must(pwrite(fd, data, sizeof(data), 0) == sizeof(data), "pwrite");
	must(!sync_file_range(fd, 4096, 100, SYNC_FILE_RANGE_WRITE), "sync_file_range");
	must(!posix_fadvise(fd, 0, 4096, POSIX_FADV_WILLNEED), "posix_fadvise");
	must(!readahead(fd, 0, sizeof(data)), "readahead");
	must(pwritev2(fd, &iov, 1, 0, RWF_DSYNC) == 512, "pwritev2");
	must(!syncfs(fd), "syncfs");
	sync();
}

static void map(int fd)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must(at != MAP_FAILED, "mmap");
	at[1] = 2;
	must(!msync(at, 8192, MS_SYNC), "msync");
	must(!madvise(at, 8192, MADV_RANDOM), "madvise");
	must(!munmap(at, 8192), "munmap");
}

static void use_ring(int fd)
{
	struct io_uring ring;
	struct io_uring_cqe *cqe;

	must(!io_uring_queue_init(8, &ring, 0), "io_uring_queue_init");
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	io_uring_prep_write(sqe, fd, "0123456789", 10, 0);
	io_uring_sqe_set_flags(sqe, IOSQE_IO_LINK);
	io_uring_prep_fsync(io_uring_get_sqe(&ring), fd, IORING_FSYNC_DATASYNC);
	must(io_uring_submit_and_wait(&ring, 2) == 2, "io_uring_submit");
	must(!io_uring_wait_cqe_nr(&ring, &cqe, 2), "io_uring_wait_cqe");
	io_uring_queue_exit(&ring);
}

static void use_aio(int fd)
{
	aio_context_t ctx = 0;
	struct io_event events[1];
	struct iocb one = {.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uintptr_t) "0123456789",
		.aio_nbytes = 10};
	struct iocb *list[] = {&one};

	must(!syscall(SYS_io_setup, 8, &ctx), "io_setup");
	must(syscall(SYS_io_submit, ctx, 1, list) == 1, "io_submit");
	must(syscall(SYS_io_getevents, ctx, 1, 1, events, NULL) == 1, "io_getevents");
}

int main(int argc, char **argv)
{
	must(argc == 2 && !chdir(argv[1]), "directory");
	int fd = open("a", O_RDWR | O_CREAT, 0644);
	must(fd >= 0, "open");
	advise_and_sync(fd);
	map(fd);
	use_ring(fd);
	use_aio(fd);
	pid_t pid = fork();
	if (!pid)
		_exit(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	waitpid(pid, NULL, 0);
	close(fd);
	/* The handle's number may be given again at once: which file it is must be told by the time. */
	for (int i = 0; i < 20; i++) {
		char name[] = {(char)('b' + i), 0};
		fd = open(name, O_RDWR | O_CREAT, 0644);
		must(fd >= 0 && !posix_fadvise(fd, i, 1, POSIX_FADV_NORMAL), "posix_fadvise");
		close(fd);
	}
	return 0;
}
