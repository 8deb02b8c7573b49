/* SPDX-License-Identifier: MIT */
/*
 * The probe beside a capture: what FUSE is not asked for becomes events of the same trace, and the
 * CPU time between calls is the kernel's own account.
 */
#ifndef CAPTURE_PROBE_H
#define CAPTURE_PROBE_H

#include "capture.h"
#include "error.h"
#include "writer.h"

enum probe_wish {
	PROBE_AUTO, /* if it works here */
	PROBE_YES,  /* or fail */
	PROBE_NO,
};

struct capture_probe;

/* What of it is worth telling afterwards. */
struct capture_probe_result {
	bool ran;
	uint64_t events; /* put into the trace */
	uint64_t lost;   /* for want of room, or because nothing is known of their file */
	char why_not[256];
};

/*
 * Load it for the tree that will work below `dir`; nobody is watched yet. *ret is NULL, and `result`
 * says why, where it is not wanted or does not work. Fails only if the wish is PROBE_YES.
 */
int capture_probe_open(struct capture_probe **ret, enum probe_wish wish, const char *dir,
	struct capture_probe_result *result, struct error *err);
/* For capture_options; NULL if p is NULL. Good as long as p. */
const struct capture_clock *capture_probe_clock(const struct capture_probe *p);
/* Watch `pid` and its descendants; their events go to `w`. Does nothing if p is NULL. */
int capture_probe_start(struct capture_probe *p, struct capture *c, struct trace_writer *w,
	pid_t pid, struct error *err);
/* Before the mount and the trace go. Does nothing if p is NULL. */
void capture_probe_stop(struct capture_probe *p, struct capture_probe_result *result);
/* After the mount is gone; takes NULL. */
void capture_probe_close(struct capture_probe *p);

#endif
