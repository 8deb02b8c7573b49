/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "cleanup.h"
#include "io.h"
#include "vec.h"

/* Others look for free loop devices too; each lost race costs one attempt. */
#define ATTACH_ATTEMPTS 100

/* The node of loop device `number`; made if nobody else makes it (no devtmpfs, no udev). */
static int loop_node(const char *path, int number)
{
	auto_free char *sysfs = xasprintf("/sys/block/loop%d/dev", number);
	const struct timespec pause = {.tv_nsec = 20000000};

	for (int i = 0; i < 25 && access(path, F_OK); i++)
		nanosleep(&pause, NULL);
	if (access(path, F_OK)) {
		auto_free char *text = read_text(sysfs);
		unsigned maj, min;
		if (text && sscanf(text, "%u:%u", &maj, &min) == 2)
			mknod(path, S_IFBLK | 0600, makedev(maj, min));
	}
	int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The file's own alignment for direct I/O, if that is coarser than the loop device's default. */
static uint32_t loop_block_size(int file)
{
	struct statx st;

	if (statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) || !(st.stx_mask & STATX_DIOALIGN))
		return 0;
	return st.stx_dio_offset_align > 512 && st.stx_dio_offset_align <= 4096
	               ? st.stx_dio_offset_align
	               : 0;
}

static int loop_configure(int fd, int file, const char *name)
{
	struct loop_config config = {
		.fd = (uint32_t)file,
		.block_size = loop_block_size(file),
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
	};

	snprintf((char *)config.info.lo_file_name, sizeof(config.info.lo_file_name), "%s", name);
	return ioctl(fd, LOOP_CONFIGURE, &config) ? -errno : 0;
}

/* 0, -EBUSY when somebody else was faster, or another -errno. */
static int loop_attach_once(struct loop *ret, int control, int file, const char *name)
{
	struct loop_info64 info = {0};
	int number = ioctl(control, LOOP_CTL_GET_FREE);

	if (number < 0)
		return -errno;
	auto_free char *path = xasprintf("/dev/loop%d", number);
	auto_close int fd = loop_node(path, number);
	if (fd < 0)
		return fd;
	int r = loop_configure(fd, file, name);
	if (r)
		return r;
	bool known = !ioctl(fd, LOOP_GET_STATUS64, &info);
	*ret = (struct loop){
		.fd = take_fd(fd),
		.path = take_ptr(path),
		.direct_io = known && (info.lo_flags & LO_FLAGS_DIRECT_IO),
	};
	return 0;
}

int loop_attach(struct loop *ret, int file, const char *name, struct error *err)
{
	auto_close int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int r = -EBUSY;

	*ret = (struct loop){.fd = -1};
	if (control < 0)
		return error_errno(err, errno,
			"no loop devices here (/dev/loop-control); use --device, or dir:PATH");
	for (int i = 0; i < ATTACH_ATTEMPTS && r == -EBUSY; i++)
		r = loop_attach_once(ret, control, file, name);
	if (r)
		return error_errno(err, r, "cannot attach a loop device");
	return 0;
}

void loop_detach(struct loop *loop)
{
	if (loop->fd >= 0)
		close(loop->fd);
	free(loop->path);
	*loop = (struct loop){.fd = -1};
}
