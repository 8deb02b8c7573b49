/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <string.h>

#include "check.h"

TEST(set_returns_minus_code)
{
	struct error err;

	CHECK_EQ(error_set(&err, ENOENT, "no %s", "file"), -ENOENT);
	CHECK_EQ(err.code, ENOENT);
	CHECK_EQ(err.text, "no file");
	CHECK_EQ(error_set(&err, -EIO, "x"), -EIO);
	CHECK_EQ(err.code, EIO);
	CHECK_EQ(error_set(&err, 0, "x"), -EINVAL);
	CHECK_EQ(error_set(NULL, ENOENT, "x"), -ENOENT);
}

TEST(errno_text_is_appended)
{
	struct error err;

	CHECK_EQ(error_errno(&err, ENOENT, "cannot open %s", "f"), -ENOENT);
	CHECK_EQ(err.text, "cannot open f: No such file or directory");
	CHECK_EQ(error_errno(&err, -EACCES, "f"), -EACCES);
	CHECK_EQ(err.text, "f: Permission denied");
	CHECK_EQ(error_errno(NULL, ENOENT, "x"), -ENOENT);
}

TEST(wrap_puts_context_before)
{
	struct error err;

	error_set(&err, EIO, "inner");
	CHECK_EQ(error_wrap(&err, "outer %d", 1), -EIO);
	CHECK_EQ(err.text, "outer 1: inner");
	CHECK_EQ(err.code, EIO);
	CHECK(error_wrap(NULL, "x") < 0);
}

TEST(long_texts_are_cut_not_overrun)
{
	char big[4096];
	struct error err;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	error_errno(&err, EIO, "%s", big);
	CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
	error_wrap(&err, "%s", big);
	CHECK(strlen(err.text) < sizeof(err.text));
	CHECK_EQ(err.code, EIO);
}
