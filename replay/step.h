/* SPDX-License-Identifier: MIT */
/*
 * Making the call of one step: one blocking function per operation, found by its name in ops.def,
 * and for those that io_uring carries a submission as well.
 *
 * All of them return what a trace records: >= 0, or -errno. They never follow a symbolic link and
 * never leave the root, whatever the plan says.
 */
#ifndef STEP_H
#define STEP_H

#include "files.h"
#include "payload.h"
#include "plan.h"

struct io_uring_sqe;

/* What a call needs beside its step. One per lane or loop; the members are shared. */
struct replay_context {
	struct files *files;           /* slots -> descriptors */
	const struct payload *payload; /* what writes write */
	void *buffer;                  /* PAYLOAD_SIZE bytes, page-aligned: reads land here */
	bool keep_owners;              /* chown as in the trace */
	bool no_direct;                /* drop O_DIRECT where the target refuses it */
	bool impatient;                /* locks: one attempt, whatever the capture's result was */
};

/* Make the call and wait for it. */
int64_t step_sync(struct replay_context *ctx, const struct step *step);

/*
 * Prepare the same call for the ring, or return false: "not here, use step_sync()". `how` must stay
 * where it is until the submission was taken. The caller sets user_data and, once the result is
 * there, passes it through step_uring_done(), which does what follows a call (an open's descriptor
 * goes into its slot) and returns the result to record.
 */
bool step_uring_prep(struct io_uring_sqe *sqe, struct replay_context *ctx, const struct step *step,
	struct open_how *how);
int64_t step_uring_done(struct replay_context *ctx, const struct step *step, int64_t res);
/* Has the operation a form in the ring that this kernel knows? */
bool step_uring_has(enum op op);

/* Parts that both forms share. */

/* What a write writes, in one piece; NULL if it is longer than the payload: see payload_iov(). */
const void *step_data(const struct replay_context *ctx, const struct step *step);

/* Flags for openat() from a step's; O_DIRECT only where wanted. */
int step_open_flags(const struct replay_context *ctx, const struct step *step);
/* Permission bits for a new file: never set-id bits unless owners are kept. */
unsigned step_mode(const struct replay_context *ctx, const struct step *step);
/* Opening calls (open, create, tmpfile, opendir): all of it but the directory. */
struct open_how step_open_how(const struct replay_context *ctx, const struct step *step);
const char *step_open_name(const struct step *step);
/* After an rmdir or a rename that succeeded: what the table of directories must know. */
void step_dirs_changed(struct replay_context *ctx, const struct step *step);

#endif
