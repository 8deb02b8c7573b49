/* SPDX-License-Identifier: MIT */
/*
 * The audit of a capture. While the command runs, the recorder keeps what the probe sees of its
 * calls; when the trace is complete, the caller lays the two side by side and shows what came out.
 */
#ifndef CAPTURE_AUDIT_H
#define CAPTURE_AUDIT_H

#include <sys/types.h>

#include "error.h"

/* Plain data: it comes out of the recorder through shared memory. */
struct capture_audit {
	uint32_t device;   /* of the mount, as the kernel writes it */
	uint64_t epoch_ns; /* time 0 of the trace */
	uint64_t calls;    /* records kept */
	uint64_t lost;     /* records that the probe could not deliver */
	int log_error;     /* -errno if records could not be kept */
	bool others;       /* the mount could be seen by processes that are not watched */
};

struct audit_recording;

/* Keep the calls on `mount` of `pid` and its descendants, in `fd` (audit_log_create()). */
int audit_recording_start(struct audit_recording **ret, int fd, const char *mount, uint32_t device,
	pid_t pid, struct error *err);
/* Fills `calls`, `lost` and `log_error`. Takes NULL. */
void audit_recording_stop(struct audit_recording *rec, struct capture_audit *ret);

/*
 * Compare the records in `fd` with the trace, and print the result. 1 if all is accounted for, 0 if
 * not or if nobody can tell, -errno.
 */
int capture_audit_show(const struct capture_audit *audit, int fd, const char *trace,
	const char *mount, bool json, struct error *err);

#endif
