/* SPDX-License-Identifier: MIT */
/* Arguments as strace prints them. What is not as expected yields false or 0, never a wrong read. */
#ifndef STRACE_ARG_H
#define STRACE_ARG_H

#include "bytes.h"
#include "strace-line.h"

#define STRACE_ARGS 8

struct strace_args {
	struct text at[STRACE_ARGS]; /* empty beyond count */
	size_t count;
};

/* What commas separate. */
void arg_split(struct text args, struct strace_args *ret);
/* The inside of "[...]" or "{...}"; empty if it is not one. */
struct text arg_inside(struct text t);

/* "12", "-1", "0x1f", "0644", "[12]"; what follows the number does not matter. */
bool arg_number(struct text t, int64_t *ret);
/* "O_RDWR|O_CREAT", "S_IFREG|0644", "F_RDLCK"; unknown names count as 0. */
uint64_t arg_flags(struct text t);

/* "3</tmp/x>", "AT_FDCWD</tmp>": the number and the path, still escaped; no path: size 0. */
#define FD_CWD (-100)
bool arg_fd(struct text t, int *ret_fd, struct text *ret_path);
/* The path's bytes (a piece of text without quotes), appended. */
void arg_unescape(struct text t, struct bytes *out);
/* "\"text\"" or "\"text\"...": its bytes, appended. False if it is no string. */
bool arg_string(struct text t, struct bytes *out, bool *ret_cut);

/* "{st_mode=S_IFREG|0644, st_size=5, ...}", "st_size": its value; size 0 if it is not there. */
struct text arg_field(struct text t, const char *name);

#endif
