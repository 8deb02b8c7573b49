/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

attr_printf(3, 0) static int error_store(struct error *err, int code, const char *fmt, va_list args)
{
	code = code ? abs(code) : EINVAL;
	if (err) {
		err->code = code;
		vsnprintf(err->text, sizeof(err->text), fmt, args);
	}
	return -code;
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	code = error_store(err, code, fmt, args);
	va_end(args);
	return code;
}

int error_errno(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	code = error_store(err, code, fmt, args);
	va_end(args);
	if (err) {
		size_t used = strlen(err->text);
		snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(-code));
	}
	return code;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	char context[512];
	char before[sizeof(err->text)];
	va_list args;

	if (!err)
		return -EIO;
	va_start(args, fmt);
	vsnprintf(context, sizeof(context), fmt, args);
	va_end(args);
	memcpy(before, err->text, sizeof(before));
	int n = snprintf(err->text, sizeof(err->text), "%s: ", context);
	snprintf(err->text + n, sizeof(err->text) - (size_t)n, "%s", before);
	return err->code ? -err->code : -EINVAL;
}
