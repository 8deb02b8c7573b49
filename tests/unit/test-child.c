/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"

static int succeed(void *arg, struct error *err)
{
	*(uint64_t *)arg = 7;
	return 3;
}

static int refuse(void *arg, struct error *err)
{
	return error_set(err, ENOSPC, "no room for %s", (const char *)arg);
}

static int crash(void *arg, struct error *err)
{
	signal(SIGSEGV, SIG_DFL); /* not the sanitizer's handler */
	raise(SIGSEGV);
	return 0;
}

static int leave(void *arg, struct error *err)
{
	_exit(9);
}

static int burn(void *arg, struct error *err)
{
	uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns < 20 * NSEC_PER_MSEC)
		;
	return 0;
}

static int wait_long(void *arg, struct error *err)
{
	pause();
	return 0;
}

TEST(result_and_shared_memory_come_back)
{
	uint64_t *shared = shared_memory(sizeof(*shared));
	struct error err = {0};

	CHECK_EQ(*shared, 0);
	CHECK_EQ(child_run(succeed, shared, NULL, &err), 3);
	CHECK_EQ(*shared, 7);
	shared_memory_free(shared, sizeof(*shared));
}

TEST(error_comes_back)
{
	char what[] = "more";
	struct error err = {0};

	CHECK_EQ(child_run(refuse, what, NULL, &err), -ENOSPC);
	CHECK_EQ(err.code, ENOSPC);
	CHECK_EQ(err.text, "no room for more");
}

TEST(crash_is_an_error)
{
	struct error err = {0};

	CHECK_EQ(child_run(crash, NULL, NULL, &err), -EIO);
	CHECK(strstr(err.text, "Segmentation fault"));
	CHECK_EQ(child_run(leave, NULL, NULL, &err), -EIO);
	CHECK(strstr(err.text, "status 9"));
}

TEST(cpu_time_is_told)
{
	uint64_t cpu_ns = 0;

	CHECK_EQ(child_run(burn, NULL, &cpu_ns, NULL), 0);
	CHECK(cpu_ns >= 19 * NSEC_PER_MSEC);
	CHECK(cpu_ns < 10 * NSEC_PER_SEC);
}

TEST(killed_child_is_gone)
{
	struct child child = {0};

	child_kill(&child);
	CHECK_EQ(child_start(&child, wait_long, NULL, NULL), 0);
	pid_t pid = child.pid;
	child_kill(&child);
	CHECK_EQ(kill(pid, 0), -1);
	CHECK_EQ(errno, ESRCH);
}
