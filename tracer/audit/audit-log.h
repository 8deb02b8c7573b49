/* SPDX-License-Identifier: MIT */
/*
 * Records of the probe, kept in a file without a name until they are wanted: the writer packs them
 * while the calls are made, the reader gives them back in the same order when all is over. About 20
 * bytes a call on disk; memory for one frame of them on either side.
 */
#ifndef AUDIT_LOG_H
#define AUDIT_LOG_H

#include "error.h"
#include "probe-record.h"

struct audit_log;

/* A file for the records in the directory of `near` (another file there). A descriptor, or -errno. */
int audit_log_create(const char *near, struct error *err);

/* Both sides work on the descriptor, which stays the caller's. */
struct audit_log *audit_log_writer(int fd);
struct audit_log *audit_log_reader(int fd);

/* A failure is kept for audit_log_close(). */
void audit_log_put(struct audit_log *l, const struct probe_record *r);
/* 1 and the record, good until the next call; 0 at the end; -errno. */
int audit_log_next(struct audit_log *l, const struct probe_record **ret, struct error *err);

/* Write what is left. 0, or the first -errno of the writer. Takes NULL. */
int audit_log_close(struct audit_log *l);

#endif
