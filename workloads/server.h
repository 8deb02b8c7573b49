/* SPDX-License-Identifier: MIT */
/*
 * The life of a database server that serves one workload: private in everything, gone afterwards.
 *
 * The data lie in a directory inside the one the workload was given; the socket and the log lie
 * outside, in a temporary directory of their own. A guardian process stands between: it is the
 * server's parent, and ends the server with all its children, and removes the temporary directory,
 * when the process that started it is gone, however that happened.
 *
 *   server_init()   who will it be, and is the data directory within reach?
 *   server_start()  guardian and server
 *   server_wait()   until it answers
 *   server_stop()   clean, or an error; server_kill() on every other way out
 */
#ifndef SERVER_H
#define SERVER_H

#include <limits.h>
#include <sys/types.h>

#include "error.h"

/* What is known about a kind of server before one is started. */
struct server_kind {
	const char *name;    /* for messages: "PostgreSQL" */
	const char *program; /* file name of the server: "postgres" */
	const char *user;    /* who it is when root starts it */
	const char *package; /* what to install when program or user are missing */
	int stop_signal;     /* ends it in an orderly way */
};

struct server {
	const struct server_kind *kind;
	char *data_dir; /* owned by the user of the server, 0700 */
	char *run_dir;  /* for the socket; holds the log too */
	char *log;
	char *preload; /* a library that the server loads before its own; NULL: none */
	uid_t uid;
	gid_t gid;
	bool change_user;
	pid_t guardian; /* 0 = none */
	int control;    /* -1 = none; a byte is a signal for the server, closing it means: kill */
};

/*
 * Make DIR/NAME if it is not there, with the right owner, and the temporary directory. Fails if
 * the user of the server cannot reach them. Started or not, server_kill() undoes the latter.
 */
int server_init(struct server *ret, const struct server_kind *kind, const char *dir,
	const char *name, struct error *err);

/* Preload a copy of `library`, made in run_dir, where the user of the server can read it. */
int server_preload(struct server *server, const char *library, struct error *err);

/* Run a program as the user of the server and wait for it, as spawn_run() does: initdb and such. */
int server_run(const struct server *server, const char *const argv[], struct error *err);

/* argv[0] is the full path. */
int server_start(struct server *server, const char *const argv[], struct error *err);

/* Ask ready(arg) again and again: 0 = not yet, > 0 = yes, < 0 = it will not come, with the error
 * set. Fails when the server ends, after some minutes, and on SIGINT. */
int server_wait(struct server *server, int (*ready)(void *arg, struct error *err), void *arg,
	struct error *err);

/* Stop it in an orderly way and wait; it is an error if the server sees it as one. */
int server_stop(struct server *server, struct error *err);

/* SIGKILL to the server and all its children, and wait. Safe on a zeroed struct and after
 * server_stop(). */
void server_kill(struct server *server);

/* Add the last lines of the log to the error, and keep the log. Returns -code. */
int server_blame(struct server *server, struct error *err);

/* For locals: auto_server struct server s = {0}; */
#define auto_server __attribute__((cleanup(server_kill)))

#endif
