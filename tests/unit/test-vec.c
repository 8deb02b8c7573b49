/* SPDX-License-Identifier: MIT */
#include "vec.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

TEST(push_keeps_order)
{
	VEC(int) v = {0};
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	CHECK_EQ(v.count, 1000);
	CHECK(v.capacity >= v.count);
	CHECK_EQ(v.at[999], 999);
	vec_each (i, &v)
		sum += *i;
	CHECK_EQ(sum, 499500);
	vec_free(&v);
	CHECK(!v.at && !v.count && !v.capacity);
}

TEST(empty_loop_does_nothing)
{
	VEC(char) v = {0};
	int seen = 0;

	vec_each (c, &v)
		seen += *c + 1;
	CHECK_EQ(seen, 0);
	vec_free(&v);
}

TEST(strings)
{
	char *copy = xstrdup("a b");
	char *made = xasprintf("%s-%d", copy, 3);

	CHECK_EQ(copy, "a b");
	CHECK_EQ(made, "a b-3");
	free(copy);
	free(made);
}

/* A product that overflows must abort, never hand out a short block. */
TEST(overflow_aborts)
{
	volatile size_t huge = SIZE_MAX / 2;
	pid_t pid = fork();

	if (!pid) {
		close(STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		free(xrealloc(NULL, huge, 4));
		_exit(0);
	}
	int status = 0;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
