/* SPDX-License-Identifier: MIT */
/*
 * Appending frames to a trace file. Some space ahead is always kept allocated, so that a disk that
 * fills up still takes INDEX and END. Not thread-safe.
 */
#ifndef FRAMEFILE_H
#define FRAMEFILE_H

#include "error.h"
#include "format.h"

struct frame_file {
	int fd;
	uint64_t size;     /* whole frames written */
	uint64_t reserved; /* allocated up to here */
	bool no_reserve;   /* the file system cannot */
	struct bytes packed;
};

/* Create or replace a trace, and nothing else; writes the file's header. */
int frame_file_create(struct frame_file *f, const char *path, struct error *err);
/* Cut what was reserved and close. 0 or -errno. */
int frame_file_close(struct frame_file *f);

/*
 * Append one frame of raw bytes. On failure (-errno) the file is as before. `last`: may use the
 * space that was kept for the end.
 */
int frame_put(struct frame_file *f, enum frame_type type, uint8_t flags, const struct bytes *raw,
	bool last);

#endif
