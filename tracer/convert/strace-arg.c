/* SPDX-License-Identifier: MIT */
#include "strace-arg.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef RWF_APPEND
#define RWF_APPEND 0x10
#endif

#define CONSTANT(name)                                                                             \
	{                                                                                          \
#name, (uint64_t)(name)                                                            \
	}

/* Only what the importer looks at. */
static const struct constant {
	const char *name;
	uint64_t value;
} constants[] = {
	CONSTANT(O_RDONLY),
	CONSTANT(O_WRONLY),
	CONSTANT(O_RDWR),
	CONSTANT(O_CREAT),
	CONSTANT(O_EXCL),
	CONSTANT(O_TRUNC),
	CONSTANT(O_APPEND),
	CONSTANT(O_NONBLOCK),
	CONSTANT(O_DSYNC),
	CONSTANT(O_SYNC),
	CONSTANT(O_DIRECT),
	CONSTANT(O_DIRECTORY),
	CONSTANT(O_NOFOLLOW),
	CONSTANT(O_NOATIME),
	CONSTANT(O_CLOEXEC),
	CONSTANT(O_PATH),
	CONSTANT(O_TMPFILE),
	CONSTANT(AT_SYMLINK_NOFOLLOW),
	CONSTANT(AT_SYMLINK_FOLLOW),
	CONSTANT(AT_EMPTY_PATH),
	CONSTANT(AT_REMOVEDIR),
	CONSTANT(S_IFREG),
	CONSTANT(S_IFDIR),
	CONSTANT(S_IFLNK),
	CONSTANT(S_IFIFO),
	CONSTANT(S_IFSOCK),
	CONSTANT(S_IFCHR),
	CONSTANT(S_IFBLK),
	CONSTANT(S_ISUID),
	CONSTANT(S_ISGID),
	CONSTANT(S_ISVTX),
	CONSTANT(F_OK),
	CONSTANT(R_OK),
	CONSTANT(W_OK),
	CONSTANT(X_OK),
	CONSTANT(F_DUPFD),
	CONSTANT(F_DUPFD_CLOEXEC),
	CONSTANT(F_GETFD),
	CONSTANT(F_SETFD),
	CONSTANT(F_GETFL),
	CONSTANT(F_SETFL),
	CONSTANT(F_GETLK),
	CONSTANT(F_SETLK),
	CONSTANT(F_SETLKW),
	CONSTANT(F_OFD_GETLK),
	CONSTANT(F_OFD_SETLK),
	CONSTANT(F_OFD_SETLKW),
	CONSTANT(FD_CLOEXEC),
	CONSTANT(F_RDLCK),
	CONSTANT(F_WRLCK),
	CONSTANT(F_UNLCK),
	CONSTANT(LOCK_SH),
	CONSTANT(LOCK_EX),
	CONSTANT(LOCK_UN),
	CONSTANT(LOCK_NB),
	CONSTANT(SEEK_SET),
	CONSTANT(SEEK_CUR),
	CONSTANT(SEEK_END),
	CONSTANT(SEEK_DATA),
	CONSTANT(SEEK_HOLE),
	CONSTANT(FALLOC_FL_KEEP_SIZE),
	CONSTANT(FALLOC_FL_PUNCH_HOLE),
	CONSTANT(FALLOC_FL_COLLAPSE_RANGE),
	CONSTANT(FALLOC_FL_ZERO_RANGE),
	CONSTANT(FALLOC_FL_INSERT_RANGE),
	CONSTANT(RENAME_NOREPLACE),
	CONSTANT(RENAME_EXCHANGE),
	CONSTANT(XATTR_CREATE),
	CONSTANT(XATTR_REPLACE),
	CONSTANT(RWF_DSYNC),
	CONSTANT(RWF_SYNC),
	CONSTANT(RWF_APPEND),
	CONSTANT(CLONE_FILES),
	CONSTANT(CLONE_FS),
	CONSTANT(CLONE_THREAD),
	CONSTANT(CLONE_VM),
	{"CLOSE_RANGE_CLOEXEC", 4},
	{"AT_FDCWD", (uint64_t)-100},
	{"UTIME_NOW", 1},
	{"UTIME_OMIT", 2},
};

void arg_split(struct text args, struct strace_args *ret)
{
	size_t from = 0, at = 0;

	*ret = (struct strace_args){0};
	while (from < args.size && ret->count < STRACE_ARGS) {
		while (at < args.size && args.data[at] != ',')
			at = strace_skip(args, at);
		ret->at[ret->count++] = text_cut(args, from, at);
		from = at < args.size ? at + 1 : at;
		while (from < args.size && args.data[from] == ' ')
			from++;
		at = from;
	}
}

struct text arg_inside(struct text t)
{
	if (t.size < 2 || (t.data[0] != '[' && t.data[0] != '{'))
		return (struct text){"", 0};
	return text_cut(t, 1, strace_skip(t, 0) - 1);
}

static int digit_of(char c, unsigned base)
{
	int v = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' ? (c | 32) - 'a' + 10 : -1;

	return v >= 0 && v < (int)base ? v : -1;
}

/* An unsigned number in C's notation; false without a digit or if it is too large. */
static bool parse_unsigned(struct text t, size_t *at, uint64_t *ret)
{
	unsigned base = 10;
	size_t from = *at;

	if (*at + 1 < t.size && t.data[*at] == '0') {
		base = (t.data[*at + 1] | 32) == 'x' ? 16 : 8;
		*at += base == 16 ? 2 : 0;
	}
	for (*ret = 0; *at < t.size; ++*at) {
		int v = digit_of(t.data[*at], base);
		if (v < 0)
			break;
		if (__builtin_mul_overflow(*ret, base, ret) ||
			__builtin_add_overflow(*ret, (uint64_t)v, ret))
			return false;
	}
	return *at > from;
}

bool arg_number(struct text t, int64_t *ret)
{
	size_t at = t.size && t.data[0] == '[';
	bool negative = at < t.size && t.data[at] == '-';
	uint64_t v;

	at += negative;
	if (!parse_unsigned(t, &at, &v))
		return false;
	*ret = (int64_t)(negative ? -v : v);
	return true;
}

static uint64_t constant(struct text t)
{
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (text_is(t, constants[i].name))
			return constants[i].value;
	return 0;
}

static bool is_name_char(char c)
{
	return digit_of(c, 36) >= 0 || c == '_';
}

uint64_t arg_flags(struct text t)
{
	uint64_t flags = 0, v;
	size_t at = 0;

	while (at < t.size) {
		size_t from = at;
		if (parse_unsigned(t, &at, &v)) {
			flags |= v;
		} else {
			for (at = from; at < t.size && is_name_char(t.data[at]);)
				at++;
			flags |= constant(text_cut(t, from, at));
		}
		if (at < t.size && t.data[at] == '|')
			at++;
		else
			break;
	}
	return flags;
}

bool arg_fd(struct text t, int *ret_fd, struct text *ret_path)
{
	static const char cwd[] = "AT_FDCWD";
	size_t at = 0;
	uint64_t fd;

	*ret_path = (struct text){"", 0};
	if (t.size >= strlen(cwd) && !memcmp(t.data, cwd, strlen(cwd))) {
		at = strlen(cwd);
		*ret_fd = FD_CWD;
	} else if (parse_unsigned(t, &at, &fd) && fd <= INT32_MAX) {
		*ret_fd = (int)fd;
	} else {
		return false;
	}
	if (at < t.size && t.data[at] == '<') {
		size_t end = strace_skip(t, at);
		if (end > at + 1 && t.data[end - 1] == '>')
			*ret_path = text_cut(t, at + 1, end - 1);
	}
	return true;
}

/* One escape behind a backslash at `at`; returns what follows it. */
static size_t unescape_one(struct text t, size_t at, struct bytes *out)
{
	static const char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
	unsigned v = 0;
	size_t from = at;

	const char *letter = t.data[at] ? strchr(letters, t.data[at]) : NULL;
	if (letter) {
		put_u8(out, (uint8_t)meanings[letter - letters]);
		return at + 1;
	}
	if (t.data[at] == 'x') {
		for (at++; at < t.size && at - from < 3 && digit_of(t.data[at], 16) >= 0; at++)
			v = v * 16 + (unsigned)digit_of(t.data[at], 16);
		put_u8(out, (uint8_t)v);
		return at;
	}
	for (; at < t.size && at - from < 3 && digit_of(t.data[at], 8) >= 0; at++)
		v = v * 8 + (unsigned)digit_of(t.data[at], 8);
	put_u8(out, at > from ? (uint8_t)v : (uint8_t)t.data[at]);
	return at > from ? at : at + 1;
}

void arg_unescape(struct text t, struct bytes *out)
{
	size_t at = 0;

	while (at < t.size) {
		const char *slash = memchr(t.data + at, '\\', t.size - at);
		size_t plain = slash ? (size_t)(slash - t.data) - at : t.size - at;
		put_bytes(out, t.data + at, plain);
		at += plain + 1;
		if (slash && at < t.size)
			at = unescape_one(t, at, out);
	}
}

bool arg_string(struct text t, struct bytes *out, bool *ret_cut)
{
	if (t.size < 2 || t.data[0] != '"')
		return false;
	size_t end = strace_skip(t, 0);
	if (t.data[end - 1] != '"')
		return false;
	arg_unescape(text_cut(t, 1, end - 1), out);
	*ret_cut = t.size - end >= 3 && !memcmp(t.data + end, "...", 3);
	return true;
}

struct text arg_field(struct text t, const char *name)
{
	struct text rest = arg_inside(t);
	size_t n = strlen(name), at = 0;

	while (at < rest.size) {
		size_t from = at;
		while (at < rest.size && rest.data[at] != ',')
			at = strace_skip(rest, at);
		if (at - from > n && !memcmp(rest.data + from, name, n) &&
			rest.data[from + n] == '=')
			return text_cut(rest, from + n + 1, at);
		while (at < rest.size && (rest.data[at] == ',' || rest.data[at] == ' '))
			at++;
	}
	return (struct text){"", 0};
}
