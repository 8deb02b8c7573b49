/* SPDX-License-Identifier: MIT */
/* Traces written and read back: every operation, many threads, files cut off anywhere. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "reader.h"
#include "rng.h"
#include "vec.h"
#include "writer.h"

static char dir[] = "/tmp/test-trace-XXXXXX";

static void remove_dir(void)
{
	remove_tree(dir);
}

static char *in_dir(const char *name)
{
	static bool made;

	if (!made) {
		made = mkdtemp(dir) != NULL;
		atexit(remove_dir);
	}
	return xasprintf("%s/%s", dir, name);
}

/* ---- random events ---- */

static uint64_t random_number(struct rng *rng, uint8_t kind)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return kind == KIND_CONTENT ? 3 : UINT64_MAX - rng_below(rng, 3);
	case 2:
		return rng_next(rng);
	case 3:
		return rng_below(rng, 100000) * 4096;
	default:
		return rng_below(rng, 20);
	}
}

static struct text random_text(struct rng *rng, char room[300])
{
	size_t size = rng_below(rng, 4) ? rng_below(rng, 12) : rng_below(rng, 300);

	for (size_t i = 0; i < size; i++)
		room[i] = (char)rng_below(rng, rng_below(rng, 5) ? 4 : 256);
	return (struct text){room, size};
}

struct texts {
	char room[OP_MAX_ARGS][300];
};

static void random_event(struct rng *rng, enum op op, struct event *ev, struct texts *texts)
{
	const struct op_desc *d = &op_descs[op];

	memset(ev, 0, sizeof(*ev));
	ev->op = op;
	ev->event_flags = (uint32_t)rng_below(rng, 4);
	ev->took_ns = rng_below(rng, 3) ? rng_below(rng, 50000) : rng_below(rng, 50);
	ev->result = rng_below(rng, 5) ? (int64_t)rng_below(rng, 5000) : -2;
	for (unsigned a = 0; a < d->arg_count; a++) {
		const struct op_arg *arg = &d->args[a];
		if (arg_is_text(arg))
			*event_text(ev, arg) = random_text(rng, texts->room[a]);
		else
			*event_number(ev, arg) = random_number(rng, arg->kind);
	}
}

static enum op random_op(struct rng *rng)
{
	for (;;) {
		unsigned op = (unsigned)rng_below(rng, OP_LIMIT);
		if (op_descs[op].name)
			return (enum op)op;
	}
}

/* Hashes come back as numbers of their own; all else as it was. */
static bool same_event(const struct event *a, const struct event *b)
{
	const struct op_desc *d = &op_descs[a->op];
	bool same = a->op == b->op && a->thread == b->thread && a->event_flags == b->event_flags &&
	            a->start_ns == b->start_ns && a->took_ns == b->took_ns &&
	            a->result == b->result;

	for (unsigned i = 0; same && i < d->arg_count; i++) {
		const struct op_arg *arg = &d->args[i];
		if (arg->kind == KIND_HASH) {
			same = !*event_number(a, arg) == !*event_number(b, arg);
		} else if (!arg_is_text(arg)) {
			same = *event_number(a, arg) == *event_number(b, arg);
		} else {
			const struct text *s = event_text(a, arg), *t = event_text(b, arg);
			same = s->size == t->size && !memcmp(s->data, t->data, s->size);
		}
	}
	return same;
}

/* ---- helpers ---- */

static struct trace_writer *open_writer(const char *path)
{
	struct trace_writer *w = NULL;
	struct error err = {0};
	json_t *meta = json_pack("{s:s}", "test", "yes");

	if (!CHECK_EQ(trace_writer_open(&w, path, meta, &err), 0))
		fprintf(stderr, "%s\n", err.text);
	json_decref(meta);
	return w;
}

static struct trace_reader *open_reader(const char *path)
{
	struct trace_reader *r = NULL;
	struct error err = {0};

	if (!CHECK_EQ(trace_reader_open(&r, path, &err), 0))
		fprintf(stderr, "%s\n", err.text);
	return r;
}

#define SEED 20240607

/* The stream of events that `count` and SEED stand for. */
struct stream {
	struct rng rng;
	uint64_t end_ns;
	struct texts texts;
};

static void stream_next(struct stream *s, struct event *ev, uint32_t threads)
{
	random_event(&s->rng, random_op(&s->rng), ev, &s->texts);
	ev->thread = (uint32_t)rng_below(&s->rng, threads);
	s->end_ns += rng_below(&s->rng, 30000);
	ev->took_ns = min_u64(ev->took_ns, s->end_ns);
	ev->start_ns = s->end_ns - ev->took_ns;
}

static void write_stream(const char *path, unsigned count, struct trace_totals *totals)
{
	struct trace_writer *w = open_writer(path);
	struct stream s = {.rng = {SEED}};
	struct error err = {0};
	struct event ev;

	for (unsigned t = 1; t < 5; t++)
		CHECK_EQ(trace_writer_thread(w, &(struct trace_thread){.tid = t, .comm = "t"}), t);
	struct trace_buffer *b = trace_buffer_new(w);
	for (unsigned i = 0; i < count; i++) {
		stream_next(&s, &ev, 5);
		trace_put(b, &ev);
	}
	CHECK_EQ(trace_writer_close(w, totals, &err), 0);
}

/* How many events of the stream come back; -1 on an error or a wrong one. */
static long read_stream(struct trace_reader *r, struct error *err)
{
	struct stream s = {.rng = {SEED}};
	struct event ev, want;
	long count = 0;
	int e;

	while ((e = trace_reader_next(r, &ev, err)) > 0) {
		stream_next(&s, &want, 5);
		if (!same_event(&want, &ev))
			return -1;
		count++;
	}
	return e < 0 ? -1 : count;
}

TEST(random_events_of_every_operation_come_back)
{
	auto_free char *path = in_dir("random.reel");
	struct trace_totals totals;
	struct error err = {0};

	write_stream(path, 50000, &totals);
	CHECK_EQ(totals.events, 50000);
	CHECK_EQ(totals.threads, 5);
	struct trace_reader *r = open_reader(path);
	CHECK_EQ(read_stream(r, &err), 50000);
	CHECK(trace_reader_health(r)->complete && !trace_reader_health(r)->torn);
	CHECK_EQ(json_string_value(json_object_get(trace_reader_meta(r), "test")), "yes");
	CHECK_EQ(trace_reader_rewind(r, &err), 0);
	CHECK_EQ(read_stream(r, &err), 50000);
	CHECK(trace_reader_health(r)->complete);
	CHECK_EQ(trace_reader_thread(r, 3)->tid, 3);
	trace_reader_close(r);
}

TEST(totals_are_known_without_reading)
{
	auto_free char *path = in_dir("totals.reel");
	struct trace_totals totals, again;
	struct stat st;

	write_stream(path, 1000, &totals);
	struct trace_reader *r = open_reader(path);
	CHECK_EQ(trace_reader_totals(r, &again), 0);
	CHECK(!memcmp(&totals, &again, sizeof(totals)));
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(totals.file_bytes, st.st_size);
	trace_reader_close(r);
}

TEST(seek_goes_to_the_block)
{
	auto_free char *path = in_dir("seek.reel");
	struct trace_totals totals;
	struct error err = {0};
	struct event ev;

	write_stream(path, 60000, &totals);
	struct trace_reader *r = open_reader(path);
	for (uint64_t part = 0; part <= 10; part++) {
		uint64_t ns = totals.elapsed_ns * part / 10;
		unsigned skipped = 0;
		CHECK_EQ(trace_reader_seek(r, ns, &err), 0);
		while (trace_reader_next(r, &ev, &err) > 0 && event_end_ns(&ev) < ns)
			skipped++;
		CHECK(event_end_ns(&ev) >= ns);
		CHECK(skipped < 8192);
	}
	trace_reader_close(r);
}

/* Every cut of a trace gives whole events up to the cut, and says that something is missing. */
TEST(every_truncation_is_read_to_its_last_frame)
{
	auto_free char *path = in_dir("cut.reel");
	struct trace_totals totals;
	unsigned opened = 0, refused = 0;

	write_stream(path, 40, &totals);
	for (off_t size = (off_t)totals.file_bytes - 1; size >= 0; size--) {
		struct trace_reader *r = NULL;
		struct error err = {0};
		if (!CHECK_EQ(truncate(path, size), 0))
			return;
		if (trace_reader_open(&r, path, &err) < 0) {
			refused++;
			CHECK(strstr(err.text, path) != NULL);
			continue;
		}
		opened++;
		long n = read_stream(r, &err);
		CHECK(n == 0 || n == 40);
		CHECK(!trace_reader_health(r)->complete);
		trace_reader_close(r);
	}
	CHECK(opened > 300 && refused > 300);
}

/* ---- the writer ---- */

TEST(other_files_are_not_replaced)
{
	auto_free char *path = in_dir("precious");
	struct trace_writer *w = NULL;
	struct error err = {0};
	FILE *f = fopen(path, "w");

	fputs("letters from home", f);
	fclose(f);
	CHECK(trace_writer_open(&w, path, NULL, &err) < 0);
	CHECK(strstr(err.text, "is no trace") != NULL);
	CHECK(trace_writer_open(&w, "/dev/null", NULL, &err) < 0);
	CHECK(strstr(err.text, "regular file") != NULL);
	CHECK(trace_writer_open(&w, "/nowhere/x.reel", NULL, &err) < 0);
}

#define THREADS    16
#define PER_THREAD 20000

struct producer {
	struct trace_writer *w;
	uint32_t thread;
	pthread_t id;
};

static void *produce(void *arg)
{
	struct producer *p = arg;
	struct trace_buffer *b = trace_buffer_new(p->w);
	uint64_t epoch = trace_writer_epoch_ns(p->w);
	struct rng rng;

	rng_init(&rng, p->thread);
	for (uint64_t i = 0; i < PER_THREAD; i++) {
		struct event ev = {.op = OP_fsync, .thread = p->thread, .file = 2, .handle = i};
		ev.start_ns = now_ns() - epoch;
		ev.took_ns = trace_stamp(b) - epoch - ev.start_ns;
		ev.cpu_ns = 1000 + 10 * i;
		if (!rng_below(&rng, 500))
			sched_yield();
		trace_put(b, &ev);
	}
	return NULL;
}

/* What many threads put at once arrives whole, each thread's in its order, all in order of end. */
TEST(many_threads_give_one_order_and_lose_nothing)
{
	auto_free char *path = in_dir("threads.reel");
	struct producer p[THREADS];
	uint64_t seen[THREADS + 1] = {0}, last_ns = 0, wrong = 0;
	struct trace_totals totals;
	struct error err = {0};
	struct event ev;
	struct trace_writer *w = open_writer(path);

	for (unsigned i = 0; i < THREADS; i++) {
		struct trace_thread t = {.tid = 100 + i};
		p[i] = (struct producer){.w = w, .thread = trace_writer_thread(w, &t)};
		pthread_create(&p[i].id, NULL, produce, &p[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(p[i].id, NULL);
	CHECK_EQ(trace_writer_close(w, &totals, &err), 0);
	CHECK_EQ(totals.events, THREADS * PER_THREAD);
	CHECK_EQ(totals.lost, 0);
	struct trace_reader *r = open_reader(path);
	while (trace_reader_next(r, &ev, &err) > 0) {
		wrong += event_end_ns(&ev) < last_ns;
		wrong += ev.handle != seen[ev.thread]++;
		wrong += ev.cpu_ns != (ev.handle ? 10 : 0);
		last_ns = event_end_ns(&ev);
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(trace_reader_health(r)->events, THREADS * PER_THREAD);
	CHECK(trace_reader_health(r)->complete);
	trace_reader_close(r);
}

/* A writer that is killed leaves all but its last second. */
static struct trace_wait random_wait(struct rng *rng, uint64_t run_ns)
{
	return (struct trace_wait){
		.run_ns = run_ns,
		.thread = (uint32_t)rng_below(rng, 2),
		.waker = (uint32_t)rng_below(rng, 2),
		.cause = (enum wait_cause)rng_below(rng, WAIT_CAUSES),
		.call = (uint32_t)rng_below(rng, 500),
		.waker_call = (uint32_t)rng_below(rng, 500),
		.since_ns = rng_next(rng) >> rng_below(rng, 64),
		.cpu_ns = rng_below(rng, 100000),
		.served_ns = rng_next(rng),
		.blocked_ns = rng_below(rng, 1000000),
		.queued_ns = rng_below(rng, 100),
	};
}

static bool same_wait(const struct trace_wait *a, const struct trace_wait *b)
{
	return a->run_ns == b->run_ns && a->thread == b->thread && a->waker == b->waker &&
	       a->cause == b->cause && a->call == b->call && a->waker_call == b->waker_call &&
	       a->since_ns == b->since_ns && a->cpu_ns == b->cpu_ns &&
	       a->served_ns == b->served_ns && a->blocked_ns == b->blocked_ns &&
	       a->queued_ns == b->queued_ns;
}

TEST(waits_lie_beside_the_events)
{
	auto_free char *path = in_dir("waits");
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_wait wait;
	struct event ev;
	struct error err = {0};
	struct rng rng = {5};
	unsigned events = 0, waits = 0;

	if (!CHECK_EQ(trace_writer_open(&w, path, NULL, &err), 0))
		return;
	struct trace_buffer *b = trace_buffer_new(w);
	uint32_t thread = trace_writer_thread(w, &(struct trace_thread){.tid = 7, .comm = "a"});
	for (unsigned i = 1; i <= 20000; i++) {
		wait = random_wait(&rng, i * 1000);
		trace_writer_wait(w, &wait);
		if (i % 4)
			continue;
		uint64_t end_ns = trace_stamp(b) - trace_writer_epoch_ns(w);
		trace_put(b, &(struct event){.op = OP_fsync, .thread = thread, .start_ns = end_ns});
	}
	CHECK_EQ(trace_writer_close(w, NULL, &err), 0);
	if (!CHECK_EQ(trace_reader_open(&r, path, &err), 0))
		return;
	while (trace_reader_next(r, &ev, &err) > 0)
		events++;
	CHECK_EQ(events, 5000);
	CHECK(trace_reader_health(r)->complete);
	CHECK_EQ(trace_reader_health(r)->waits, 20000);
	CHECK(trace_reader_health(r)->wait_bytes > 20000);
	trace_reader_rewind(r, &err);
	rng = (struct rng){5};
	while (trace_reader_wait(r, &wait, &err) > 0) {
		struct trace_wait want = random_wait(&rng, ++waits * 1000);
		if (!CHECK(same_wait(&wait, &want)))
			break;
	}
	CHECK_EQ(waits, 20000);
	trace_reader_close(r);
}

TEST(events_that_are_heard_of_late_find_their_place)
{
	auto_free char *path = in_dir("late");
	struct trace_writer *w;
	struct trace_reader *r;
	struct event ev = {.op = OP_fsync};
	struct error err = {0};
	uint64_t ends[3000], last_ns = 0;
	unsigned events = 0;

	if (!CHECK_EQ(trace_writer_open(&w, path, NULL, &err), 0))
		return;
	struct trace_buffer *now = trace_buffer_new(w), *late = trace_buffer_new(w);
	uint64_t epoch_ns = trace_writer_epoch_ns(w);
	trace_hold(late, epoch_ns);
	/* More than a buffer takes, so that both must be written while they come. */
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
			ends[i] = ev.start_ns = trace_stamp(now) - epoch_ns;
			ev.op = OP_fsync;
			if (i % 2)
				trace_put(now, &ev);
			else
				trace_put(now,
					&(struct event){.op = OP_getattr, .start_ns = ends[i]});
		}
		for (unsigned i = 0; i < ARRAY_SIZE(ends); i += 2) {
			ev.start_ns = ends[i];
			ev.op = OP_fadvise;
			trace_put_late(late, &ev);
		}
		trace_hold(late, epoch_ns + ends[ARRAY_SIZE(ends) - 1]);
	}
	trace_let_go(late);
	CHECK_EQ(trace_writer_close(w, NULL, &err), 0);
	if (!CHECK_EQ(trace_reader_open(&r, path, &err), 0))
		return;
	bool in_order = true;
	while (trace_reader_next(r, &ev, &err) > 0) {
		in_order &= event_end_ns(&ev) >= last_ns;
		last_ns = event_end_ns(&ev);
		events++;
	}
	CHECK(in_order);
	CHECK_EQ(events, 10 * ARRAY_SIZE(ends) * 3 / 2);
	CHECK_EQ(trace_reader_health(r)->lost, 0);
	trace_reader_close(r);
}

TEST(a_killed_writer_leaves_a_readable_trace)
{
	auto_free char *path = in_dir("killed.reel");
	struct error err = {0};
	struct event ev;
	pid_t child = fork();

	if (!child) {
		struct trace_writer *w = open_writer(path);
		struct trace_buffer *b = trace_buffer_new(w);
		uint64_t epoch = trace_writer_epoch_ns(w);
		for (uint64_t i = 0;; i++) {
			struct event e = {.op = OP_fsync, .handle = i};
			e.start_ns = trace_stamp(b) - epoch;
			trace_put(b, &e);
			usleep(100);
		}
	}
	usleep(1500000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	struct trace_reader *r = open_reader(path);
	uint64_t last_ns = 0;
	while (trace_reader_next(r, &ev, &err) > 0)
		last_ns = event_end_ns(&ev);
	CHECK(last_ns > 400 * NSEC_PER_MSEC);
	CHECK(trace_reader_health(r)->events > 100);
	CHECK(!trace_reader_health(r)->complete);
	trace_reader_close(r);
}

/* A file that cannot grow: events are counted as lost, nobody waits, and the trace has an end. */
TEST(a_full_disk_is_counted_and_said)
{
	auto_free char *path = in_dir("full.reel");
	struct rlimit old, small = {300 << 10, RLIM_INFINITY};
	struct trace_totals totals;
	struct error err = {0};
	struct event ev;
	struct stream s = {.rng = {SEED}};
	const unsigned count = 300000;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	struct trace_writer *w = open_writer(path);
	setrlimit(RLIMIT_FSIZE, &small);
	struct trace_buffer *b = trace_buffer_new(w);
	for (unsigned i = 0; i < count; i++) {
		stream_next(&s, &ev, 1);
		trace_put(b, &ev);
	}
	CHECK_EQ(trace_writer_failed(w), -EFBIG);
	CHECK_EQ(trace_writer_close(w, &totals, &err), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK(strstr(err.text, "events are lost") != NULL);
	CHECK(totals.events > 0 && totals.lost > 0);
	CHECK_EQ(totals.events + totals.lost, count);
	struct trace_reader *r = open_reader(path);
	while (trace_reader_next(r, &ev, &err) > 0)
		;
	CHECK_EQ(trace_reader_health(r)->events, totals.events);
	CHECK_EQ(trace_reader_health(r)->lost, totals.lost);
	CHECK(trace_reader_health(r)->complete);
	trace_reader_close(r);
}

TEST(strings_up_to_the_limit_are_kept_longer_ones_are_lost)
{
	auto_free char *path = in_dir("long.reel");
	auto_free char *value = xcalloc(1, 65537);
	struct trace_totals totals;
	struct error err = {0};
	struct event ev = {.op = OP_setxattr, .file = 1, .name = {"user.x", 6}};
	struct trace_writer *w = open_writer(path);
	struct trace_buffer *b = trace_buffer_new(w);

	memset(value, 'v', 65536);
	for (size_t size = 65537; size >= 65535; size--) {
		ev.value = (struct text){value, size};
		trace_put(b, &ev);
	}
	/* Rings wrap, blocks fill up with strings. */
	for (int i = 0; i < 100; i++) {
		value[0] = (char)i;
		trace_put(b, &ev);
	}
	CHECK_EQ(trace_writer_close(w, &totals, &err), 0);
	CHECK_EQ(totals.events, 102);
	CHECK_EQ(totals.lost, 1);
	struct trace_reader *r = open_reader(path);
	for (int i = 0; trace_reader_next(r, &ev, &err) > 0; i++) {
		CHECK_EQ(ev.value.size, i ? 65535 : 65536);
		CHECK_EQ(ev.value.data[0], i < 2 ? 'v' : (char)(i - 2));
	}
	CHECK(trace_reader_health(r)->complete);
	trace_reader_close(r);
}
