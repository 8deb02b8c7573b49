/* SPDX-License-Identifier: MIT */
/* Frames of u32 raw size, u32 stored size and the records packed by zstd. Only this build reads them. */
#include "audit-log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "cleanup.h"
#include "io.h"
#include "vec.h"

#define FRAME_BYTES (256u << 10)
#define ROOM        (FRAME_BYTES + 16384) /* the last record of a frame may be a long one */
#define LEVEL       1

struct audit_log {
	int fd, r;
	bool writes;
	off_t at;
	size_t used, size; /* reader: of the frame in `raw` */
	char *raw, *stored;
	size_t stored_room;
};

struct frame_header {
	uint32_t raw, stored;
};

int audit_log_create(const char *near, struct error *err)
{
	auto_free char *dir = xstrdup(near);
	char *slash = strrchr(dir, '/');

	if (slash)
		slash[slash == dir] = 0;
	const char *place = slash ? dir : ".";
	int fd = open(place, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	auto_free char *name = xasprintf("%s/.fsreel-audit-XXXXXX", place);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "a file for the audit in %s", place);
	unlink(name);
	return fd;
}

static struct audit_log *log_new(int fd, bool writes)
{
	struct audit_log *l = ALLOC(struct audit_log);

	l->fd = fd;
	l->writes = writes;
	l->raw = xmalloc(ROOM);
	l->stored_room = ZSTD_compressBound(ROOM);
	l->stored = xmalloc(l->stored_room);
	return l;
}

struct audit_log *audit_log_writer(int fd)
{
	return log_new(fd, true);
}

struct audit_log *audit_log_reader(int fd)
{
	return log_new(fd, false);
}

static size_t record_size(const struct probe_record *r)
{
	return (sizeof(*r) + (size_t)PROBE_PATHS * r->path_room + 7) & ~(size_t)7;
}

static void put_frame(struct audit_log *l)
{
	size_t n = ZSTD_compress(l->stored, l->stored_room, l->raw, l->used, LEVEL);
	const struct frame_header header = {(uint32_t)l->used, (uint32_t)n};

	l->used = 0;
	if (!l->r)
		l->r = write_all(l->fd, &header, sizeof(header));
	if (!l->r)
		l->r = write_all(l->fd, l->stored, n);
}

void audit_log_put(struct audit_log *l, const struct probe_record *r)
{
	size_t size = record_size(r);

	memcpy(l->raw + l->used, r, sizeof(*r) + (size_t)PROBE_PATHS * r->path_room);
	l->used += size;
	if (l->used >= FRAME_BYTES)
		put_frame(l);
}

static int get_frame(struct audit_log *l, struct error *err)
{
	struct frame_header header;
	ssize_t n = pread(l->fd, &header, sizeof(header), l->at);

	if (!n)
		return 0;
	if (n != sizeof(header) || header.stored > l->stored_room || header.raw > ROOM)
		return error_set(err, EIO, "the audit's record of the calls is cut off");
	n = pread(l->fd, l->stored, header.stored, l->at + (off_t)sizeof(header));
	if (n != header.stored)
		return error_set(err, EIO, "the audit's record of the calls is cut off");
	l->at += (off_t)(sizeof(header) + header.stored);
	l->size = ZSTD_decompress(l->raw, ROOM, l->stored, header.stored);
	l->used = 0;
	if (l->size != header.raw)
		return error_set(err, EIO, "the audit's record of the calls cannot be read");
	return 1;
}

int audit_log_next(struct audit_log *l, const struct probe_record **ret, struct error *err)
{
	if (l->used == l->size) {
		int r = get_frame(l, err);
		if (r <= 0)
			return r;
	}
	const struct probe_record *record = (const void *)(l->raw + l->used);
	l->used += record_size(record);
	*ret = record;
	return 1;
}

int audit_log_close(struct audit_log *l)
{
	if (!l)
		return 0;
	if (l->writes && l->used)
		put_frame(l);
	int r = l->r;
	free(l->raw);
	free(l->stored);
	free(l);
	return r;
}
