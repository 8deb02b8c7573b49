/* SPDX-License-Identifier: MIT */
/* The life of a server, with a shell script in the place of one. */
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "child.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "vec.h"

static const struct server_kind kind = {
	.name = "Shell",
	.program = "sh",
	.user = "nobody",
	.package = "the package dash",
	.stop_signal = SIGTERM,
};

static char *dir;

static void make_dir(void)
{
	dir = make_temp_dir(NULL);
	chmod(dir, 0755);
}

static void remove_dir(void)
{
	CHECK_EQ(remove_tree(dir), 0);
	free(dir);
}

static int start(struct server *s, const char *script, struct error *err)
{
	const char *argv[] = {"/bin/sh", "-c", script, "sh", NULL, NULL};
	int r = server_init(s, &kind, dir, "data", err);

	argv[4] = s->data_dir;
	return r ? r : server_start(s, argv, err);
}

/* The script says that it is ready by a file, which holds process ids. */
static int is_ready(void *arg, struct error *err)
{
	struct server *s = arg;
	auto_free char *path = xasprintf("%s/ready", s->data_dir);
	auto_free char *text = read_text(path);

	return text && strchr(text, '.');
}

static bool is_alive(const char *pid)
{
	return !kill((pid_t)atoi(pid), 0);
}

static const char serves[] = "trap 'exit 0' TERM; sleep 1000 & echo $! . >$1/ready;"
			     "while :; do sleep 0.02; done";

TEST(stops_in_an_orderly_way)
{
	struct error err = {0};
	struct server s = {0};

	make_dir();
	CHECK_EQ(start(&s, serves, &err), 0);
	CHECK_EQ(server_wait(&s, is_ready, &s, &err), 0);
	auto_free char *path = xasprintf("%s/ready", s.data_dir);
	auto_free char *orphan = read_text(path);
	CHECK(is_alive(orphan));
	CHECK_EQ(server_stop(&s, &err), 0);
	CHECK_EQ(err.text, "");
	CHECK(!is_alive(orphan));
	auto_free char *run_dir = xstrdup(s.run_dir);
	server_kill(&s);
	CHECK(access(run_dir, F_OK) != 0);
	server_kill(&s);
	remove_dir();
}

TEST(dies_with_all_its_children)
{
	struct error err = {0};
	struct server s = {0};

	make_dir();
	/* It ignores the signal that should stop it, and has a child that does too. */
	CHECK_EQ(start(&s, "trap '' TERM; (trap '' TERM; sleep 1000) & echo $! . >$1/ready; wait",
			 &err),
		0);
	CHECK_EQ(server_wait(&s, is_ready, &s, &err), 0);
	auto_free char *path = xasprintf("%s/ready", s.data_dir);
	auto_free char *child = read_text(path);
	CHECK(is_alive(child));
	server_kill(&s);
	CHECK(!is_alive(child));
	remove_dir();
}

TEST(failure_tells_the_end_of_the_log)
{
	struct error err = {0};
	struct server s = {0};

	make_dir();
	CHECK_EQ(start(&s, "echo first; echo the reason >&2; exit 3", &err), 0);
	CHECK_EQ(server_wait(&s, is_ready, &s, &err), -EIO);
	CHECK(strstr(err.text, "Shell does not start; its log "));
	CHECK(strstr(err.text, ".log ends: first the reason"));
	auto_free char *log = xasprintf("%s.log", s.run_dir);
	CHECK_EQ(unlink(log), 0);
	CHECK_EQ(server_stop(&s, &err), -EIO);
	CHECK(strstr(err.text, "ended with status 3"));
	server_kill(&s);
	remove_dir();
}

static const char *script = serves;

/* Starts a server, leaves word of it, and dies; at once, or when the server has. */
static int start_and_die(void *arg, struct error *err)
{
	struct server s = {0};
	auto_free char *path = xasprintf("%s/run_dir", (const char *)arg);
	int r = start(&s, script, err);

	if (!r)
		r = server_wait(&s, is_ready, &s, err);
	if (script != serves)
		nanosleep(&(struct timespec){.tv_nsec = 100 * (long)NSEC_PER_MSEC}, NULL);
	auto_fclose FILE *f = fopen(path, "w");
	if (f && !r) {
		fputs(s.run_dir, f);
		fflush(f);
		raise(SIGKILL);
	}
	return r;
}

static void check_nothing_is_left(void)
{
	struct error err = {0};

	make_dir();
	CHECK(child_run(start_and_die, dir, NULL, &err) < 0);
	CHECK(strstr(err.text, "Killed"));
	auto_free char *ready = xasprintf("%s/data/ready", dir);
	auto_free char *path = xasprintf("%s/run_dir", dir);
	auto_free char *pid = read_text(ready), *run_dir = read_text(path);
	CHECK(pid && run_dir);
	for (int i = 0; i < 1000 && (is_alive(pid) || !access(run_dir, F_OK)); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10 * (long)NSEC_PER_MSEC}, NULL);
	CHECK(!is_alive(pid));
	CHECK(access(run_dir, F_OK) != 0);
	remove_dir();
}

TEST(nothing_is_left_when_its_owner_is_killed)
{
	check_nothing_is_left();
	script = "echo $$ . >$1/ready; sleep 0.05"; /* it dies first */
	check_nothing_is_left();
}

TEST(the_user_must_reach_the_data)
{
	struct error err = {0};
	struct server s = {0};

	if (geteuid())
		return;
	make_dir();
	auto_free char *closed = xasprintf("%s/closed", dir);
	auto_free char *inner = xasprintf("%s/inner", closed);
	CHECK_EQ(mkdir(closed, 0700) || mkdir(inner, 0700), 0);
	CHECK_EQ(server_init(&s, &kind, inner, "data", &err), -EACCES);
	CHECK(strstr(err.text, "closed as user nobody"));
	server_kill(&s);
	remove_dir();
}
