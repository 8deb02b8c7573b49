/* SPDX-License-Identifier: MIT */
/*
 *   workload ──fork──► guardian ──fork──► server ──fork──► its workers
 *       └──── control ────► (a socket)
 *
 * The guardian is a subreaper: workers that lose the server become its children, so it can end
 * and reap them all, and the file system can be unmounted when it has gone. End of file on the
 * control socket means that the workload is gone. The server has an IPC namespace of its own where
 * that is allowed, so that no shared memory segment survives it.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "child.h"
#include "cleanup.h"
#include "clock.h"
#include "interrupt.h"
#include "io.h"
#include "spawn.h"
#include "vec.h"

#define START_LIMIT_NS (300 * NSEC_PER_SEC)
#define STOP_LIMIT_MS  300000
#define POLL_MS        20
#define LOG_NAME       "log"

/* Longest file name that a server makes in run_dir, as in ".s.PGSQL.5432.lock". */
#define SOCKET_NAME_MAX 20

/* --- who and where --- */

static int find_user(struct server *s, struct error *err)
{
	const struct server_kind *kind = s->kind;

	if (geteuid())
		return 0;
	const struct passwd *user = getpwnam(kind->user);
	if (!user)
		return error_set(err, ENOENT,
			"%s does not run as root, and there is no user '%s'; install %s",
			kind->name, kind->user, kind->package);
	s->uid = user->pw_uid;
	s->gid = user->pw_gid;
	s->change_user = true;
	return 0;
}

static int become_user(const struct server *s)
{
	if (!s->change_user)
		return 0;
	if (setgroups(0, NULL) || setgid(s->gid) || setuid(s->uid))
		return -errno;
	return 0;
}

static int check_path(const struct server *s, const char *path, struct error *err)
{
	auto_free char *part = xstrdup(path);

	for (char *slash = part; (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		if (access(part, X_OK))
			return error_errno(err, errno, "%s cannot enter %s%s%s", s->kind->name,
				part, s->change_user ? " as user " : "",
				s->change_user ? s->kind->user : "");
	}
	return 0;
}

/* As the user. */
static int check_reach(void *arg, struct error *err)
{
	const struct server *s = arg;
	int r = become_user(s);

	if (r)
		return error_errno(err, r, "cannot become user '%s'", s->kind->user);
	r = check_path(s, s->data_dir, err);
	return r ? r : check_path(s, s->log, err);
}

static int own_dir(const struct server *s, const char *path, struct error *err)
{
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		return error_errno(err, errno, "cannot make %s", path);
	if (stat(path, &st))
		return error_errno(err, errno, "%s", path);
	if (s->change_user && st.st_uid != s->uid && chown(path, s->uid, s->gid))
		return error_errno(err, errno, "cannot give %s to user '%s'", path, s->kind->user);
	return 0;
}

/* The directory that the workload was given is ours: let the user of the server pass through it. */
static int open_dir(const struct server *s, const char *dir, struct error *err)
{
	struct stat st;

	if (!s->change_user)
		return 0;
	if (stat(dir, &st))
		return error_errno(err, errno, "%s", dir);
	if ((st.st_mode & S_IXOTH) || !chmod(dir, (st.st_mode & 07777) | S_IXOTH))
		return 0;
	return error_errno(err, errno, "cannot let others enter %s", dir);
}

static int make_run_dir(struct server *s, struct error *err)
{
	auto_free char *made = make_temp_dir(err);
	if (!made)
		return err && err->code ? -err->code : -EIO;
	s->run_dir = realpath(made, NULL);
	s->log = xasprintf("%s/" LOG_NAME, s->run_dir);
	if (strlen(s->run_dir) + 1 + SOCKET_NAME_MAX >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return error_set(err, ENAMETOOLONG,
			"%s is too long for a socket; set TMPDIR to a shorter directory",
			s->run_dir);
	return own_dir(s, s->run_dir, err);
}

int server_init(struct server *ret, const struct server_kind *kind, const char *dir,
	const char *name, struct error *err)
{
	*ret = (struct server){.kind = kind, .control = -1};
	auto_free char *real = realpath(dir, NULL); /* the server stands elsewhere */
	if (!real)
		return error_errno(err, errno, "%s", dir);
	ret->data_dir = xasprintf("%s/%s", real, name);
	int r = find_user(ret, err);
	if (!r)
		r = open_dir(ret, dir, err);
	if (!r)
		r = own_dir(ret, ret->data_dir, err);
	if (!r)
		r = make_run_dir(ret, err);
	return r ? r : child_run(check_reach, ret, NULL, err);
}

int server_preload(struct server *server, const char *library, struct error *err)
{
	auto_free char *copy = xasprintf("%s/%s", server->run_dir, basename(library));
	auto_close int in = open(library, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return error_errno(err, errno, "%s", library);
	auto_close int out = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int r = out < 0 ? -errno : copy_rest(in, out);
	if (!r && fchmod(out, 0644))
		r = -errno;
	if (r)
		return error_errno(err, r, "cannot copy %s to %s", library, copy);
	server->preload = take_ptr(copy);
	return 0;
}

/* --- programs that end by themselves --- */

struct program {
	const struct server *server;
	const char *const *argv;
};

static int program_main(void *arg, struct error *err)
{
	const struct program *p = arg;
	int r = become_user(p->server);

	if (r)
		return error_errno(err, r, "cannot become user '%s'", p->server->kind->user);
	if (chdir(p->server->data_dir))
		return error_errno(err, errno, "%s", p->server->data_dir);
	return spawn_run(p->argv, NULL, err);
}

int server_run(const struct server *server, const char *const argv[], struct error *err)
{
	struct program program = {server, argv};

	return child_run(program_main, &program, NULL, err);
}

/* --- the guardian --- */

attr_noreturn static void server_main(const struct server *s, const char *const argv[])
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open(s->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	umask(077);
	int r = become_user(s);
	if (!r) {
		if (s->preload)
			setenv("LD_PRELOAD", s->preload, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user would clear it */
		execv(argv[0], (char *const *)argv);
		r = -errno;
	}
	fprintf(stderr, "%s: %s\n", argv[0], strerror(-r));
	_exit(127);
}

/* What kills the workload may kill the server first: with a mount that goes away, both lose it. */
static bool is_gone(int control)
{
	enum { GRACE_MS = 500 };
	struct pollfd fd = {control, POLLIN, 0};

	return poll(&fd, 1, GRACE_MS) > 0 && (fd.revents & POLLHUP);
}

/* Until the server has ended: pass signals on. True if whoever sends them is gone. */
static bool guard(int control, pid_t server)
{
	auto_close int ended = pidfd_open(server, 0);
	struct pollfd fds[] = {{ended, POLLIN, 0}, {control, POLLIN, 0}};
	unsigned char number;
	bool asked = false;

	for (;;) {
		if (poll(fds, fds[1].fd < 0 ? 1 : 2, -1) < 0 && errno != EINTR)
			return true;
		if (fds[0].revents)
			return fds[1].fd < 0 || (!asked && is_gone(control));
		if (fds[1].revents && read(control, &number, 1) == 1) {
			asked = true;
			kill(server, number);
		} else if (fds[1].revents) {
			kill(server, SIGKILL);
			fds[1].fd = -1;
		}
	}
}

/* What the server left behind are this process's children now. */
static void end_orphans(void)
{
	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		auto_free char *pids = read_text("/proc/thread-self/children");
		char *rest = pids;
		for (char *pid = strsep(&rest, " "); pid; pid = strsep(&rest, " "))
			if (*pid)
				kill((pid_t)strtol(pid, NULL, 10), SIGKILL);
		if (!pids || *pids)
			waitpid(-1, NULL, 0);
	}
}

attr_noreturn static void guardian_main(
	const struct server *s, const char *const argv[], int control)
{
	int status = 0;

	interrupt_release();
	setsid(); /* ^C is for the workload */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "guardian");
	(void)!unshare(CLONE_NEWIPC);
	(void)!chdir("/");
	pid_t pid = fork();
	if (!pid)
		server_main(s, argv);
	bool alone = pid < 0 || guard(control, pid);
	if (pid > 0)
		waitpid(pid, &status, 0);
	end_orphans();
	if (alone)
		remove_tree(s->run_dir);
	_exit(pid < 0 ? 127 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

int server_start(struct server *server, const char *const argv[], struct error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_errno(err, errno, "socketpair");
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		close(ends[1]);
		guardian_main(server, argv, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return error_errno(err, errno, "cannot start a process");
	}
	server->guardian = pid;
	server->control = ends[1];
	return 0;
}

/* --- while it runs --- */

/* True when the guardian has ended within that time, and so has the server. */
static bool has_ended(const struct server *s, int timeout_ms)
{
	auto_close int fd = pidfd_open(s->guardian, 0);
	struct pollfd ended = {fd, POLLIN, 0};

	return fd < 0 || poll(&ended, 1, timeout_ms) > 0;
}

int server_wait(struct server *server, int (*ready)(void *arg, struct error *err), void *arg,
	struct error *err)
{
	uint64_t end_ns = now_ns() + START_LIMIT_NS;
	const char *name = server->kind->name;
	int r;

	while (!(r = ready(arg, err))) {
		if (interrupted())
			return error_set(err, EINTR, "interrupted");
		if (has_ended(server, POLL_MS))
			r = error_set(err, EIO, "%s does not start", name);
		else if (now_ns() > end_ns)
			r = error_set(err, ETIMEDOUT, "%s does not answer", name);
		if (r)
			return server_blame(server, err);
	}
	return r < 0 ? server_blame(server, err) : 0;
}

/* The guardian's status, which is the server's. */
static int reap(struct server *s)
{
	int status = 0;

	cleanup_close(&s->control);
	s->control = -1;
	while (waitpid(s->guardian, &status, 0) < 0 && errno == EINTR)
		;
	s->guardian = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int server_stop(struct server *server, struct error *err)
{
	unsigned char number = (unsigned char)server->kind->stop_signal;
	uint64_t end_ns = now_ns() + STOP_LIMIT_MS * NSEC_PER_MSEC;
	const char *name = server->kind->name;
	int r = 0;

	if (!has_ended(server, 0) && send(server->control, &number, 1, MSG_NOSIGNAL) != 1)
		r = error_errno(err, errno, "cannot stop %s", name);
	while (!r && !has_ended(server, 10 * POLL_MS))
		if (interrupted())
			r = error_set(err, EINTR, "interrupted");
		else if (now_ns() > end_ns)
			r = error_set(err, ETIMEDOUT, "%s does not stop", name);
	int status = reap(server);
	if (!r && status > 128)
		r = error_set(err, EIO, "%s died: %s", name, strsignal(status - 128));
	else if (!r && status)
		r = error_set(err, EIO, "%s ended with status %d", name, status);
	return r ? server_blame(server, err) : 0;
}

void server_kill(struct server *server)
{
	if (server->guardian)
		reap(server);
	if (server->run_dir)
		remove_tree(server->run_dir);
	free(server->data_dir);
	free(server->run_dir);
	free(server->log);
	free(server->preload);
	*server = (struct server){.control = -1};
}

/* --- when it fails --- */

/* The last lines in one, cut to what an error can carry. Caller frees. */
static char *last_words(const char *path)
{
	enum { KEEP = 400 };
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[KEEP + 1];

	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t from = size > KEEP ? size - KEEP : 0;
	ssize_t n = fd < 0 ? 0 : pread_full(fd, text, KEEP, from);
	text[n > 0 ? n : 0] = '\0';
	char *start = from ? strchr(text, '\n') : text;
	start = start ? start : text;
	for (char *c = start; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = c[1] ? ' ' : '\0';
	return xstrdup(start + strspn(start, " "));
}

int server_blame(struct server *server, struct error *err)
{
	const char *slash = strrchr(server->run_dir, '/');
	auto_free char *kept = xasprintf(
		"%.*s/%s.log", (int)(slash - server->run_dir), server->run_dir, slash + 1);
	auto_free char *words = last_words(server->log);

	if (!err)
		return -EIO;
	if (err->code == EINTR)
		return -EINTR;
	auto_free char *what = xstrdup(err->text);
	if (rename(server->log, kept))
		return error_set(err, err->code, "%s", what);
	return error_set(err, err->code, "%s; its log %s ends: %s", what, kept, words);
}
