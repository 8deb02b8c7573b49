/* SPDX-License-Identifier: MIT */
/* What this kernel's FUSE can do, asked of the kernel itself: it says so in its first request. */
#ifndef FUSE_PROBE_H
#define FUSE_PROBE_H

#include "error.h"

struct fuse_probe {
	uint32_t major, minor; /* of the protocol */
	uint64_t flags;        /* of FUSE_INIT, both halves */
};

#define FUSE_PROBE_ALLOW_MMAP (UINT64_C(1) << 36) /* FUSE_DIRECT_IO_ALLOW_MMAP, Linux 6.6 */

/*
 * Mount a FUSE file system without a daemon in a throw-away namespace, and read the request. The
 * error says what kept it from that.
 */
int fuse_probe(struct fuse_probe *ret, struct error *err);

#endif
