/* SPDX-License-Identifier: MIT */
/*
 *   4711  1700000000.123456 openat(AT_FDCWD</tmp>, "x", O_RDONLY) = 3</tmp/x> <0.000012>
 *   4711  1700000000.123456 fsync(3</tmp/x> <unfinished ...>
 *   4711  1700000000.123999 <... fsync resumed>) = 0 <0.000543>
 *   4711  1700000000.123999 +++ exited with 0 +++
 *   4711  1700000000.123999 --- SIGCHLD {...} ---
 *
 * Instead of "4711  " there may be "[pid  4711] " or, as long as there is one process, nothing.
 */
#include "strace-line.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

#define DEPTH_MAX 64 /* of brackets in brackets; deeper ones are not strace's */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts(struct text t, size_t at, const char *s)
{
	size_t n = strlen(s);

	return t.size - at >= n && !memcmp(t.data + at, s, n);
}

static size_t skip_spaces(struct text t, size_t at)
{
	while (at < t.size && t.data[at] == ' ')
		at++;
	return at;
}

static size_t skip_string(struct text t, size_t at)
{
	for (at++; at < t.size; at++) {
		if (t.data[at] == '\\')
			at++;
		else if (t.data[at] == '"')
			return at + 1;
	}
	return t.size;
}

/* Behind a number or AT_FDCWD: "</path>", in which < and > are escaped; "->" is in sockets. */
static bool is_path(struct text t, size_t at)
{
	char before = at ? t.data[at - 1] : ' ';

	return t.data[at] == '<' && (is_digit(before) || before == 'D') && !starts(t, at, "<<");
}

static size_t skip_path(struct text t, size_t at)
{
	for (at++; at < t.size; at++)
		if (t.data[at] == '>' && t.data[at - 1] != '-')
			return at + 1;
	return t.size;
}

static size_t skip_comment(struct text t, size_t at)
{
	for (at += 2; at + 1 < t.size; at++)
		if (t.data[at] == '*' && t.data[at + 1] == '/')
			return at + 2;
	return t.size;
}

static size_t skip_one(struct text t, size_t at)
{
	if (t.data[at] == '"')
		return skip_string(t, at);
	if (is_path(t, at))
		return skip_path(t, at);
	if (starts(t, at, "/*"))
		return skip_comment(t, at);
	return at + 1;
}

size_t strace_skip(struct text t, size_t at)
{
	unsigned depth = 0;

	do {
		char c = t.data[at];
		if (c == '(' || c == '[' || c == '{') {
			depth++;
			at++;
		} else if (c == ')' || c == ']' || c == '}') {
			depth -= depth > 0;
			at++;
		} else {
			at = skip_one(t, at);
		}
	} while (depth && depth < DEPTH_MAX && at < t.size);
	return at < t.size ? at : t.size;
}

int strace_errno(struct text name)
{
	for (int e = 1; e < 134; e++) {
		const char *known = strerrorname_np(e);
		if (known && text_is(name, known))
			return e;
	}
	return text_is(name, "ENOTSUP") ? EOPNOTSUPP : 0;
}

/* Digits as a number that stays far from overflowing; false if there is none. */
static bool digits(struct text t, size_t *at, uint64_t *ret)
{
	size_t from = *at;

	for (*ret = 0; *at < t.size && is_digit(t.data[*at]) && *at - from < 18; ++*at)
		*ret = *ret * 10 + (uint64_t)(t.data[*at] - '0');
	return *at > from && (*at == t.size || !is_digit(t.data[*at]));
}

/* "12.000345" in ns. */
static bool seconds(struct text t, size_t *at, uint64_t *ret_ns)
{
	uint64_t whole, part = 0, unit = NSEC_PER_SEC;

	if (!digits(t, at, &whole) || whole > UINT64_C(1) << 33 || *at == t.size ||
		t.data[*at] != '.')
		return false;
	for (++*at; *at < t.size && is_digit(t.data[*at]); ++*at) {
		unit /= 10;
		part += unit * (uint64_t)(t.data[*at] - '0');
	}
	*ret_ns = whole * NSEC_PER_SEC + part;
	return true;
}

/* Process and time in front of the call. */
static bool parse_head(struct text t, size_t *at, struct strace_line *l)
{
	uint64_t pid = 0;
	size_t from;

	if (starts(t, *at, "[pid ")) {
		*at = skip_spaces(t, *at + 5);
		if (!digits(t, at, &pid) || *at == t.size || t.data[*at] != ']')
			return false;
		*at = skip_spaces(t, *at + 1);
	} else {
		from = *at;
		if (!digits(t, at, &pid) || *at == t.size || t.data[*at] != ' ') {
			*at = from;
			pid = 0;
		}
		*at = skip_spaces(t, *at);
	}
	if (pid > INT32_MAX)
		return false;
	l->pid = (uint32_t)pid;
	from = *at;
	l->timed = seconds(t, at, &l->time_ns);
	if (!l->timed)
		*at = from;
	*at = skip_spaces(t, *at);
	return true;
}

/* "<0.000012>" at the end of [at, end); returns where the text before it ends. */
static size_t parse_took(struct text t, size_t at, size_t end, struct strace_line *l)
{
	size_t open = end;

	while (end > at && t.data[end - 1] == ' ')
		end--;
	if (end == at || t.data[end - 1] != '>')
		return end;
	for (open = end; open > at && t.data[open - 1] != '<';)
		open--;
	size_t from = open;
	l->took_known = seconds(t, &from, &l->took_ns) && from == end - 1;
	return l->took_known ? open - 1 : end;
}

/* The error's name behind "-1 ". */
static int error_at(struct text t, size_t at)
{
	size_t from = skip_spaces(t, at), end = from;

	while (end < t.size && t.data[end] != ' ')
		end++;
	return strace_errno(text_cut(t, from, end));
}

/* "= 3</x>", "= -1 ENOENT (...)", "= ?", "= 0x7f..." */
static bool parse_result(struct text t, size_t at, struct strace_line *l)
{
	at = skip_spaces(t, at);
	if (at == t.size || t.data[at] != '=')
		return false;
	at = skip_spaces(t, at + 1);
	struct text rest = text_cut(t, 0, parse_took(t, at, t.size, l));
	if (at >= rest.size)
		return false;
	l->value = text_cut(t, at, rest.size);
	const bool negative = t.data[at] == '-';
	size_t digit = at + negative;
	uint64_t v = 0;
	l->has_result = starts(rest, digit, "0x") || digits(rest, &digit, &v);
	l->result = negative ? -(int64_t)v : (int64_t)v;
	const int error = negative && l->has_result ? error_at(rest, digit) : 0;
	if (error)
		l->result = -error;
	return true;
}

/* From behind the opening parenthesis on. */
static enum line_kind parse_rest(struct text t, size_t at, struct strace_line *l)
{
	static const char unfinished[] = "<unfinished ...>";
	size_t from = at;

	while (at < t.size && t.data[at] != ')') {
		if (starts(t, at, unfinished)) {
			l->args = text_cut(t, from, at);
			return LINE_UNFINISHED;
		}
		at = strace_skip(t, at);
	}
	if (at == t.size)
		return LINE_BAD;
	l->args = text_cut(t, from, at);
	return parse_result(t, at + 1, l) ? LINE_CALL : LINE_BAD;
}

static size_t skip_word(struct text t, size_t at)
{
	while (at < t.size && (is_digit(t.data[at]) || t.data[at] == '_' ||
				      (unsigned)((t.data[at] | 32) - 'a') < 26))
		at++;
	return at;
}

static enum line_kind parse_resumed(struct text t, size_t at, struct strace_line *l)
{
	at += strlen("<... ");
	size_t end = skip_word(t, at);
	l->name = text_cut(t, at, end);
	if (!starts(t, end, " resumed>"))
		return LINE_BAD;
	enum line_kind kind = parse_rest(t, end + strlen(" resumed>"), l);
	return kind == LINE_CALL ? LINE_RESUMED : LINE_BAD;
}

static enum line_kind parse_body(struct text t, size_t at, struct strace_line *l)
{
	if (at == t.size || starts(t, at, "--- ") || starts(t, at, "strace: "))
		return LINE_IGNORED;
	if (starts(t, at, "+++ "))
		return starts(t, at, "+++ superseded") ? LINE_IGNORED : LINE_EXIT;
	if (starts(t, at, "<... "))
		return parse_resumed(t, at, l);
	size_t end = skip_word(t, at);
	if (end == at || end == t.size || t.data[end] != '(')
		return LINE_BAD;
	l->name = text_cut(t, at, end);
	return parse_rest(t, end + 1, l);
}

void strace_line_parse(struct text line, struct strace_line *ret)
{
	size_t at = 0;

	*ret = (struct strace_line){.kind = LINE_BAD};
	if (parse_head(line, &at, ret))
		ret->kind = parse_body(line, at, ret);
}
