/* SPDX-License-Identifier: MIT */
/*
 * The probe: BPF programs that report the file system calls of a process and its descendants.
 *
 *	struct probe *p;
 *	struct probe_options options = {.set = PROBE_HIDDEN, .dir = mount, .record = take, .arg = me};
 *
 *	probe_open(&p, &options, err);   load and attach; nobody is watched yet
 *	probe_watch(p, pid, err);        this process, its threads, and all that they make from now on
 *	...                              take(record, me) is called by a thread of the probe
 *	probe_stop(p, &stats);           the last records; no calls to take() after it
 *	probe_close(p);
 *
 * Records come in the order in which the calls ended, all CPUs together, a fraction of a second
 * late. The watched processes never wait for the reader: if it does not keep up with the ring,
 * records are lost and counted. Only tracepoints with BTF are used (no tracefs, kprobes or fentry);
 * root or CAP_BPF and CAP_PERFMON are needed, and a kernel that shows its types.
 *
 * A probe that was not built has the same functions; probe_possible() and probe_open() fail.
 */
#ifndef PROBE_H
#define PROBE_H

#include <sys/types.h>

#include "base.h"
#include "error.h"
#include "probe-record.h"

struct probe;

/* Good until it returns. */
typedef void (*probe_record_fn)(const struct probe_record *r, void *arg);
typedef void (*probe_wait_fn)(const struct probe_wait *w, void *arg);
/* All records of calls that ended before `until_ns` have been given. */
typedef void (*probe_until_fn)(uint64_t until_ns, void *arg);

struct probe_options {
	unsigned set; /* enum probe_set, or'ed */
	/*
	 * Report only files of the file system that this directory is on, as it is known to the
	 * watched processes. Paths are judged by where they start and how they begin: relative ones
	 * are always reported, unless the call opened a file elsewhere; absolute ones if they lie
	 * below `dir` or the call opened a file there. NULL: all regular files, directories and
	 * block devices.
	 */
	const char *dir;
	/* For a file system that is not mounted yet or not visible here: its device as the kernel
	 * writes it (see probe_device()); 0 = find out from `dir`. */
	uint32_t device;
	size_t ring_bytes; /* a power of two and whole pages; 0 = 32 MiB */
	probe_record_fn record;
	/* What the watched threads wait for, in one order with the records; NULL: not reported. */
	probe_wait_fn wait;
	bool clocks; /* keep their CPU time, for probe_clock_ns(); with `wait` it is kept anyway */
	probe_until_fn until; /* after each look at the ring; may be NULL */
	void *arg;
};

struct probe_stats {
	uint64_t records;                   /* given to the function */
	uint64_t lost;                      /* all together */
	uint64_t lost_of[PROBE_KINDS];      /* because the ring was full */
	uint64_t lost_starts;               /* calls: no memory at their start */
	size_t ring_bytes, ring_peak_bytes; /* the fullest it was found */
};

/* Can it work here? 0, or -errno and `err` says what is missing and what to do about it. */
int probe_possible(struct error *err);

int probe_open(struct probe **ret, const struct probe_options *options, struct error *err);
/* Watch `pid`, its threads and its descendants, those that exist and those to come. More than once
 * for more than one tree. -ESRCH if there is no such process. */
int probe_watch(struct probe *p, pid_t pid, struct error *err);
/* Detach and deliver what is left. `ret` may be NULL. May be called again, to no effect. */
void probe_stop(struct probe *p, struct probe_stats *ret);
/* Stops it if that has not been done; takes NULL. */
void probe_close(struct probe *p);

/* Before somebody is watched: the device whose files are reported from now on. */
void probe_narrow(struct probe *p, uint32_t device);

/*
 * For who serves the calls of watched threads, while `tid` is in one: the CPU time that it used
 * outside of served calls, plus 1; 0 = not known. So the difference between two calls is what the
 * application did between them, without what serving it cost. Any thread.
 */
uint64_t probe_clock_ns(struct probe *p, uint32_t tid);
/* The number of the call that it is in; -1 = in none, or not known. */
long probe_call_of(const struct probe *p, uint32_t tid);

/* So far; any thread. */
struct probe_stats probe_stats_now(const struct probe *p);

/* The kernel's own number of a device, from st_dev. Only where stat tells the truth: btrfs and
 * overlayfs make numbers up. */
uint32_t probe_device(dev_t device);

/* The n-th path (0, 1) of a record, "" if it has none. */
const char *probe_path(const struct probe_record *r, unsigned n);
/* "fsync"; NULL for a call that the table does not have. */
const char *probe_call_name(unsigned nr);
/* The sets it is in; 0 if in none. */
unsigned probe_call_sets(unsigned nr);

#endif
