/* SPDX-License-Identifier: MIT */
/* A loop device over an open file, by ioctl. */
#ifndef LOOP_H
#define LOOP_H

#include "error.h"

struct loop {
	int fd; /* keeps it attached; the kernel detaches it when the last user is gone */
	char *path;
	bool direct_io;
};

/* `name` is what losetup shows when the file has no name. */
int loop_attach(struct loop *ret, int file, const char *name, struct error *err);
/* Safe on a struct with fd = -1. */
void loop_detach(struct loop *loop);

#endif
