/* SPDX-License-Identifier: MIT */
/*
 * One failure, told to the person at the terminal.
 *
 * Functions that can fail return 0 (or a count) on success and -errno on failure. Those that set
 * up, parse or touch files also take `struct error *err` last and state there, where it fails, what
 * failed and what to do about it. Callers add context with error_wrap(). Only tools/ prints.
 */
#ifndef ERROR_H
#define ERROR_H

#include "base.h"

struct error {
	int code; /* errno value, positive; 0 = no error */
	char text[1024];
};

/* State an error. `code`: errno or -errno; 0 counts as EINVAL. Returns -code. err may be NULL. */
int error_set(struct error *err, int code, const char *fmt, ...) attr_printf(3, 4);

/* Like error_set(), with ": " and the text of the errno value appended. */
int error_errno(struct error *err, int code, const char *fmt, ...) attr_printf(3, 4);

/* Put "context: " before the text that is there. Returns -code, unchanged. */
int error_wrap(struct error *err, const char *fmt, ...) attr_printf(2, 3);

#endif
