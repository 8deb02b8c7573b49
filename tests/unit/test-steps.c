/* SPDX-License-Identifier: MIT */
/* Look-ups in vain that were only the first step of a call. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "reader.h"
#include "vec.h"
#include "writer.h"

static struct text text(const char *s)
{
	return (struct text){s, strlen(s)};
}

/* Events a microsecond apart; each takes half of that. */
struct story {
	struct event events[16];
	unsigned count;
};

static struct event *tell(struct story *s, enum op op, uint32_t thread)
{
	struct event *ev = &s->events[s->count++];

	*ev = (struct event){
		.op = op, .thread = thread, .start_ns = s->count * 1000, .took_ns = 500};
	return ev;
}

static void look(struct story *s, uint32_t thread, uint64_t dir, const char *name)
{
	struct event *ev = tell(s, OP_lookup, thread);

	ev->dir = dir;
	ev->name = text(name);
	ev->result = -ENOENT;
	ev->event_flags = EVENT_STEP;
}

static void make(struct story *s, uint32_t thread, uint64_t dir, const char *name)
{
	struct event *ev = tell(s, OP_mkdir, thread);

	ev->dir = dir;
	ev->name = text(name);
	ev->file = 7;
}

static void move(struct story *s, uint32_t thread, const char *from, const char *to)
{
	struct event *ev = tell(s, OP_rename, thread);

	ev->dir = 1;
	ev->name = text(from);
	ev->dir2 = 2;
	ev->name2 = text(to);
}

/* Write the story and read back which of its events are derived: a 'd' or '-' for each. */
static char *derived(const struct story *s)
{
	auto_free char *path = xasprintf("/tmp/test-steps-%d.reel", (int)getpid());
	char *marks = ALLOC_ARRAY(char, s->count + 1);
	struct trace_writer *w;
	struct trace_reader *r;
	struct error err;
	struct event ev;

	CHECK(!trace_writer_open(&w, path, NULL, &err));
	for (int i = 0; i < 3; i++)
		trace_writer_thread(w, &(struct trace_thread){.tid = 100});
	struct trace_buffer *b = trace_buffer_new(w);
	for (unsigned i = 0; i < s->count; i++)
		trace_put(b, &s->events[i]);
	CHECK(!trace_writer_close(w, NULL, &err));
	CHECK(!trace_reader_open(&r, path, &err));
	for (unsigned i = 0; i < s->count; i++) {
		CHECK_EQ(trace_reader_next(r, &ev, &err), 1);
		CHECK_EQ(ev.event_flags & ~(unsigned)EVENT_DERIVED, 0);
		marks[i] = ev.event_flags & EVENT_DERIVED ? 'd' : '-';
	}
	trace_reader_close(r);
	unlink(path);
	return marks;
}

static void check_marks(const struct story *s, const char *want)
{
	auto_free char *marks = derived(s);

	CHECK_EQ((char *)marks, want);
}

TEST(a_look_up_before_the_call_that_makes_the_name_is_derived)
{
	struct story s = {0};

	look(&s, 1, 1, "a");
	make(&s, 1, 1, "a");
	look(&s, 1, 2, "b");
	move(&s, 1, "a", "b");
	check_marks(&s, "d-d-");
}

TEST(a_look_up_that_the_program_made_stays)
{
	struct story s = {0};

	look(&s, 1, 1, "a"); /* stat, then mkdir: the kernel asks again */
	look(&s, 1, 1, "a");
	make(&s, 1, 1, "a");
	look(&s, 1, 1, "b");
	make(&s, 1, 1, "c");
	look(&s, 1, 1, "d");
	make(&s, 1, 2, "d");
	look(&s, 1, 1, "a");
	move(&s, 1, "a", "b");
	check_marks(&s, "-d-------");
}

TEST(threads_have_steps_of_their_own)
{
	struct story s = {0};

	look(&s, 1, 1, "a");
	look(&s, 2, 1, "a");
	make(&s, 2, 1, "a");
	tell(&s, OP_statfs, 1)->file = 1;
	make(&s, 1, 1, "a");
	check_marks(&s, "-d---");
}

TEST(a_late_release_comes_between)
{
	struct story s = {0};

	look(&s, 1, 1, "a");
	tell(&s, OP_release, 1)->handle = 3;
	tell(&s, OP_getattr, 1)->event_flags = EVENT_DERIVED;
	make(&s, 1, 1, "a");
	check_marks(&s, "d-d-");
}
