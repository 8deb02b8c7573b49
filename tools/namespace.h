/* SPDX-License-Identifier: MIT */
/* Where a mount is seen: by this process and its children alone, or by all, guarded. */
#ifndef NAMESPACE_H
#define NAMESPACE_H

#include "error.h"

/*
 * Give this process (of one thread) mounts of its own, which end with its last child. Root needs
 * nothing for it; an ordinary user also gets a user namespace, in which he keeps his uid and gid.
 * -errno when the kernel does not allow it; nothing has changed then.
 */
int namespace_private(void);

/*
 * A process that unmounts `path` when this one dies without having said good-bye. It waits until the
 * parent of this one, if alive, has ended what used the mount and says so with MOUNT_GUARD_SIGNAL.
 */
#define MOUNT_GUARD_SIGNAL SIGUSR1
struct mount_guard {
	int line; /* -1 = none */
	int pid;
};
int mount_guard_start(struct mount_guard *g, const char *path, struct error *err);
void mount_guard_dismiss(struct mount_guard *g);

#endif
