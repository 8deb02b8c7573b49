/* SPDX-License-Identifier: MIT */
/*
 * What traced threads wait for: a part of record.bpf.c, with its maps and its ring.
 *
 * A wait begins when a thread is taken off its CPU although it could not go on, and ends when it is
 * put on one again. In between somebody wakes it: the thread that is current then, or what has
 * interrupted that one.
 */
#ifndef WAIT_BPF_H
#define WAIT_BPF_H

enum context {
	IN_TIMER = 1,
	IN_IRQ = 2,
	IN_SOFTIRQ = 4,
};

/* What interrupted the thread that is current on this CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} contexts SEC(".maps");

static __always_inline int context_enter(enum context what)
{
	__u32 zero = 0, *context = bpf_map_lookup_elem(&contexts, &zero);

	if (context)
		*context |= what;
	return 0;
}

static __always_inline int context_leave(enum context what)
{
	__u32 zero = 0, *context = bpf_map_lookup_elem(&contexts, &zero);

	if (context)
		*context &= ~what;
	return 0;
}

#define CONTEXT(tracepoint, what)                                                                  \
	SEC("tp_btf/" #tracepoint "_entry")                                                        \
	int tracepoint##_enter(void *ctx)                                                          \
	{                                                                                          \
		return context_enter(what);                                                        \
	}                                                                                          \
	SEC("tp_btf/" #tracepoint "_exit")                                                         \
	int tracepoint##_leave(void *ctx)                                                          \
	{                                                                                          \
		return context_leave(what);                                                        \
	}

CONTEXT(hrtimer_expire, IN_TIMER)
CONTEXT(timer_expire, IN_TIMER)
CONTEXT(irq_handler, IN_IRQ)
CONTEXT(softirq, IN_SOFTIRQ)

/* Calls whose data loopback delivers at once, in the sender's context. */
static __always_inline bool sends(__u32 call)
{
	switch (call - 1) {
	case 1:   /* write */
	case 20:  /* writev */
	case 44:  /* sendto */
	case 46:  /* sendmsg */
	case 307: /* sendmmsg */
		return true;
	}
	return false;
}

/* Whoever waits in a call about files, or for a page, waits for the I/O stack. */
static __always_inline bool waits_for_io(const struct probe_clock *c)
{
	__u32 nr = c->call - 1;

	if (!c->call)
		return true;
	return nr < PROBE_CALLS && file_calls[nr];
}

static __always_inline enum probe_cause cause_of(
	struct probe_clock *c, const struct task_struct *waker, __u32 context)
{
	const struct probe_clock *w = clock_of(waker->pid);
	bool traced_waker = is_traced(waker->pid) && w->tid == (__u32)waker->pid;

	if (context & IN_TIMER)
		return PROBE_CAUSE_TIMER;
	if ((context & IN_SOFTIRQ) && !(context & IN_IRQ) && traced_waker && sends(w->call))
		return PROBE_CAUSE_THREAD;
	if (context)
		return waits_for_io(c) ? PROBE_CAUSE_IO : PROBE_CAUSE_EXTERNAL;
	if ((__u32)waker->tgid == server)
		return PROBE_CAUSE_SERVER;
	if (traced_waker)
		return PROBE_CAUSE_THREAD;
	if (waker->flags & (PF_KTHREAD | PF_IO_WORKER))
		return PROBE_CAUSE_IO;
	return PROBE_CAUSE_EXTERNAL;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	__u32 tid = task->pid, zero = 0;

	if (!is_traced(tid))
		return 0;
	struct probe_clock *c = clock_of(tid);
	__u32 *context = bpf_map_lookup_elem(&contexts, &zero);
	if (c->tid != tid || !context)
		return 0;
	struct task_struct *waker = bpf_get_current_task_btf();
	c->wake_ns = bpf_ktime_get_ns();
	c->cause = cause_of(c, waker, *context);
	c->waker = 0;
	c->waker_call = 0;
	if (c->cause == PROBE_CAUSE_THREAD) {
		c->waker = waker->pid;
		c->waker_call = clock_of(waker->pid)->call;
	}
	return 0;
}

static __always_inline void put_wait(
	struct probe_clock *c, const struct task_struct *task, enum probe_cause cause)
{
	struct probe_wait *w = bpf_ringbuf_reserve(&ring, sizeof(*w), 0);

	if (!w) {
		count_lost(PROBE_WAIT);
		return;
	}
	__u64 now = bpf_ktime_get_ns();
	bool woken = c->wake_ns >= c->block_ns && c->wake_ns <= now;
	__u64 wake_ns = woken ? c->wake_ns : now;
	w->run_ns = now;
	w->kind = PROBE_WAIT;
	w->cause = cause;
	w->tid = task->pid;
	w->tgid = task->tgid;
	w->waker = c->waker;
	w->call = c->call;
	w->waker_call = c->waker_call;
	w->since_ns = c->block_ns - c->ran_ns;
	w->cpu_ns = c->used_ns - c->ran_used_ns;
	w->served_ns = c->served_ns;
	w->blocked_ns = wake_ns - c->block_ns;
	w->queued_ns = now - wake_ns;
	submit(w);
	/* The next one counts from here, and what was used for this record is nobody's. */
	c->ran_ns = c->since_ns = now;
	c->ran_used_ns = c->used_ns;
	c->served_ns = 0;
}

#define WAKE_SLACK_NS 50000 /* a wake-up may be noted just before the wait that it ends */

static __always_inline void resume(struct probe_clock *c, const struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();

	c->since_ns = now;
	if (!want_waits || !c->block_ns)
		return;
	bool known = c->wake_ns + WAKE_SLACK_NS >= c->block_ns;
	enum probe_cause cause = known ? c->cause : PROBE_CAUSE_UNKNOWN;
	if (cause == PROBE_CAUSE_SERVER)
		c->served_ns += now - c->block_ns;
	else
		put_wait(c, task, cause);
	c->block_ns = 0;
}

static __always_inline void suspend(struct probe_clock *c, bool waits)
{
	__u64 now = bpf_ktime_get_ns();

	if (c->since_ns)
		c->used_ns += now - c->since_ns;
	c->since_ns = 0;
	if (waits)
		c->block_ns = now;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	unsigned int prev_state)
{
	__u32 from = prev->pid, to = next->pid;

	if (is_traced(from) && clock_of(from)->tid == from)
		suspend(clock_of(from), !preempt && prev_state);
	if (is_traced(to) && clock_of(to)->tid == to)
		resume(clock_of(to), next);
	return 0;
}

/* The last of a thread: what it did since its last wait. */
static __always_inline void end_waits(const struct task_struct *task)
{
	struct probe_clock *c = clock_of(task->pid);

	if (!want_waits || c->tid != (__u32)task->pid)
		return;
	c->used_ns = used_ns(c);
	c->block_ns = c->since_ns = bpf_ktime_get_ns();
	c->waker = c->waker_call = 0;
	put_wait(c, task, PROBE_CAUSE_END);
	c->block_ns = 0;
}

#endif
