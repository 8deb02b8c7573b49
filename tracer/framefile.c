/* SPDX-License-Identifier: MIT */
#include "framefile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cleanup.h"
#include "crc32c.h"
#include "io.h"

#define RESERVE      (128u << 10)
#define RESERVE_STEP (4u << 20)

/* Only an empty file or an older trace is replaced. */
static int check_replaceable(int fd, const char *path, struct error *err)
{
	struct stat st;
	char magic[FORMAT_MAGIC_SIZE];

	if (fstat(fd, &st))
		return error_errno(err, errno, "cannot examine %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s is not a regular file; a trace needs one", path);
	if (flock(fd, LOCK_EX | LOCK_NB))
		return error_set(err, EBUSY, "%s is being written by another fsreel", path);
	if (!st.st_size)
		return 0;
	ssize_t n = pread_full(fd, magic, sizeof(magic), 0);
	if (n != sizeof(magic) || memcmp(magic, FORMAT_MAGIC, sizeof(magic)))
		return error_set(err, EEXIST,
			"%s exists and is no trace; remove it or choose another name", path);
	return 0;
}

int frame_file_create(struct frame_file *f, const char *path, struct error *err)
{
	uint8_t head[FILE_HEADER_SIZE] = {[8] = FORMAT_MAJOR, [10] = FORMAT_MINOR};
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);

	if (fd < 0)
		return error_errno(err, errno, "cannot create %s", path);
	int r = check_replaceable(fd, path, err);
	if (r < 0)
		return r;
	memcpy(head, FORMAT_MAGIC, FORMAT_MAGIC_SIZE);
	if (ftruncate(fd, 0))
		return error_errno(err, errno, "cannot empty %s", path);
	r = pwrite_all(fd, head, sizeof(head), 0);
	if (r < 0) {
		unlink(path);
		return error_errno(err, r, "cannot write %s", path);
	}
	*f = (struct frame_file){.fd = take_fd(fd), .size = sizeof(head)};
	return 0;
}

int frame_file_close(struct frame_file *f)
{
	int r = ftruncate(f->fd, (off_t)f->size) ? -errno : 0;

	if (close(f->fd) && !r)
		r = -errno;
	bytes_free(&f->packed);
	return r;
}

/* Make sure that `size` bytes more, and the reserve behind them, have their space. */
static int frame_reserve(struct frame_file *f, uint64_t size)
{
	uint64_t want = f->size + size + RESERVE;

	if (f->no_reserve || want <= f->reserved)
		return 0;
	for (uint64_t ahead = RESERVE_STEP;; ahead = 0) {
		if (!fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->size,
			    (off_t)(want + ahead - f->size))) {
			f->reserved = want + ahead;
			return 0;
		}
		if (errno == EOPNOTSUPP || errno == ENOSYS) {
			f->no_reserve = true;
			return 0;
		}
		if (errno != EINTR && !ahead)
			return -errno;
	}
}

/* Compress raw into f->packed if that makes it smaller. */
static bool frame_squeeze(struct frame_file *f, const struct bytes *raw)
{
	f->packed.size = 0;
	bytes_reserve(&f->packed, ZSTD_compressBound(raw->size));
	size_t n = ZSTD_compress(f->packed.data, f->packed.capacity, raw->data, raw->size, 1);
	if (ZSTD_isError(n) || n >= raw->size)
		return false;
	f->packed.size = n;
	return true;
}

int frame_put(struct frame_file *f, enum frame_type type, uint8_t flags, const struct bytes *raw,
	bool last)
{
	struct frame_header h = {(uint8_t)type, flags, (uint32_t)raw->size, 0, 0};
	uint8_t head[FRAME_HEADER_SIZE];
	const struct bytes *payload = raw;

	if (raw->size > FRAME_MAX)
		return -EFBIG;
	if (flags & FRAME_ZSTD && frame_squeeze(f, raw))
		payload = &f->packed;
	else
		h.flags &= (uint8_t)~FRAME_ZSTD;
	h.stored = (uint32_t)payload->size;
	frame_header_put(head, &h);
	h.crc = crc32c(crc32c(0, head, 12), payload->data, payload->size);
	frame_header_put(head, &h);
	int r = last ? 0 : frame_reserve(f, sizeof(head) + payload->size);
	/* The header last: until it is there, the frame does not exist for a reader. */
	if (!r)
		r = pwrite_all(
			f->fd, payload->data, payload->size, (off_t)(f->size + sizeof(head)));
	if (!r)
		r = pwrite_all(f->fd, head, sizeof(head), (off_t)f->size);
	/* A piece of a frame without its header is overwritten by the next, or cut off at the end. */
	if (!r)
		f->size += sizeof(head) + payload->size;
	return r;
}
