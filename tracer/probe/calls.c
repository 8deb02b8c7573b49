/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "probe.h"

#define FD(a)       .fd = {(a) + 1}
#define FDS(a, b)   .fd = {(a) + 1, (b) + 1}
#define PATH(a)     .path = {(a) + 1}
#define PATHS(a, b) .path = {(a) + 1, (b) + 1}
#define AT(d, a)    .path = {(a) + 1}, .dir = {(d) + 1}
#define ATS(d, a, e, b)                                                                            \
	.path = {(a) + 1, (b) + 1}, .dir = {                                                       \
					    (d) + 1,                                               \
					    (e) + 1,                                               \
	}
#define TEXT(a)        .path = {(a) + 1}, .dir = {CALL_NO_LOOKUP}
#define TO(a, b)       .path = {(a) + 1, (b) + 1}, .dir = {CALL_NO_LOOKUP}
#define TO_AT(a, d, b) .path = {(a) + 1, (b) + 1}, .dir = {CALL_NO_LOOKUP, (d) + 1}
#define EXTRA(bits)    .extra = (bits)

enum {
	HIDDEN = PROBE_HIDDEN,
	AUDIT = PROBE_AUDIT,
	ALL = PROBE_ALL,
	OPENS = EXTRA_OPENS,
	IOVEC = EXTRA_IOVEC,
	LOCK = EXTRA_LOCK,
	IN_OUT = EXTRA_IN_OUT,
	IN = EXTRA_IN,
	HOW = EXTRA_HOW,
	BATCH = EXTRA_BATCH,
	MAPPED = EXTRA_MAPPED,
	GLOBAL = EXTRA_GLOBAL,
};

const struct probe_call probe_calls[PROBE_CALLS] = {
#define CALL(name, in, ...) [__NR_##name] = {.sets = (in), __VA_ARGS__},
#include "syscalls.def"
#undef CALL
};

static const char *const names[PROBE_CALLS] = {
#define CALL(name, ...) [__NR_##name] = #name,
#include "syscalls.def"
#undef CALL
};

const char *probe_call_name(unsigned nr)
{
	return nr < PROBE_CALLS ? names[nr] : NULL;
}

unsigned probe_call_sets(unsigned nr)
{
	return nr < PROBE_CALLS ? probe_calls[nr].sets : 0;
}

const char *probe_path(const struct probe_record *r, unsigned n)
{
	return n < PROBE_PATHS && r->path_room ? (const char *)(r + 1) + n * r->path_room : "";
}
