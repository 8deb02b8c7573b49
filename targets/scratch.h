/* SPDX-License-Identifier: MIT */
/* The inside of struct scratch, for target.c. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "loop.h"
#include "target.h"

struct scratch {
	char *path; /* of the block device */
	int file;   /* the scratch file, or -1: the user's own device */
	struct loop loop;
	uint64_t size;
	dev_t device;
	char *where;     /* for people: the device, or where the scratch file lies */
	char *backed_by; /* file system the scratch file lies on, NULL for a device */
};

#endif
