/* SPDX-License-Identifier: MIT */
/* Mounting, with the kernel's own words when it refuses, and looking at what is mounted. */
#ifndef MOUNTING_H
#define MOUNTING_H

#include "error.h"

/* May this process mount? Root in a container often may not. */
bool mounting_allowed(void);

/* This process into a mount namespace of its own; 0 without effect when it may not. Once is enough. */
int mounting_enter(struct error *err);

/* A new empty directory to mount on, private to this process after mounting_enter(). Caller frees
 * it, and removes it after unmounting. */
char *mounting_point(const char *name, struct error *err);

/*
 * Mount `type` on `path`. `options` is the comma-separated list as for mount(8), may be NULL;
 * each is handed to the kernel by itself, so the error names the one it refused and why.
 */
int mounting_mount(const char *type, const char *source, const char *path, const char *options,
	struct error *err);

/* Unmount; a mount that is still busy is tried again for some seconds and then detached, with an
 * error. */
int mounting_unmount(const char *path, struct error *err);

/* What /proc/self/mountinfo says about the mount that holds `path`. Strings are owned. */
struct mounted {
	char *type, *source, *options;
};
int mounted_at(struct mounted *ret, const char *path, struct error *err);
void mounted_done(struct mounted *m);
/* Its type alone, or NULL. Caller frees. */
char *mounted_type(const char *path);

#endif
