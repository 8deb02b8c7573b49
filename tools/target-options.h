/* SPDX-License-Identifier: MIT */
/* The options that name targets, and the targets themselves: one place for run, replay and bench. */
#ifndef TARGET_OPTIONS_H
#define TARGET_OPTIONS_H

#include "opt.h"
#include "target.h"

struct target_options {
	struct opt_list on;
	struct opt_list labels;
	struct scratch_options scratch;
	uint64_t repeat;
};

/* Rows for a command's table: `const struct opt opts[] = {..., TARGET_OPTIONS(&o)};` */
#define TARGET_OPTIONS(o)                                                                          \
	{"on", 't', OPT_LIST, &(o)->on, "TARGET",                                                  \
		"TYPE[:MOUNT-OPTIONS[:MKFS-OPTIONS]], dir:PATH, or types alone: TYPE,TYPE; "       \
		"repeatable"},                                                                     \
		{"label", 0, OPT_LIST, &(o)->labels, "NAME",                                       \
			"name of the target in results; the first for the first --on, ..."},       \
		{"repeat", 'n', OPT_NUMBER, &(o)->repeat, "N",                                     \
			"rounds over all targets, A B C A B C (default 1, of bench 7)"},           \
		{"device", 0, OPT_STRING, &(o)->scratch.device, "DEV",                             \
			"make the file systems here; else a loop device over a scratch file"},     \
		{"size", 0, OPT_SIZE, &(o)->scratch.size, "SIZE",                                  \
			"of the scratch file (default 2G)"},                                       \
		{"scratch-dir", 0, OPT_STRING, &(o)->scratch.dir, "DIR",                           \
			"where the scratch file lies (default $TMPDIR or /var/tmp)"},              \
	{                                                                                          \
		"force", 0, OPT_FLAG, &(o)->scratch.force, NULL, "overwrite what is on --device"   \
	}

/* "--on ext4 xfs": the words after the last option are targets too. For commands without other
 * operands. */
void target_options_operands(struct target_options *o, int count, char **words);

void target_options_done(struct target_options *o);

/* The targets of one command, ready to be made one at a time. */
struct target_set {
	struct target **at;
	size_t count;
	struct scratch *scratch; /* NULL if all are directories */
};

/*
 * Parse every TARGET, check that each can be made here, enter the mount namespace and open the
 * scratch device. Installs the signal handlers (interrupt.h). Call it before any thread is started.
 */
int target_set_open(struct target_set *ret, const struct target_options *o, struct error *err);
/* Undo everything. Safe on a zeroed set. */
void target_set_close(struct target_set *set);

/*
 * A B C A B C: make each target, let `visit` use it, unmake it, `repeat` times over. A visit that
 * returns a negative value ends it, and so do SIGINT and SIGTERM. What belongs to one run and not
 * to the command (a workload that failed) a visit keeps to itself, and returns 0.
 */
typedef int target_visit(struct target *t, uint64_t round, void *data, struct error *err);
int target_set_each(const struct target_set *set, uint64_t repeat, target_visit *visit, void *data,
	struct error *err);

#endif
