/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cleanup.h"
#include "clock.h"
#include "interrupt.h"
#include "vec.h"

/* How long a signal that arrives just before poll() can go unnoticed. */
#define POLL_MS 200

struct child_shared {
	bool finished;
	int result;
	struct error err;
};

void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		fputs("fsreel: out of memory\n", stderr);
		abort();
	}
	return p;
}

void shared_memory_free(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

static void child_forget(struct child *child)
{
	shared_memory_free(child->shared, sizeof(*child->shared));
	child->shared = NULL;
	child->pid = 0;
}

attr_noreturn static void child_main(struct child_shared *shared, pid_t parent,
	int (*work)(void *arg, struct error *err), void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	interrupt_release();
	shared->result = work(arg, &shared->err);
	shared->finished = true;
	_exit(0);
}

int child_start(
	struct child *ret, int (*work)(void *arg, struct error *err), void *arg, struct error *err)
{
	pid_t parent = getpid();
	struct child_shared *shared = shared_memory(sizeof(*shared));

	fflush(NULL); /* or the child's copy of a buffer could be written twice */
	pid_t pid = fork();
	if (!pid)
		child_main(shared, parent, work, arg);
	if (pid < 0) {
		int r = error_errno(err, errno, "cannot start a process");
		shared_memory_free(shared, sizeof(*shared));
		return r;
	}
	*ret = (struct child){.pid = pid, .shared = shared};
	return 0;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_usec * NSEC_PER_USEC;
}

static int child_reap(struct child *child)
{
	struct rusage usage = {0};
	int status = 0;

	while (wait4(child->pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	child->cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	return status;
}

bool child_poll(const struct child *child, int timeout_ms)
{
	auto_close int fd = pidfd_open(child->pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (fd < 0 || poll(&p, 1, timeout_ms) > 0)
		return true;
	if (interrupted())
		kill(child->pid, SIGKILL);
	return false;
}

int child_wait(struct child *child, struct error *err)
{
	int r;

	while (!child_poll(child, POLL_MS))
		;
	int status = child_reap(child);
	if (interrupted())
		r = error_set(err, EINTR, "interrupted");
	else if (!child->shared->finished && WIFSIGNALED(status))
		r = error_set(
			err, EIO, "the working process died: %s", strsignal(WTERMSIG(status)));
	else if (!child->shared->finished)
		r = error_set(err, EIO, "the working process ended early with status %d",
			WEXITSTATUS(status));
	else if ((r = child->shared->result) < 0 && err)
		*err = child->shared->err;
	child_forget(child);
	return r;
}

void child_kill(struct child *child)
{
	if (!child->pid)
		return;
	kill(child->pid, SIGKILL);
	child_reap(child);
	child_forget(child);
}

int child_run(int (*work)(void *arg, struct error *err), void *arg, uint64_t *ret_cpu_ns,
	struct error *err)
{
	struct child child;
	int r = child_start(&child, work, arg, err);

	if (r < 0)
		return r;
	r = child_wait(&child, err);
	if (ret_cpu_ns)
		*ret_cpu_ns = child.cpu_ns;
	return r;
}
