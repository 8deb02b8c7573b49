/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>

#include "clock.h"
#include "writer.h" /* struct trace_thread */

static const char *const cause_names[WAIT_CAUSES] = {
	[WAIT_UNKNOWN] = "unknown",
	[WAIT_THREAD] = "thread",
	[WAIT_TIMER] = "timer",
	[WAIT_IO] = "io",
	[WAIT_EXTERNAL] = "external",
	[WAIT_END] = "end",
};

/* Calls in which threads wait or wake; the others are shown by number. */
#define CALL(name) [SYS_##name] = #name
static const char *const call_names[] = {
	CALL(accept),
	CALL(accept4),
	CALL(chmod),
	CALL(clock_nanosleep),
	CALL(clone),
	CALL(close),
	CALL(connect),
	CALL(copy_file_range),
	CALL(creat),
	CALL(dup2),
	CALL(epoll_pwait),
	CALL(epoll_wait),
	CALL(eventfd2),
	CALL(execve),
	CALL(exit),
	CALL(exit_group),
	CALL(fallocate),
	CALL(fchmod),
	CALL(fchown),
	CALL(fcntl),
	CALL(fdatasync),
	CALL(flock),
	CALL(fstat),
	CALL(fsync),
	CALL(ftruncate),
	CALL(futex),
	CALL(getdents64),
	CALL(io_getevents),
	CALL(io_submit),
	CALL(io_uring_enter),
	CALL(kill),
	CALL(link),
	CALL(lseek),
	CALL(lstat),
	CALL(madvise),
	CALL(mkdir),
	CALL(mmap),
	CALL(msgrcv),
	CALL(msync),
	CALL(munmap),
	CALL(nanosleep),
	CALL(newfstatat),
	CALL(open),
	CALL(openat),
	CALL(pause),
	CALL(poll),
	CALL(ppoll),
	CALL(pread64),
	CALL(preadv),
	CALL(preadv2),
	CALL(pselect6),
	CALL(pwrite64),
	CALL(pwritev),
	CALL(pwritev2),
	CALL(read),
	CALL(readahead),
	CALL(readv),
	CALL(recvfrom),
	CALL(recvmsg),
	CALL(rename),
	CALL(renameat2),
	CALL(rmdir),
	CALL(rt_sigtimedwait),
	CALL(sched_yield),
	CALL(select),
	CALL(semop),
	CALL(semtimedop),
	CALL(sendfile),
	CALL(sendmmsg),
	CALL(sendmsg),
	CALL(sendto),
	CALL(splice),
	CALL(stat),
	CALL(statx),
	CALL(sync),
	CALL(sync_file_range),
	CALL(syncfs),
	CALL(tgkill),
	CALL(truncate),
	CALL(unlink),
	CALL(unlinkat),
	CALL(utimensat),
	CALL(vfork),
	CALL(wait4),
	CALL(waitid),
	CALL(write),
	CALL(writev),
};

const char *wait_cause_name(enum wait_cause cause)
{
	return (unsigned)cause < WAIT_CAUSES ? cause_names[cause] : "?";
}

const char *wait_call_name(uint32_t call, struct wait_call_text *text)
{
	if (!call)
		return "no call";
	if (call - 1 < ARRAY_SIZE(call_names) && call_names[call - 1])
		return call_names[call - 1];
	snprintf(text->at, sizeof(text->at), "call %u", call - 1);
	return text->at;
}

void wait_encode(const struct trace_wait *w, uint64_t *last_ns, struct bytes *out)
{
	const uint64_t values[] = {w->thread, zigzag((int64_t)(w->run_ns - *last_ns)), w->since_ns,
		w->cpu_ns, w->served_ns, w->blocked_ns, w->queued_ns, w->cause, w->waker, w->call,
		w->waker_call};

	*last_ns = w->run_ns;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		put_varint(out, values[i]);
}

bool wait_decode(struct cursor *c, uint64_t *last_ns, struct trace_wait *ret)
{
	uint64_t v[11];

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = get_varint(c);
	*last_ns += (uint64_t)unzigzag(v[1]);
	*ret = (struct trace_wait){
		.thread = (uint32_t)v[0],
		.run_ns = *last_ns,
		.since_ns = v[2],
		.cpu_ns = v[3],
		.served_ns = v[4],
		.blocked_ns = v[5],
		.queued_ns = v[6],
		.cause = (enum wait_cause)v[7],
		.waker = (uint32_t)v[8],
		.call = (uint32_t)v[9],
		.waker_call = (uint32_t)v[10],
	};
	return !c->bad && v[0] <= UINT32_MAX && v[8] <= UINT32_MAX && *last_ns <= INT64_MAX;
}

static void print_who(FILE *out, const struct trace_thread *t)
{
	for (const char *p = t->comm; *p && p < t->comm + sizeof(t->comm); p++)
		fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, out);
	fprintf(out, "/%u", t->tid);
}

static void print_ns(FILE *out, const char *before, uint64_t ns)
{
	fprintf(out, "%s%" PRIu64 ".%09" PRIu64, before, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

void print_wait(FILE *out, const struct trace_wait *w, const struct trace_thread *thread,
	const struct trace_thread *waker)
{
	struct wait_call_text text;

	print_ns(out, "", w->run_ns);
	fputc(' ', out);
	print_who(out, thread);
	fprintf(out, " %s: %s", wait_call_name(w->call, &text), wait_cause_name(w->cause));
	if (waker) {
		fputc(' ', out);
		print_who(out, waker);
		fprintf(out, " in %s", wait_call_name(w->waker_call, &text));
	}
	print_ns(out, " blocked=", w->blocked_ns);
	print_ns(out, " queued=", w->queued_ns);
	print_ns(out, " since=", w->since_ns);
	print_ns(out, " cpu=", w->cpu_ns);
	print_ns(out, " served=", w->served_ns);
	fputc('\n', out);
}
