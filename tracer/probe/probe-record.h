/* SPDX-License-Identifier: MIT */
/*
 * What the probe's BPF programs hand to its reader: one record per system call, when it has ended.
 *
 * The layout is shared by two compilers (cc and clang -target bpf) on one machine and is never
 * stored: what goes into a file is made from it.
 */
#ifndef PROBE_RECORD_H
#define PROBE_RECORD_H

#ifdef __bpf__
typedef __u64 uint64_t;
typedef __s64 int64_t;
typedef __u32 uint32_t;
typedef __s32 int32_t;
typedef __u16 uint16_t;
typedef __s16 int16_t;
typedef __u8 uint8_t;
#else
#include <stdint.h>
#endif

enum probe_kind {
	PROBE_CALL = 1, /* a system call came back */
	PROBE_URING,    /* a request of io_uring was completed */
	PROBE_AIO,      /* a request of io_submit(2) was accepted */
	PROBE_FORK,     /* a traced thread made another one, which is traced from its start */
	PROBE_EXEC,     /* a traced process runs another program now */
	PROBE_EXIT,     /* a traced thread ended */
	PROBE_WAIT,     /* a traced thread runs again after a wait: struct probe_wait */
	PROBE_KINDS,
};

/* Which calls are recorded; a row of syscalls.def may be in several sets. */
enum probe_set {
	PROBE_HIDDEN = 1, /* what a FUSE file system never sees */
	PROBE_AUDIT = 2,  /* what an audit of a capture counts */
	PROBE_ALL = 4,    /* what a capture without FUSE needs */
};

/* A file that a call names: by a descriptor, as directory of a path, or the one it opened. */
struct probe_file {
	uint64_t ino;
	uint64_t pos;        /* f_pos when the call began */
	uint64_t fh, node;   /* on FUSE: what the daemon gave for handle and inode */
	uint32_t dev;        /* of the file system: the kernel's dev_t, major << 20 | minor */
	uint32_t generation; /* of the inode number */
	uint32_t mode;       /* i_mode; 0: there is no such descriptor */
	uint32_t flags;      /* f_flags: O_APPEND, O_DIRECT, ... at this moment */
};

#define PROBE_PATHS 2

enum probe_flags {
	PROBE_PATH_CUT = 1,  /* a path is longer than PATH_MAX or could not be read */
	PROBE_EXTRA_CUT = 2, /* `extra` could not be read, or there were more than PROBE_BATCH */
	PROBE_STARTED_ELSEWHERE = 4, /* io_uring: the submission was not seen */
};

/*
 * CPU time of a thread, kept by the programs and read by whoever serves its calls. Time inside
 * calls that were served (`served`) is not the application's own: a replay makes these calls itself.
 */
struct probe_clock {
	uint32_t tid;    /* whose; 0 = nobody's */
	uint32_t call;   /* the number of the call it is in, plus 1; 0 = in none */
	uint32_t served; /* this call was: set by who serves it, taken back at its end */
	uint32_t reserved;
	uint64_t used_ns,
		since_ns;  /* until it was put on a CPU; and when that was, 0 = not known */
	uint64_t enter_ns; /* used when the last call began */
	uint64_t leave_ns; /* used when the last served call ended */
	uint64_t own_ns;   /* the application's own until the last served call began */

	/* The wait it is in. */
	uint64_t block_ns; /* when it began; 0 = in none */
	uint64_t wake_ns;  /* when the thread was woken last */
	uint32_t waker, waker_call;
	uint32_t cause; /* enum probe_cause */
	uint32_t unused;
	/* Since the last wait that was reported, or its start. */
	uint64_t ran_ns;      /* when that was */
	uint64_t ran_used_ns; /* used until then */
	uint64_t served_ns;   /* in calls that were served */
};

#define PROBE_CLOCKS 65536u /* by the lowest bits of tid; of two that meet there the later counts */

#define PROBE_BATCH 1024 /* iovecs that are added up, iocbs that are reported; UIO_MAXIOV */

struct probe_lock { /* struct flock of fcntl(2) */
	int16_t type, whence;
	int64_t start, size;
	int32_t pid;
};

struct probe_record {
	uint64_t exit_ns;   /* CLOCK_MONOTONIC */
	uint16_t kind;      /* enum probe_kind; both are first in struct probe_wait, too */
	uint16_t nr;        /* of a call: __NR_ */
	uint16_t flags;     /* enum probe_flags */
	uint16_t path_room; /* bytes per path behind the record; 0 = the call takes none */
	uint64_t enter_ns;  /* equal where there is only one time */
	uint64_t cpu_ns;    /* CALL: the application's own CPU time so far, see probe_clock_ns() */
	int64_t result;     /* of a call as the kernel returns it; -512 to -516: it is made again */
	/*
	 * CALL: the six arguments, raw. URING: opcode, IOSQE flags, user_data, offset, length (of
	 * READV and WRITEV the number of iovecs), flags (RWF or fsync flags). AIO: opcode, data,
	 * address of the iocb, offset, length, RWF flags. FORK: the new thread's tid and tgid.
	 */
	uint64_t args[6];
	uint32_t tid, tgid;
	/* Descriptors in the order of the arguments; with paths, the directories where they start
	 * (the working directory for AT_FDCWD); file[1] of an open is the file that it opened. */
	struct probe_file file[2];
	union {
		uint64_t bytes;         /* iovecs: all together */
		uint64_t offset[2];     /* copies: values behind the offset pointers; ~0 = NULL */
		uint64_t how[3];        /* openat2: flags, mode, resolve */
		struct probe_lock lock; /* fcntl: as it was when the call began */
		char name[16];          /* EXEC, EXIT: the thread's; FORK: the new thread's */
	};
	uint16_t path_size[PROBE_PATHS]; /* without the NUL behind it */
	/* Requests to FUSE that the call waited for, plus 1; 0 = not known. Only with PROBE_AUDIT. */
	uint32_t requests;
};

/* Who or what made a waiting thread runnable. */
enum probe_cause {
	PROBE_CAUSE_UNKNOWN,
	PROBE_CAUSE_THREAD,   /* another watched thread: `waker` */
	PROBE_CAUSE_TIMER,    /* its time was over */
	PROBE_CAUSE_IO,       /* the kernel: an interrupt, a kernel thread, a worker of io_uring */
	PROBE_CAUSE_EXTERNAL, /* a process that is not watched, or the network */
	PROBE_CAUSE_SERVER,   /* who opened the probe: a pass-through that answered; not reported */
	PROBE_CAUSE_END,      /* no wait: the thread ended */
	PROBE_CAUSES,
};

/*
 * One wait of a watched thread and what came before it: since_ns of time since its last wait (or
 * its start), in which it used cpu_ns and was served_ns in calls of the server; for the rest of it
 * it was ready and had no CPU. So since, blocked and queued of all its waits add up to its life.
 */
struct probe_wait {
	uint64_t run_ns; /* CLOCK_MONOTONIC: it runs again */
	uint16_t kind;   /* PROBE_WAIT */
	uint16_t cause;  /* enum probe_cause */
	uint32_t tid, tgid;
	uint32_t waker;            /* tid; 0 = not a watched thread */
	uint32_t call, waker_call; /* the call each was in: number plus 1; 0 = none */
	uint64_t since_ns, cpu_ns, served_ns;
	uint64_t blocked_ns, queued_ns; /* until it was woken; from then until it ran */
};

#endif
