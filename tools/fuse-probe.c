/* SPDX-License-Identifier: MIT */
#include "fuse-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <string.h>
#include <sys/mount.h>

#include "child.h"
#include "cleanup.h"
#include "namespace.h"
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

/* In a child, because of the namespaces; mounts over /proc, which nobody else can see. */
static int probe_in_child(void *arg, struct error *err)
{
	struct fuse_probe *ret = arg;
	int r = namespace_private();

	if (r)
		return error_errno(err, r, "no namespace to try it in");
	/* Only now: the kernel wants it opened in the user namespace that mounts. */
	auto_close int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		return error_errno(err, errno, "/dev/fuse");
	auto_free char *options = xasprintf(
		"fd=%d,rootmode=40000,user_id=%u,group_id=%u", fuse, geteuid(), getegid());
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
