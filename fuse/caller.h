/* SPDX-License-Identifier: MIT */
/*
 * Making things as the calling process would have made them.
 *
 * The kernel has checked the caller's permissions on the mount (default_permissions); what is left
 * to do below is ownership, so a privileged worker thread takes on the caller's uid and gid for the
 * creation and keeps the right to enter every directory. All of it is per thread.
 */
#ifndef CALLER_H
#define CALLER_H

#include <sys/types.h>

#include "base.h"

struct caller {
	uid_t uid;
	gid_t gid;
	mode_t umask;
};

/* Once in each worker thread, before the others. */
void caller_thread_init(void);

/* Between the two, this thread creates as `caller`. Nothing happens when it would change nothing. */
void caller_become(const struct caller *caller);
void caller_restore(void);

/*
 * What this thread writes from now on takes space as the caller's own writes would: within his quota
 * and without what the file system keeps for root. It stays so until caller_restore(), so that one
 * caller's writes in a row cost nothing.
 */
void caller_spend(uid_t uid, gid_t gid);

/* Between the two, writing clears set-id bits, as it does for everyone but the privileged. */
void caller_drop_fsetid(void);
void caller_regain_fsetid(void);

#endif
