/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "cleanup.h"
#include "import.h"
#include "io.h"
#include "reader.h"
#include "strace-arg.h"
#include "vec.h"

#define TEXT(s) ((struct text){s, sizeof(s) - 1})

static const char *copy(struct text t)
{
	static char room[256];

	memcpy(room, t.data, t.size);
	room[t.size] = '\0';
	return room;
}

TEST(lines_are_taken_apart)
{
	struct strace_line l;

	strace_line_parse(TEXT("4711  1700000000.000012 openat(AT_FDCWD</tmp>, \"a)b\", O_RDONLY) ="
			       " 3</tmp/a)b> <0.000012>"),
		&l);
	CHECK_EQ(l.kind, LINE_CALL);
	CHECK_EQ(l.pid, 4711);
	CHECK_EQ(l.time_ns, 1700000000000012000);
	CHECK_EQ(l.took_ns, 12000);
	CHECK_EQ(l.result, 3);
	CHECK_EQ(copy(l.name), "openat");
	CHECK_EQ(copy(l.args), "AT_FDCWD</tmp>, \"a)b\", O_RDONLY");
	CHECK_EQ(copy(l.value), "3</tmp/a)b> ");
	strace_line_parse(
		TEXT("[pid  12] 1.5 stat(\"x\", 0x7ffe) = -1 ENOENT (No such file or directory)"),
		&l);
	CHECK_EQ(l.kind, LINE_CALL);
	CHECK_EQ(l.pid, 12);
	CHECK_EQ(l.result, -ENOENT);
	CHECK(!l.took_known);
	strace_line_parse(TEXT("1.5 read(3</x>,  <unfinished ...>"), &l);
	CHECK_EQ(l.kind, LINE_UNFINISHED);
	CHECK_EQ(l.pid, 0);
	CHECK_EQ(copy(l.args), "3</x>,  ");
	strace_line_parse(TEXT("7 1.5 <... read resumed>\"a>b\"..., 9) = 9 <0.5>"), &l);
	CHECK_EQ(l.kind, LINE_RESUMED);
	CHECK_EQ(copy(l.args), "\"a>b\"..., 9");
	CHECK_EQ(l.took_ns, 500000000);
	strace_line_parse(TEXT("7 1.5 exit_group(0) = ?"), &l);
	CHECK(l.kind == LINE_CALL && !l.has_result);
	strace_line_parse(TEXT("7 1.5 +++ killed by SIGKILL (core dumped) +++"), &l);
	CHECK_EQ(l.kind, LINE_EXIT);
	strace_line_parse(TEXT("7 1.5 --- SIGCHLD {si_signo=SIGCHLD} ---"), &l);
	CHECK_EQ(l.kind, LINE_IGNORED);
}

TEST(other_lines_are_bad)
{
	static const char *const lines[] = {"hello", "7 1.5 read(3", "7 1.5 read(3) ",
		"7 1.5 read 3", "7 1.5 (3) = 0", "[pid x] 1.5 read(3) = 0",
		"99999999999 1.5 read(3) = 0", "7 1.5 <... read", "7 1.5 read(\"abc = 0",
		"7 1.5 read([[[[ = 0"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct strace_line l;
		strace_line_parse((struct text){lines[i], strlen(lines[i])}, &l);
		if (!CHECK_EQ(l.kind, LINE_BAD))
			fprintf(stderr, "%s\n", lines[i]);
	}
}

TEST(arguments)
{
	struct strace_args a;
	struct text path;
	int64_t n = 0;
	int fd = 0;

	arg_split(TEXT("3</a,b>, {x=1, y=[2, 3]}, \"c, d\"..., 0644, O_RDWR|O_CREAT|0x100000"), &a);
	CHECK_EQ(a.count, 5);
	CHECK(arg_fd(a.at[0], &fd, &path) && fd == 3);
	CHECK_EQ(copy(path), "/a,b");
	CHECK_EQ(copy(arg_field(a.at[1], "y")), "[2, 3]");
	CHECK_EQ(arg_field(a.at[1], "z").size, 0);
	CHECK(arg_number(a.at[3], &n) && n == 0644);
	CHECK_EQ(arg_flags(a.at[4]), O_RDWR | O_CREAT | 0x100000);
	CHECK(arg_number(TEXT("[4096] => [8192]"), &n) && n == 4096);
	CHECK(arg_number(TEXT("-1"), &n) && n == -1);
	CHECK(!arg_number(TEXT("NULL"), &n));
	CHECK(!arg_number(TEXT("99999999999999999999999"), &n));
	CHECK(arg_fd(TEXT("AT_FDCWD"), &fd, &path) && fd == FD_CWD && !path.size);
	CHECK(!arg_fd(TEXT("NULL"), &fd, &path));
	CHECK_EQ(arg_flags(TEXT("S_IFREG|0640")), S_IFREG | 0640);
}

TEST(strings)
{
	struct bytes b = {0};
	bool cut;

	CHECK(arg_string(TEXT("\"a\\n\\0\\1772\\x4a\\\"\\\\\"..."), &b, &cut));
	CHECK(cut);
	CHECK_EQ(b.size, 8);
	CHECK_BYTES(b.data, "a\n\0\1772J\"\\", 8);
	CHECK(!arg_string(TEXT("0x7ffe"), &b, &cut));
	CHECK(!arg_string(TEXT("\"open"), &b, &cut));
	bytes_free(&b);
}

/* ---- whole lists ---- */

struct imported {
	char *dir, *out;
	struct import_report report;
	struct trace_reader *trace;
	int status;
};

static struct imported import_text(const char *text)
{
	struct error err = {0};
	struct imported i = {.dir = make_temp_dir(&err)};
	auto_free char *in = xasprintf("%s/in", i.dir);

	i.out = xasprintf("%s/out.reel", i.dir);
	auto_fclose FILE *f = fopen(in, "we");
	fputs(text, f);
	fflush(f);
	i.status = import_strace(in, "/r", i.out, &i.report, &err);
	if (!i.status)
		CHECK_EQ(trace_reader_open(&i.trace, i.out, &err), 0);
	return i;
}

static void imported_done(struct imported *i)
{
	trace_reader_close(i->trace);
	remove_tree(i->dir);
	free(i->dir);
	free(i->out);
}

/* The next event must be this one. */
static struct event next(struct imported *i, enum op op)
{
	struct error err;
	struct event ev = {0};

	CHECK_EQ(trace_reader_next(i->trace, &ev, &err), 1);
	CHECK_EQ(op_name(ev.op), op_name(op));
	return ev;
}

TEST(what_existed_follows_from_what_is_read)
{
	struct imported i = import_text(
		"1 10.0 openat(AT_FDCWD</r>, \"d/old\", O_RDONLY) = 3</r/d/old> <0.1>\n"
		"1 11.0 pread64(3</r/d/old>, \"x\"..., 4096, 8192) = 4096 <0.1>\n"
		"1 12.0 openat(AT_FDCWD</r>, \"new\", O_RDWR|O_CREAT, 0666) = 4</r/new> <0.1>\n"
		"1 13.0 openat(AT_FDCWD</r>, \"kept\", O_RDWR|O_CREAT, 0666) = 5</r/kept> <0.1>\n"
		"1 14.0 read(5</r/kept>, \"x\"..., 100) = 100 <0.1>\n"
		"1 15.0 newfstatat(AT_FDCWD</r>, \"d/old\", {st_mode=S_IFREG|0600, st_size=20000, "
		"...}, 0) = 0 <0.1>\n");
	struct tree_entry e;
	struct error err;

	CHECK_EQ(i.report.complaints, 0);
	trace_reader_tree(i.trace, &e, &err);
	CHECK_EQ(trace_reader_tree(i.trace, &e, &err), 1);
	CHECK(S_ISDIR(e.mode) && e.name.size == 1);
	CHECK_EQ(trace_reader_tree(i.trace, &e, &err), 1);
	CHECK_EQ(e.mode, S_IFREG | 0600);
	CHECK_EQ(e.size, 20000);
	CHECK_EQ(trace_reader_tree(i.trace, &e, &err), 1);
	CHECK_EQ(copy(e.name), "kept");
	CHECK_EQ(e.size, 100);
	CHECK_EQ(trace_reader_tree(i.trace, &e, &err), 0);
	next(&i, OP_open);
	CHECK_EQ(next(&i, OP_read).offset, 8192);
	CHECK_EQ(next(&i, OP_create).mode, S_IFREG | 0644);
	struct event ev = next(&i, OP_open);
	CHECK_EQ(ev.start_ns, 3000000000);
	CHECK_EQ(ev.took_ns, 100000000);
	imported_done(&i);
}

/* The child is seen before its parent's clone() returns; it has the parent's descriptors, and its
 * own position only after execve() ... which closes what is marked. */
TEST(descriptors_are_inherited)
{
	struct imported i = import_text(
		"1 1.0 openat(AT_FDCWD</r>, \"a\", O_RDONLY) = 3</r/a> <0.1>\n"
		"1 1.1 openat(AT_FDCWD</r>, \"b\", O_RDONLY|O_CLOEXEC) = 4</r/b> <0.1>\n"
		"1 1.2 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n"
		"2 1.3 read(3, \"x\", 5) = 5 <0.1>\n"
		"1 1.4 <... clone resumed>) = 2 <0.2>\n"
		"1 1.5 read(3, \"x\", 5) = 5 <0.1>\n"
		"1 1.6 close(4) = 0 <0.1>\n"
		"2 1.7 execve(\"/bin/x\", [\"x\"], 0x7 /* 3 vars */) = 0 <0.1>\n"
		"2 1.8 read(4, \"x\", 5) = -1 EBADF (Bad file descriptor) <0.1>\n"
		"2 1.9 +++ exited with 0 +++\n"
		"1 2.0 close(3 <unfinished ...>\n"
		"1 2.1 <... close resumed>) = 0 <0.1>\n");

	CHECK_EQ(i.report.complaints, 0);
	next(&i, OP_open);
	struct event b = next(&i, OP_open);
	CHECK_EQ(next(&i, OP_read).offset, 0);
	CHECK_EQ(next(&i, OP_read).offset, 5);
	CHECK_EQ(next(&i, OP_flush).handle, b.handle);
	CHECK_EQ(next(&i, OP_flush).handle, b.handle);
	CHECK_EQ(next(&i, OP_release).handle, b.handle);
	next(&i, OP_flush); /* 3, by the end of the child */
	next(&i, OP_flush);
	next(&i, OP_release);
	imported_done(&i);
}

TEST(what_is_not_understood_is_counted)
{
	struct imported i = import_text(
		"1 1.0 unlink(\"/r/a\") = 0 <0.1>\n"
		"1 1.1 openat(AT_FDCWD</r>, \"a\", O_RDONLY) = 3</r/a> <0.1>\n"
		"1 1.2 splice(3</r/a>, NULL, 1<pipe:[5]>, NULL, 10, 0) = 10 <0.1>\n"
		"gibberish\n"
		"1 1.3 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</r/a>, 0) = 0x7f <0.1>\n"
		"1 1.4 <... write resumed>) = 5 <0.1>\n");

	CHECK_EQ(i.status, 0);
	CHECK_EQ(i.report.complaints, 4);
	CHECK_EQ(i.report.complaint[0].line, 2);
	CHECK_EQ(i.report.complaint[1].line, 3);
	CHECK_EQ(i.report.complaint[2].line, 4);
	CHECK_EQ(i.report.complaint[3].line, 6);
	CHECK_EQ(i.report.note_count, 1);
	CHECK_EQ(i.report.notes[0].name, "mmap");
	next(&i, OP_unlink);
	next(&i, OP_mknod); /* out of sight */
	next(&i, OP_open);
	imported_done(&i);
}

TEST(a_list_without_times_is_refused)
{
	struct imported i = import_text("read(3, \"\", 5) = 0\n");

	CHECK(i.status < 0);
	CHECK(access(i.out, F_OK) < 0);
	imported_done(&i);
}
