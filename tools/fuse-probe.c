/* SPDX-License-Identifier: MIT */
#include "fuse-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "child.h"
#include "cleanup.h"
#include "io.h"
#include "vec.h"

/* The request as the kernel lays it out; flags2 is there since protocol 7.36. */
struct init_request {
	struct fuse_in_header header;
	struct fuse_init_in init;
};

#define INIT_EXT (UINT32_C(1) << 30)

static int read_init(int fuse, struct fuse_probe *ret, struct error *err)
{
	_Alignas(8) char buffer[FUSE_MIN_READ_BUFFER] = {0};
	struct pollfd p = {.fd = fuse, .events = POLLIN};
	struct init_request request = {0};

	ssize_t n = poll(&p, 1, 2000) == 1 ? read(fuse, buffer, sizeof(buffer)) : -1;
	if (n < 0)
		return error_errno(err, n ? errno : ETIMEDOUT, "no request from the kernel");
	memcpy(&request, buffer, (size_t)n < sizeof(request) ? (size_t)n : sizeof(request));
	if (request.header.opcode != FUSE_INIT)
		return error_set(err, EPROTO, "the kernel's first request is not INIT");
	*ret = (struct fuse_probe){request.init.major, request.init.minor, request.init.flags};
	if (request.init.flags & INIT_EXT)
		ret->flags |= (uint64_t)request.init.flags2 << 32;
	return 0;
}

/* Without a map both ids are the overflow id in a new user namespace, and unusable. */
static int map_ids(unsigned uid, unsigned gid)
{
	const struct {
		const char *path;
		char *text;
	} maps[] = {
		{"/proc/self/setgroups", xstrdup("deny")},
		{"/proc/self/uid_map", xasprintf("%u %u 1", uid, uid)},
		{"/proc/self/gid_map", xasprintf("%u %u 1", gid, gid)},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		auto_close int fd = open(maps[i].path, O_WRONLY | O_CLOEXEC);
		if (!r)
			r = write_all(fd, maps[i].text, strlen(maps[i].text));
		free(maps[i].text);
	}
	return r;
}

static int enter_namespace(unsigned uid, unsigned gid, struct error *err)
{
	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS))
		return error_errno(err, errno, "no namespace to try it in");
	int r = uid ? map_ids(uid, gid) : 0;
	if (!r && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		r = -errno;
	return r ? error_errno(err, r, "the namespace cannot be set up") : 0;
}

/* In a child, because of the namespaces; mounts over /proc, which nobody else can see. */
static int probe_in_child(void *arg, struct error *err)
{
	struct fuse_probe *ret = arg;
	unsigned uid = geteuid(), gid = getegid();
	int r = enter_namespace(uid, gid, err);

	if (r)
		return r;
	/* Only now: the kernel wants it opened in the user namespace that mounts. */
	auto_close int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		return error_errno(err, errno, "/dev/fuse");
	auto_free char *options =
		xasprintf("fd=%d,rootmode=40000,user_id=%u,group_id=%u", fuse, uid, gid);
	if (mount("fsreel", "/proc", "fuse", MS_NOSUID | MS_NODEV, options))
		return error_errno(err, errno, "mounting FUSE");
	return read_init(fuse, ret, err);
}

int fuse_probe(struct fuse_probe *ret, struct error *err)
{
	struct fuse_probe *shared = shared_memory(sizeof(*shared));
	int r = child_run(probe_in_child, shared, NULL, err);

	*ret = *shared;
	shared_memory_free(shared, sizeof(*shared));
	return r;
}
