/* SPDX-License-Identifier: MIT */
/*
 * Records come in the order in which calls ended, a little late; the trace's writer waits for them
 * (trace_hold). A record names a file by what the pass-through gave the kernel for its handle, and
 * the pass-through remembers what that stood for at the time.
 */
#include "capture-probe.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "probe.h"
#include "vec.h"

struct capture_probe {
	struct probe *probe;
	struct capture_clock clock;
	struct capture *capture;
	struct trace_writer *writer;
	struct trace_buffer *_Atomic buffer; /* set last: the probe's thread looks for it */
	uint64_t epoch_ns;
	uint64_t last_end_ns; /* since the epoch; of what was put */
	uint64_t events, waits, homeless;
};

/* --- one record, one event --- */

/* Which argument of a call is what; 0 = none, else counted from 1. */
struct call_shape {
	enum op op;
	uint8_t offset, size, mode, flags;
};

static const struct call_shape shapes[] = {
	[SYS_sync_file_range] = {OP_sync_file_range, .offset = 2, .size = 3, .flags = 4},
	[SYS_fadvise64] = {OP_fadvise, .offset = 2, .size = 3, .mode = 4},
	[SYS_readahead] = {OP_readahead, .offset = 2, .size = 3},
	[SYS_syncfs] = {OP_syncfs},
	[SYS_sync] = {OP_sync},
	[SYS_mmap] = {OP_mmap, .offset = 6, .size = 2, .mode = 3, .flags = 4},
	[SYS_munmap] = {OP_munmap, .size = 2},
	[SYS_msync] = {OP_msync, .size = 2, .flags = 3},
	[SYS_madvise] = {OP_madvise, .size = 2, .mode = 3},
	[SYS_preadv2] = {OP_rwf, .offset = 4, .flags = 6},
	[SYS_pwritev2] = {OP_rwf, .offset = 4, .flags = 6},
	[SYS_io_uring_enter] = {OP_batch, .size = 2, .flags = 4},
	[SYS_io_submit] = {OP_batch, .size = 2},
};

static uint64_t argument(const struct probe_record *r, unsigned n)
{
	return n ? r->args[n - 1] : 0;
}

static bool made_again(int64_t result)
{
	return result <= -512 && result >= -516;
}

/* False: it is not worth an event. */
static bool shape_call(const struct probe_record *r, struct event *ev)
{
	const struct call_shape *s = r->nr < ARRAY_SIZE(shapes) ? &shapes[r->nr] : NULL;

	if (!s || !s->op || made_again(r->result))
		return false;
	ev->op = s->op;
	ev->offset = argument(r, s->offset);
	ev->size = argument(r, s->size);
	ev->mode = argument(r, s->mode);
	ev->flags = argument(r, s->flags);
	if (s->op == OP_mmap && r->result > 0)
		ev->result = 0; /* an address means nothing elsewhere */
	if (s->op == OP_sync)
		ev->file = TREE_ROOT;
	if (s->op == OP_batch)
		ev->mode = r->nr == SYS_io_submit;
	if (s->op != OP_rwf)
		return true;
	ev->size = r->bytes;
	ev->mode = r->nr == SYS_pwritev2;
	if ((int64_t)ev->offset == -1)
		ev->offset = r->file[0].pos;
	return ev->flags; /* without flags it is what FUSE saw */
}

static bool shape_request(const struct probe_record *r, struct event *ev)
{
	ev->op = OP_request;
	ev->mode = r->kind == PROBE_AIO;
	ev->command = r->args[0];
	ev->offset = r->args[3];
	ev->size = r->args[4];
	ev->flags = r->kind == PROBE_AIO ? r->args[5] : r->args[1];
	return true;
}

static void set_name(struct event *ev, const struct probe_record *r)
{
	ev->value = (struct text){r->name, strnlen(r->name, sizeof(r->name))};
}

static bool shape_fork(struct capture_probe *p, const struct probe_record *r, struct event *ev)
{
	ev->op = OP_fork;
	ev->owner = capture_thread(p->capture, (uint32_t)r->args[0], (uint32_t)r->args[1], r->name);
	set_name(ev, r);
	return true;
}

static bool shape(struct capture_probe *p, const struct probe_record *r, struct event *ev)
{
	switch ((enum probe_kind)r->kind) {
	case PROBE_CALL:
		return shape_call(r, ev);
	case PROBE_URING:
	case PROBE_AIO:
		return shape_request(r, ev);
	case PROBE_FORK:
		return shape_fork(p, r, ev);
	case PROBE_EXEC:
	case PROBE_EXIT:
		ev->op = r->kind == PROBE_EXEC ? OP_exec : OP_exit;
		set_name(ev, r);
		return true;
	case PROBE_WAIT:
	case PROBE_KINDS:
		break;
	}
	return false;
}

static bool names_file(enum op op)
{
	return op_descs[op].arg_count > 1 && op_descs[op].args[1].kind == KIND_HANDLE;
}

static void set_times(struct capture_probe *p, const struct probe_record *r, struct event *ev)
{
	uint64_t end_ns = max_u64(r->exit_ns - p->epoch_ns, p->last_end_ns);

	ev->start_ns = r->enter_ns > p->epoch_ns ? r->enter_ns - p->epoch_ns : 0;
	ev->took_ns = end_ns - ev->start_ns;
	ev->cpu_ns = r->cpu_ns;
	p->last_end_ns = end_ns;
}

static void take(const struct probe_record *r, void *arg)
{
	struct capture_probe *p = arg;
	struct event ev = {.result = r->result};

	if (!p->buffer || r->exit_ns < p->epoch_ns || !shape(p, r, &ev))
		return;
	if (names_file(ev.op) &&
		!capture_opened(p->capture, r->file[0].fh, r->enter_ns, &ev.file, &ev.handle)) {
		p->homeless++;
		return;
	}
	ev.thread = capture_thread(p->capture, r->tid, r->tgid, NULL);
	set_times(p, r, &ev);
	trace_put_late(p->buffer, &ev);
	p->events++;
	if (r->kind == PROBE_EXIT)
		capture_thread_ended(p->capture, r->tid);
}

static const enum wait_cause causes[PROBE_CAUSES] = {
	[PROBE_CAUSE_UNKNOWN] = WAIT_UNKNOWN,
	[PROBE_CAUSE_THREAD] = WAIT_THREAD,
	[PROBE_CAUSE_TIMER] = WAIT_TIMER,
	[PROBE_CAUSE_IO] = WAIT_IO,
	[PROBE_CAUSE_EXTERNAL] = WAIT_EXTERNAL,
	[PROBE_CAUSE_SERVER] = WAIT_IO, /* never reported */
	[PROBE_CAUSE_END] = WAIT_END,
};

static void take_wait(const struct probe_wait *w, void *arg)
{
	struct capture_probe *p = arg;
	struct trace_wait wait = {
		.cause = causes[w->cause],
		.call = w->call,
		.waker_call = w->waker_call,
		.since_ns = w->since_ns,
		.cpu_ns = w->cpu_ns,
		.served_ns = w->served_ns,
		.blocked_ns = w->blocked_ns,
		.queued_ns = w->queued_ns,
	};

	if (!p->buffer || w->run_ns < p->epoch_ns)
		return;
	wait.run_ns = w->run_ns - p->epoch_ns;
	wait.thread = capture_thread(p->capture, w->tid, w->tgid, NULL);
	if (w->waker)
		wait.waker = capture_thread(p->capture, w->waker, 0, NULL);
	trace_writer_wait(p->writer, &wait);
	p->waits++;
}

static void until(uint64_t until_ns, void *arg)
{
	struct capture_probe *p = arg;

	if (p->buffer)
		trace_hold(p->buffer, until_ns);
}

/* --- the clock --- */

static uint64_t clock_cpu(void *arg, uint32_t tid)
{
	return probe_clock_ns(((struct capture_probe *)arg)->probe, tid);
}

/* --- open, start, stop --- */

int capture_probe_open(struct capture_probe **ret, enum probe_wish wish, const char *dir,
	struct capture_probe_result *result, struct error *err)
{
	struct error why = {0};

	*ret = NULL;
	*result = (struct capture_probe_result){.why_not = "not wanted (--probe=no)"};
	if (wish == PROBE_NO)
		return 0;
	struct capture_probe *p = ALLOC(struct capture_probe);
	struct probe_options options = {.set = PROBE_HIDDEN,
		.dir = dir,
		.record = take,
		.wait = take_wait,
		.until = until,
		.arg = p};
	int r = probe_open(&p->probe, &options, &why);
	if (r) {
		free(p);
		snprintf(result->why_not, sizeof(result->why_not), "%.255s", why.text);
		if (wish == PROBE_YES && err)
			*err = why;
		return wish == PROBE_YES ? r : 0;
	}
	p->clock = (struct capture_clock){clock_cpu, p};
	result->ran = true;
	result->why_not[0] = '\0';
	*ret = p;
	return 0;
}

const struct capture_clock *capture_probe_clock(const struct capture_probe *p)
{
	return p ? &p->clock : NULL;
}

int capture_probe_start(struct capture_probe *p, struct capture *c, struct trace_writer *w,
	pid_t pid, struct error *err)
{
	struct stat st;

	if (!p)
		return 0;
	if (stat(capture_path(c), &st))
		return error_errno(err, errno, "the mount on %s", capture_path(c));
	p->capture = c;
	p->writer = w;
	p->epoch_ns = trace_writer_epoch_ns(w);
	struct trace_buffer *buffer = trace_buffer_new(w);
	trace_hold(buffer, p->epoch_ns);
	p->buffer = buffer;
	probe_narrow(p->probe, probe_device(st.st_dev));
	return probe_watch(p->probe, pid, err);
}

void capture_probe_stop(struct capture_probe *p, struct capture_probe_result *result)
{
	struct probe_stats stats;

	if (!p || !p->buffer)
		return;
	probe_stop(p->probe, &stats);
	trace_let_go(p->buffer);
	result->events = p->events;
	result->lost = stats.lost + p->homeless;
	if (result->lost)
		trace_writer_lost(p->writer, result->lost);
}

void capture_probe_close(struct capture_probe *p)
{
	if (!p)
		return;
	probe_close(p->probe);
	free(p);
}
