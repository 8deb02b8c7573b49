/* SPDX-License-Identifier: MIT */
/* The rows of syscalls.def as the BPF programs read them. */
#ifndef CALLS_H
#define CALLS_H

#include "probe-record.h"

#define PROBE_CALLS 512 /* more than the highest number in use */

enum call_extra {
	EXTRA_OPENS = 1,
	EXTRA_IOVEC = 2,
	EXTRA_LOCK = 4,
	EXTRA_IN_OUT = 8,
	EXTRA_IN = 16,
	EXTRA_HOW = 32,
	EXTRA_BATCH = 64,
	EXTRA_MAPPED = 128,
	EXTRA_GLOBAL = 256,
};

#define CALL_NO_LOOKUP 0xff /* as directory: the text is no path */

/* Numbers of arguments count from 1 here; 0 = it has none. */
struct probe_call {
	uint8_t sets;
	uint8_t fd[2];
	uint8_t path[PROBE_PATHS];
	uint8_t dir[PROBE_PATHS]; /* where that path starts; 0 = in the working directory */
	uint8_t reserved;
	uint16_t extra; /* enum call_extra */
};

#ifndef __bpf__
/* Indexed by number. */
extern const struct probe_call probe_calls[PROBE_CALLS];
#endif

#endif
