/* SPDX-License-Identifier: MIT */
/*
 * /proc is read as a whole, again and again, until nobody is left: a process may fork between being
 * seen and being killed, and its child is then found in the next round.
 */
#include "orphans.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "vec.h"

#define ROUNDS   200
#define ROUND_NS (10 * NSEC_PER_MSEC)
#define NAMED    3
#define REAP_MS  50

struct process {
	pid_t pid, parent;
	bool zombie;
	bool ours;
	char name[32];
};

typedef VEC(struct process) process_list;

/* "PID (NAME) STATE PPID ..."; the name may hold anything. */
static bool parse(const char *text, struct process *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	char state;
	int parent;

	if (!open || !close || sscanf(close + 1, " %c %d", &state, &parent) != 2)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1), open + 1);
	ret->zombie = state == 'Z';
	ret->parent = parent;
	return true;
}

static void list_all(process_list *all)
{
	auto_closedir DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		struct process p = {.pid = atoi(entry->d_name)};
		auto_free char *path = xasprintf("/proc/%d/stat", p.pid);
		auto_free char *text = p.pid > 0 ? read_text(path) : NULL;
		if (text && parse(text, &p))
			vec_push(all, p);
	}
}

static bool is_older(const struct orphans *o, pid_t pid)
{
	vec_each (older, &o->older)
		if (*older == pid)
			return true;
	return false;
}

static bool is_ours(const process_list *all, pid_t parent)
{
	if (parent == getpid())
		return true;
	vec_each (p, all)
		if (p->pid == parent)
			return p->ours;
	return false;
}

/* Children may come before their parents: as long as there is one more. */
static void find_ours(const struct orphans *o, process_list *all, pid_t spare)
{
	bool more = true;

	while (more) {
		more = false;
		vec_each (p, all) {
			if (p->ours || p->pid == spare || is_older(o, p->pid) ||
				!is_ours(all, p->parent))
				continue;
			p->ours = more = true;
		}
	}
}

static void note_name(const struct process *p, unsigned before, char *names, size_t size)
{
	size_t used = names ? strlen(names) : 0;

	if (names && before < NAMED)
		snprintf(names + used, size - used, "%s%s (%d)", before ? ", " : "", p->name,
			p->pid);
}

/* How many still ran in this round. */
static unsigned kill_round(const struct orphans *o, pid_t spare, char *names, size_t size)
{
	process_list all = {0};
	unsigned running = 0;

	list_all(&all);
	find_ours(o, &all, spare);
	vec_each (p, &all) {
		if (!p->ours)
			continue;
		if (!p->zombie && !kill(p->pid, SIGKILL))
			note_name(p, running++, names, size);
		if (p->parent == getpid())
			waitpid(p->pid, NULL, WNOHANG);
	}
	vec_free(&all);
	return running;
}

void orphans_adopt(struct orphans *o)
{
	process_list all = {0};

	list_all(&all);
	*o = (struct orphans){0};
	vec_each (p, &all)
		if (p->parent == getpid())
			vec_push(&o->older, p->pid);
	vec_free(&all);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Up to the first that is somebody else's to reap. */
static void reap_adopted(const struct orphans *o, pid_t but)
{
	siginfo_t info = {0};

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
		info.si_pid != but && !is_older(o, info.si_pid)) {
		waitpid(info.si_pid, NULL, WNOHANG);
		info.si_pid = 0;
	}
}

pid_t orphans_wait(const struct orphans *o, pid_t pid, int *status)
{
	auto_close int fd = pidfd_open(pid, 0);
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	while (fd >= 0) {
		int n = poll(&ended, 1, REAP_MS);
		if (n < 0)
			return -1;
		if (n > 0)
			break;
		reap_adopted(o, pid);
	}
	return waitpid(pid, status, 0);
}

unsigned orphans_kill(const struct orphans *o, pid_t spare, char *names, size_t size)
{
	const struct timespec pause = {0, (long)ROUND_NS};

	if (names)
		names[0] = 0;
	unsigned first = kill_round(o, spare, names, size);
	for (unsigned i = 0, left = first; left && i < ROUNDS; i++) {
		nanosleep(&pause, NULL);
		left = kill_round(o, spare, NULL, 0);
	}
	return first;
}

void orphans_release(struct orphans *o)
{
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	vec_free(&o->older);
}
