/* SPDX-License-Identifier: MIT */
/*
 * The pass-through: a FUSE file system over a real directory that logs every call.
 *
 * capture_mount() starts a pool of worker threads in this process; the application must run in
 * another one. Never touch the mount point from this process while it is mounted.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include "error.h"
#include "writer.h"

struct capture;

/*
 * Where the CPU time of the application's threads is read, if not in /proc: what `tid`, which is
 * blocked in a call, used by itself; 0 = not known. From any worker thread.
 */
struct capture_clock {
	uint64_t (*cpu_ns)(void *arg, uint32_t tid);
	void *arg;
};

struct capture_options {
	const char *source;      /* the real directory below */
	const char *mount_point; /* an existing empty directory, or NULL: over `source` itself */
	struct trace_writer *writer; /* NULL = plain pass-through, nothing is logged */
	bool strict_meta;  /* attribute and entry time-outs 0: every stat becomes a request */
	bool keep_data;    /* what is written and what there is at first go into the trace */
	bool strip_direct; /* O_DIRECT is logged but not passed down */
	unsigned workers;  /* 0 = the default */
	const struct capture_clock *clock; /* NULL: /proc. With it, opened handles are remembered */
};

struct capture_stats {
	uint64_t requests; /* FUSE requests answered */
	uint64_t events;   /* records written */
	uint64_t joined;   /* requests that were pieces of one call */
	uint64_t escapes;  /* symbolic links read that lead out of the mount: I/O behind them is not
	                      seen */
	uint64_t evicted;  /* descriptors given up to stay below the limit */
	uint64_t refused;  /* opens that failed because even that was not enough */
	bool allow_mmap;   /* shared mappings work on direct I/O */
	bool parallel_writes;
};

/* Is FUSE open to this user at all? 0, or an error that says what is missing for a mount on `path`. */
int capture_possible(const char *path, struct error *err);

/*
 * Write the starting state to the trace, mount and serve. On failure nothing is left mounted; the
 * error says what is missing and the remedy.
 */
int capture_mount(struct capture **ret, const struct capture_options *options, struct error *err);

/* Where the application must work. */
const char *capture_path(const struct capture *c);

/*
 * Has somebody else unmounted it (umount -l, fusermount3 -u)? What programs do below its path is not
 * seen any more; those that were in it already are still served.
 */
bool capture_taken(const struct capture *c);

/*
 * For events that come from elsewhere (a probe in the kernel). Which open file the kernel knew by
 * `number` at a time; false if it is not known. Any thread.
 */
bool capture_opened(struct capture *c, uint64_t number, uint64_t at_ns, uint64_t *ret_file,
	uint64_t *ret_handle);
/* The index of a thread, which is declared when it is new. `name` (may be NULL): of one that is just
 * being made, of which /proc may know nothing yet or any more. */
uint32_t capture_thread(struct capture *c, uint32_t tid, uint32_t tgid, const char *name);
/* It ended: with a name, its number is that of another thread from now on. */
void capture_thread_ended(struct capture *c, uint32_t tid);

/*
 * Unmount if no process uses the mount any more: 0, or -EBUSY and all goes on. After 0 only
 * capture_unmount() may follow.
 */
int capture_release(struct capture *c);

/* Unmount, also under processes that still use it, wait for the workers, free. The trace writer stays open. */
int capture_unmount(struct capture *c, struct capture_stats *ret, struct error *err);

#endif
