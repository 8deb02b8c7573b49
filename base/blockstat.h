/* SPDX-License-Identifier: MIT */
/* What a block device and the journal on it did, as the kernel counts it. */
#ifndef BLOCKSTAT_H
#define BLOCKSTAT_H

#include <sys/types.h>

#include "error.h"

struct blockstat {
	bool valid; /* false: no block device behind this directory, or the kernel does not say */
	uint64_t reads, read_bytes;
	uint64_t writes, write_bytes;
	uint64_t flushes;
	uint64_t busy_ns; /* time with at least one request in flight */
	uint64_t commits; /* journal commits (ext3, ext4: jbd2; btrfs: transactions); 0 where not
	                     counted */
};

/* Counters of device `dev` now (/sys/dev/block/MAJ:MIN/stat, Documentation/block/stat.rst). */
void blockstat_read(dev_t dev, struct blockstat *ret);
/* What happened between two readings; valid only if both were. */
struct blockstat blockstat_since(const struct blockstat *now, const struct blockstat *before);

#endif
