/* SPDX-License-Identifier: MIT */
/*
 * A place to run on: a freshly made file system on a scratch device, or a directory of the user's.
 *
 *   TARGET = TYPE[:MOUNT-OPTIONS[:MKFS-OPTIONS]] | dir:PATH
 *
 * target_enter() puts this process into a mount namespace of its own, so that mounts made here
 * vanish with the process however it dies; loop devices are set to detach by themselves and scratch
 * files are unlinked as soon as they are open.
 */
#ifndef TARGET_H
#define TARGET_H

#include <jansson.h>

#include "blockstat.h"
#include "error.h"
#include "table.h"

struct scratch;
struct target;

struct scratch_options {
	const char *device; /* a block device, or NULL: a loop device over a scratch file */
	const char *dir;    /* where the scratch file lies; NULL = $TMPDIR or /var/tmp */
	uint64_t size;      /* of the scratch file; 0 = 2 GiB */
	bool force;         /* use a device that holds a signature */
};

/* May this process make and mount file systems at all? */
bool target_privileged(void);

/* Once per process, before the first target is made; does nothing without privilege. */
int target_enter(struct error *err);

/* Parse and check TARGET without touching anything: type known, options sane, directory there. */
int target_new(struct target **ret, const char *spec, const char *label, struct error *err);
void target_free(struct target *t);
const char *target_label(const struct target *t); /* the label, or the TARGET text */
bool target_is_dir(const struct target *t);

/* 0 if it can be made here; otherwise says what is missing (program, module, privilege) and the
 * remedy. */
int target_available(const struct target *t, struct error *err);

/* One device for all targets, so that all are made on the same blocks. */
int scratch_open(struct scratch **ret, const struct scratch_options *options, struct error *err);
void scratch_close(struct scratch *s);
const char *scratch_device(const struct scratch *s);
/* Device, size, direct I/O, write cache ...: what a reader of the results must know. Caller owns it. */
json_t *scratch_json(const struct scratch *s);

/* mkfs and mount; or, for dir:, make a private empty subdirectory. s may be NULL for dir:. */
int target_make(struct target *t, struct scratch *s, struct error *err);
/* Unmount, or remove the subdirectory. Safe when nothing is made. */
int target_unmake(struct target *t, struct error *err);

/* While made: */
const char *target_path(const struct target *t);
int target_root_fd(const struct target *t);
const char *target_options(const struct target *t);         /* mount options really in effect */
int target_sync(const struct target *t, struct error *err); /* syncfs */
/*
 * Everything on the device and, as far as privilege allows, nothing of it in memory. A file system
 * of ours is mounted anew for that, so no file on it may be open, and target_root_fd() is another
 * one afterwards.
 */
int target_settle(struct target *t, struct error *err);
void target_counters(const struct target *t, struct blockstat *ret);

/* For `fsreel targets`: one row per file system known, with what is missing and the remedy. */
struct table *targets_table(void);
/* NULL, or why a crash may lose what was synced ("barrier=0", "tmpfs"). Knows more while the
 * target is made. */
const char *target_unsafe(const struct target *t);

#endif
