/* SPDX-License-Identifier: MIT */
/* One line of `strace -f -ttt -T`, taken apart. The text may come from a stranger. */
#ifndef STRACE_LINE_H
#define STRACE_LINE_H

#include "event.h"

enum line_kind {
	LINE_CALL,       /* begun and ended */
	LINE_UNFINISHED, /* begun; args as far as they are known */
	LINE_RESUMED,    /* ended; args are the rest */
	LINE_EXIT,       /* the thread is gone */
	LINE_IGNORED,    /* signals, remarks of strace, empty lines */
	LINE_BAD,
};

struct strace_line {
	enum line_kind kind;
	uint32_t pid; /* 0: the line names none */
	uint64_t time_ns, took_ns;
	bool timed, took_known;
	struct text name, args;
	struct text value; /* of the result, "3</tmp/x>" */
	bool has_result;   /* false: "= ?" */
	int64_t result;    /* or -errno */
};

/* All texts point into `line`. */
void strace_line_parse(struct text line, struct strace_line *ret);

/* Where the thing that begins at `at` ends: a string, a bracket, the path of a descriptor, or one
 * character. Never beyond the text. */
size_t strace_skip(struct text t, size_t at);

/* "ENOENT" -> 2; 0 if there is no such name. */
int strace_errno(struct text name);

static inline bool text_is(struct text t, const char *s)
{
	size_t i = 0;

	while (i < t.size && s[i] && t.data[i] == s[i])
		i++;
	return i == t.size && !s[i];
}

static inline struct text text_cut(struct text t, size_t from, size_t to)
{
	return (struct text){t.data + from, to - from};
}

#endif
