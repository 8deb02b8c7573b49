/* SPDX-License-Identifier: MIT */
/*
 * The start gate is made of two pipes. A client that is ready closes its end of the first, one that
 * dies does too, so the parent sees the end of file when nobody can come any more; it then closes
 * its end of the second, at which all clients wait. No client can be left behind, and nothing has
 * to be cleaned up.
 */
#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "child.h"
#include "cleanup.h"
#include "clock.h"
#include "vec.h"

/* How often the outcome is brought up to date during the run. */
#define WATCH_MS 100

struct start {
	struct client *client;
	int (*work)(struct client *self, struct error *err);
	int go_write_fd; /* the parent's end; a client must not hold it open */
};

void crew_ready(struct client *self)
{
	char byte;

	close(take_fd(self->ready_fd));
	while (read(self->go_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static int client_main(void *arg, struct error *err)
{
	struct start *start = arg;

	close(start->go_write_fd);
	int r = start->work(start->client, err);
	return r < 0 ? error_wrap(err, "client %u", start->client->number) : 0;
}

struct crew {
	uint64_t count;
	struct client *clients; /* shared */
	struct child *children;
	int ready[2], go[2];
};

static int crew_start(struct crew *crew, const void *settings, const char *dir,
	int (*work)(struct client *self, struct error *err), struct error *err)
{
	if (pipe2(crew->ready, O_CLOEXEC) || pipe2(crew->go, O_CLOEXEC))
		return error_errno(err, errno, "pipe");
	for (uint64_t i = 0; i < crew->count; i++) {
		struct client *c = &crew->clients[i];
		struct start start = {c, work, crew->go[1]};
		c->number = (unsigned)i;
		c->settings = settings;
		c->dir = dir;
		c->ready_fd = crew->ready[1];
		c->go_fd = crew->go[0];
		int r = child_start(&crew->children[i], client_main, &start, err);
		if (r)
			return r;
	}
	return 0;
}

/* Wait until every client is ready or dead, then let them go. */
static void crew_release(struct crew *crew)
{
	char byte;

	close(take_fd(crew->ready[1]));
	while (read(crew->ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(take_fd(crew->go[1]));
}

static uint64_t crew_operations(const struct crew *crew)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < crew->count; i++)
		sum += __atomic_load_n(&crew->clients[i].operations, __ATOMIC_RELAXED);
	return sum;
}

static int crew_wait(struct crew *crew, struct outcome *out, struct error *err)
{
	for (uint64_t i = 0; i < crew->count; i++) {
		while (!child_poll(&crew->children[i], WATCH_MS))
			out->operations = crew_operations(crew);
		int r = child_wait(&crew->children[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void crew_done(struct crew *crew)
{
	for (uint64_t i = 0; i < crew->count; i++)
		child_kill(&crew->children[i]);
	for (unsigned i = 0; i < 2; i++) {
		cleanup_close(&crew->ready[i]);
		cleanup_close(&crew->go[i]);
	}
	free(crew->children);
	shared_memory_free(crew->clients, crew->count * sizeof(*crew->clients));
}

static void crew_add_up(const struct crew *crew, struct outcome *ret)
{
	ret->operations = crew_operations(crew);
	for (uint64_t i = 0; i < crew->count; i++) {
		ret->failures += crew->clients[i].failures;
		hist_merge(&ret->latency, &crew->clients[i].latency);
	}
}

int crew_run(uint64_t count, const void *settings, const char *dir,
	int (*work)(struct client *self, struct error *err), struct outcome *ret, struct error *err)
{
	struct crew crew = {
		.count = count,
		.clients = shared_memory(count * sizeof(struct client)),
		.children = ALLOC_ARRAY(struct child, count),
		.ready = {-1, -1},
		.go = {-1, -1},
	};
	uint64_t start_ns = now_ns();

	int r = crew_start(&crew, settings, dir, work, err);
	if (!r) {
		phase_mark(dir, "run");
		crew_release(&crew);
		r = crew_wait(&crew, ret, err);
	}
	ret->elapsed_ns = now_ns() - start_ns;
	if (!r)
		crew_add_up(&crew, ret);
	crew_done(&crew);
	return r;
}
