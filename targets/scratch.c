/* SPDX-License-Identifier: MIT */
/*
 * The device that all targets of one command are made on, one after the other.
 *
 * Usually a loop device over a scratch file, which has no name from the moment it is open: however
 * this process ends, the kernel takes the file and the loop device back. With --device it is the
 * user's own, which is touched only if it is in no use (O_EXCL) and libblkid finds nothing on it,
 * or the user insists; the signatures of our file systems are wiped again at the end.
 */
#include "scratch.h"

#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "cleanup.h"
#include "fstype.h"
#include "io.h"
#include "mounting.h"
#include "units.h"
#include "vec.h"

#define DEFAULT_SIZE (UINT64_C(2) << 30)
#define MIN_SIZE     (UINT64_C(1) << 20)

static void cleanup_probe(blkid_probe *probe)
{
	if (*probe)
		blkid_free_probe(*probe);
}

/* A probe for everything that marks a device as somebody's: file systems, RAID, partitions. */
static blkid_probe probe_new(int fd)
{
	blkid_probe probe = blkid_new_probe();

	if (probe && blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_free_probe(probe);
		return NULL;
	}
	if (probe) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_MAGIC |
								 BLKID_SUBLKS_BADCSUM |
								 BLKID_SUBLKS_LABEL);
		blkid_probe_enable_partitions(probe, 1);
		blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC);
	}
	return probe;
}

/* Refuse a device that holds anything. */
static int guard_signatures(int fd, const char *path, struct error *err)
{
	__attribute__((cleanup(cleanup_probe))) blkid_probe probe = probe_new(fd);
	const char *type = NULL, *label = NULL;

	if (!probe)
		return error_set(err, EIO, "%s: cannot be examined", path);
	int found = blkid_do_fullprobe(probe);
	if (found == 1)
		return 0;
	if (found < 0)
		return error_set(err, EIO, "%s: cannot be examined; is it readable?", path);
	if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) &&
		blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL))
		type = "unknown";
	blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
	return error_set(err, EEXIST,
		"%s holds something: %s%s%s%s; everything on it would be lost. "
		"Use --force if that is what you want",
		path, type, label ? " (label '" : "", label ? label : "", label ? "')" : "");
}

/* Leave the device as empty as it was found. */
static void wipe_signatures(const char *path)
{
	auto_close int fd = open(path, O_RDWR | O_CLOEXEC | O_EXCL);
	__attribute__((cleanup(cleanup_probe))) blkid_probe probe = fd < 0 ? NULL : probe_new(fd);

	while (probe && blkid_do_probe(probe) == 0)
		if (blkid_do_wipe(probe, 0))
			return;
}

static int device_open(struct scratch *s, const struct scratch_options *options, struct error *err)
{
	const char *path = options->device;
	auto_close int fd = open(path, O_RDWR | O_CLOEXEC | O_EXCL);
	struct stat st;

	if (fd < 0 && errno == EBUSY)
		return error_set(err, EBUSY,
			"%s is in use (mounted, swap, or part of another device); it will not be "
			"touched, not even with --force",
			path);
	if (fd < 0)
		return error_errno(err, errno, "%s", path);
	if (fstat(fd, &st) || !S_ISBLK(st.st_mode))
		return error_set(err, ENOTBLK,
			"%s is not a block device; for a scratch file use --scratch-dir", path);
	if (options->size)
		return error_set(err, EINVAL, "--size is for scratch files, %s has its own", path);
	int r = options->force ? 0 : guard_signatures(fd, path, err);
	if (r)
		return r;
	if (ioctl(fd, BLKGETSIZE64, &s->size))
		return error_errno(err, errno, "%s: size", path);
	s->path = xstrdup(path);
	s->where = xstrdup(path);
	s->device = st.st_rdev;
	return 0;
}

/* A file without a name. */
static int open_unnamed(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd < 0 ? -errno : fd;
	auto_free char *path = xasprintf("%s/fsreel-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

/* btrfs would otherwise copy on write below every target, and fragment the file. */
static void avoid_copy_on_write(int fd)
{
	int flags;

	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		flags |= FS_NOCOW_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

static int check_room(int fd, const char *dir, uint64_t size, struct error *err)
{
	struct statvfs fs;
	struct unit_text want, have;

	if (fstatvfs(fd, &fs))
		return error_errno(err, errno, "%s", dir);
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (size > free_bytes)
		return error_set(err, ENOSPC,
			"the scratch file may grow to %s, but %s has only %s free; choose another "
			"--scratch-dir or a smaller --size",
			format_bytes(size, &want), dir, format_bytes(free_bytes, &have));
	return 0;
}

static const char *default_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/var/tmp";
}

static int file_open(struct scratch *s, const struct scratch_options *options, struct error *err)
{
	const char *dir = options->dir ? options->dir : default_dir();
	auto_close int fd = open_unnamed(dir);
	struct stat st;

	s->size = options->size ? options->size : DEFAULT_SIZE;
	if (s->size < MIN_SIZE)
		return error_set(err, ERANGE, "--size is below 1M; no file system fits");
	if (fd < 0)
		return error_errno(err, fd, "cannot make a scratch file in %s", dir);
	int r = check_room(fd, dir, s->size, err);
	if (r)
		return r;
	avoid_copy_on_write(fd);
	if (ftruncate(fd, (off_t)s->size))
		return error_errno(err, errno, "scratch file in %s: size", dir);
	r = loop_attach(&s->loop, fd, "fsreel", err);
	if (r)
		return r;
	if (fstat(s->loop.fd, &st))
		return error_errno(err, errno, "%s", s->loop.path);
	s->file = take_fd(fd);
	s->device = st.st_rdev;
	s->path = xstrdup(s->loop.path);
	s->backed_by = mounted_type(dir);
	s->where = xasprintf("scratch file in %s", dir);
	return 0;
}

int scratch_open(struct scratch **ret, const struct scratch_options *options, struct error *err)
{
	struct scratch *s = ALLOC(struct scratch);

	s->file = -1;
	s->loop.fd = -1;
	int r = options->device ? device_open(s, options, err) : file_open(s, options, err);
	if (r) {
		scratch_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void scratch_close(struct scratch *s)
{
	if (!s)
		return;
	if (s->file < 0 && s->path)
		wipe_signatures(s->path);
	loop_detach(&s->loop);
	if (s->file >= 0)
		close(s->file);
	free(s->path);
	free(s->where);
	free(s->backed_by);
	free(s);
}

const char *scratch_device(const struct scratch *s)
{
	return s->path;
}

/* An attribute of the device's queue; NULL if the kernel does not say. */
static char *queue_attribute(const struct scratch *s, const char *name)
{
	auto_free char *path = xasprintf(
		"/sys/dev/block/%u:%u/queue/%s", major(s->device), minor(s->device), name);

	return read_text(path);
}

json_t *scratch_json(const struct scratch *s)
{
	auto_free char *rotational = queue_attribute(s, "rotational");
	auto_free char *cache = queue_attribute(s, "write_cache");
	auto_free char *scheduler = queue_attribute(s, "scheduler");
	json_t *o = json_object();

	json_object_set_new(o, "device", json_string(s->path));
	json_object_set_new(o, "where", json_string(s->where));
	json_object_set_new(o, "size_bytes", json_integer((json_int_t)s->size));
	if (s->backed_by)
		json_object_set_new(o, "backed_by", json_string(s->backed_by));
	if (s->file >= 0)
		json_object_set_new(o, "direct_io", json_boolean(s->loop.direct_io));
	if (rotational)
		json_object_set_new(o, "rotational", json_boolean(*rotational == '1'));
	if (cache)
		json_object_set_new(o, "write_cache", json_string(cache));
	if (scheduler)
		json_object_set_new(o, "scheduler", json_string(scheduler));
	return o;
}
