/* SPDX-License-Identifier: MIT */
#include "audit-judge.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <xxhash.h>

#include "probe.h"

#define E(op)        (UINT64_C(1) << OP_##op)
#define UNKNOWN      UINT64_MAX
#define MAX_TRANSFER UINT64_C(0x7ffff000) /* the kernel does no more in one call */
#define RESTART_LOW  (-516) /* ERESTART_RESTARTBLOCK ... ERESTARTSYS: the call is made again */
#define RESTART_HIGH (-512)

/* --- what the call asked for --- */

static uint64_t call_size(const struct audit_window *w)
{
	int at = w->rule->size;

	if (at == AUDIT_VEC)
		return w->r->flags & PROBE_EXTRA_CUT ? UNKNOWN : min_u64(w->r->bytes, MAX_TRANSFER);
	return at < 0 ? UNKNOWN : min_u64(w->r->args[at], MAX_TRANSFER);
}

/* Only the trace knows where it went. */
static bool appends(const struct probe_record *r)
{
	bool takes_flags = r->kind != PROBE_CALL || r->nr == SYS_pwritev2;

	return (r->file[0].flags & O_APPEND) || (takes_flags && (r->args[5] & RWF_APPEND));
}

static uint64_t request_offset(const struct audit_rule *rule, const struct probe_record *r)
{
	int at = rule->offset;

	if (appends(r))
		return UNKNOWN;
	if (at >= 0 && r->args[at] != UNKNOWN)
		return r->args[at];
	/* Position -1 is the descriptor's; other threads may move that meanwhile, so of requests it is
	 * not known. */
	return at == AUDIT_NO || rule->kind == AUDIT_ASYNC ? UNKNOWN : r->file[0].pos;
}

uint64_t audit_name(const char *name, size_t size)
{
	return size ? XXH3_64bits(name, size) : 0;
}

/* Of the last component; 0 = not known: a step, or the path was cut. */
static uint64_t path_name(const struct probe_record *r, unsigned n)
{
	const char *path = probe_path(r, n);
	size_t size = r->path_size[n];

	if (r->flags & PROBE_PATH_CUT)
		return 0;
	while (size && path[size - 1] == '/')
		size--;
	size_t start = size;
	while (start && path[start - 1] != '/')
		start--;
	path += start;
	size -= start;
	if ((size == 1 && *path == '.') || (size == 2 && !memcmp(path, "..", 2)))
		return 0;
	return audit_name(path, size);
}

static bool requests_known(const struct audit_window *w)
{
	return w->r->requests;
}

static uint32_t requests(const struct audit_window *w)
{
	return w->r->requests - 1;
}

static bool is_restarted(const struct probe_record *r)
{
	return r->result >= RESTART_LOW && r->result <= RESTART_HIGH;
}

/* --- what the trace has --- */

static bool is_own(const struct audit_window *w, const struct audit_seen *e)
{
	return !e->derived && !e->used && audit_has(w->rule->events, e->op);
}

static size_t own_count(const struct audit_window *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->count; i++)
		n += is_own(w, &w->events[i]);
	return n;
}

static void use_own(struct audit_window *w)
{
	for (size_t i = 0; i < w->count; i++)
		w->events[i].used |= is_own(w, &w->events[i]);
}

static bool any_joined(const struct audit_window *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->events[i].joined)
			return true;
	return false;
}

/* Every request is in the trace, as an event or as a piece of one. */
static bool all_there(const struct audit_window *w)
{
	return !requests_known(w) || w->count >= requests(w) || any_joined(w);
}

/* Events that are no request of this call, or the same request twice. */
static bool too_many(const struct audit_window *w)
{
	/* Locks that a close drops are events, but not requests of their own. */
	uint64_t set = w->rule->events | (w->rule->on_the_way & ~(E(setlk) | E(flock)));
	size_t n = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct audit_seen *e = &w->events[i];
		/* Pages that were asked for ahead come when they come. */
		bool page = e->derived && (e->op == OP_read || e->op == OP_write);
		n += audit_has(set, e->op) && !page;
	}
	return requests_known(w) && n > requests(w) && !any_joined(w);
}

/* Errors that only a file system can have found, when nothing else tells. */
static bool needs_file_system(int64_t result)
{
	switch (-result) {
	case ENOENT:
	case EIO:
	case ENOSPC:
	case EDQUOT:
	case ENOTEMPTY:
	case ENODATA:
		return true;
	}
	return false;
}

/* A lookup that failed as the call did: where the call ended. */
static bool ended_in_lookup(struct audit_window *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct audit_seen *e = &w->events[i];
		if (e->op == OP_lookup && e->result < 0 && e->result == w->r->result) {
			e->used = true;
			return true;
		}
	}
	return false;
}

/* A lookup ended another way than the call, although it was the call's end. */
static bool failed_otherwise(const struct audit_window *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->events[i].op == OP_lookup && w->events[i].result < 0 &&
			!w->events[i].derived)
			return true;
	return false;
}

/* No event is the call itself. */
static enum audit_verdict without(struct audit_window *w, enum audit_verdict if_good)
{
	if (!all_there(w))
		return AUDIT_MISSING;
	if (w->r->result < 0 && ended_in_lookup(w))
		return too_many(w) ? AUDIT_DIFFERENT : AUDIT_TRACED;
	if (w->r->result < 0 && failed_otherwise(w))
		return AUDIT_DIFFERENT;
	if (w->r->result < 0)
		return requests_known(w) || is_restarted(w->r) || !needs_file_system(w->r->result)
		               ? AUDIT_REFUSED
		               : AUDIT_MISSING;
	return if_good;
}

static enum audit_verdict with(const struct audit_window *w, enum audit_verdict verdict)
{
	return !all_there(w) ? AUDIT_MISSING : too_many(w) ? AUDIT_DIFFERENT : verdict;
}

/* --- data --- */

static bool same_or_unknown(uint64_t call, uint64_t event)
{
	return call == UNKNOWN || call == event;
}

/* Not all requests on a descriptor say which. */
static bool same_handle(uint64_t call, const struct audit_seen *e)
{
	return !call || !e->handle || call == e->handle;
}

static bool is_whole(const struct audit_window *w, const struct audit_seen *e, uint64_t offset)
{
	uint64_t size = call_size(w);
	/* A limit of the process or of the file system may cut a write short before it is sent. */
	bool shortened = w->r->result == e->result && e->result == (int64_t)e->size;

	return e->result == w->r->result && same_or_unknown(offset, e->offset) &&
	       same_handle(w->handle, e) && (same_or_unknown(size, e->size) || shortened);
}

static struct audit_seen *find_whole(struct audit_window *w)
{
	uint64_t offset = request_offset(w->rule, w->r);

	for (size_t i = 0; i < w->count; i++)
		if (is_own(w, &w->events[i]) && is_whole(w, &w->events[i], offset))
			return &w->events[i];
	return NULL;
}

/* Do the events follow each other in one handle, and give together what the call returned? */
static bool are_pieces(const struct audit_window *w)
{
	uint64_t offset = request_offset(w->rule, w->r);
	int64_t sum = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct audit_seen *e = &w->events[i];
		if (!is_own(w, e))
			continue;
		if (!same_or_unknown(offset, e->offset) || !same_handle(w->handle, e))
			return false;
		int64_t moved = e->result > 0 ? e->result : 0;
		offset = e->offset + (uint64_t)moved;
		sum += moved;
	}
	return sum == w->r->result;
}

static enum audit_verdict judge_data(struct audit_window *w)
{
	struct audit_seen *e = find_whole(w);

	if (e) {
		e->used = true;
		return e->joined ? AUDIT_MERGED : with(w, AUDIT_TRACED);
	}
	if (!own_count(w))
		return without(w, call_size(w) == 0 || w->r->result == 0 ? AUDIT_NOTHING
				  : requests_known(w) && audit_has(w->rule->events, OP_read)
					  ? AUDIT_CACHED
					  : AUDIT_MISSING);
	if (!are_pieces(w))
		return AUDIT_DIFFERENT;
	use_own(w);
	return with(w, AUDIT_PIECES);
}

/* Into or out of a pipe or another file: what was moved is no more than what was read or written. */
static enum audit_verdict judge_move(struct audit_window *w)
{
	size_t n = own_count(w);

	if (!n)
		return without(w, requests_known(w) ? AUDIT_CACHED : AUDIT_NOTHING);
	use_own(w);
	return n > 1 ? AUDIT_PIECES : AUDIT_TRACED;
}

bool audit_is_meanwhile(uint64_t ops, const struct probe_record *r, const struct audit_seen *e)
{
	if (!audit_has(ops, e->op) || e->start_ns < r->enter_ns)
		return false;
	/* libaio's requests are sent by the caller and end any time later. */
	if (r->kind == PROBE_AIO)
		return e->tid == r->tid;
	return (!e->tgid || e->tgid == r->tgid) && e->end_ns <= r->exit_ns;
}

bool audit_is_request(const struct audit_rule *rule, const struct probe_record *r, uint64_t handle,
	const struct audit_seen *e)
{
	uint64_t size = rule->size < 0 ? UNKNOWN : r->args[rule->size];

	if (!audit_is_meanwhile(rule->events, r, e) || !same_handle(handle, e) ||
		!same_or_unknown(request_offset(rule, r), e->offset))
		return false;
	/* Of libaio's requests the result is not known. */
	return (r->kind != PROBE_URING || r->result == e->result) && same_or_unknown(size, e->size);
}

bool audit_is_piece(const struct audit_rule *rule, const struct probe_record *r, uint64_t handle,
	uint64_t done, const struct audit_seen *e)
{
	uint64_t offset = request_offset(rule, r);

	return audit_is_meanwhile(rule->events, r, e) && same_handle(handle, e) && e->result > 0 &&
	       offset != UNKNOWN && e->offset == offset + done;
}

uint64_t audit_request_bytes(const struct audit_rule *rule, const struct probe_record *r)
{
	if (r->kind == PROBE_URING)
		return r->result > 0 ? (uint64_t)r->result : 0;
	return rule->size < 0 ? 0 : r->args[rule->size];
}

/* --- the others --- */

/* The call's own event, which must have its result. */
static enum audit_verdict judge_exact(struct audit_window *w, enum audit_verdict if_none)
{
	bool any = false;

	for (size_t i = 0; i < w->count; i++) {
		struct audit_seen *e = &w->events[i];
		if (!is_own(w, e))
			continue;
		any = true;
		if (e->result != w->r->result || !same_handle(w->handle, e))
			continue;
		e->used = true;
		return with(w, AUDIT_TRACED);
	}
	return any ? AUDIT_DIFFERENT : without(w, if_none);
}

static bool has_names(const struct audit_seen *e, const struct probe_record *r)
{
	uint64_t first = path_name(r, 0), second = path_name(r, 1);

	if (!first || !e->name || (r->path_size[1] && !second))
		return true;
	if (e->op == OP_rename)
		return e->name == first && e->name2 == second;
	return e->name == first || e->name == second;
}

static enum audit_verdict judge_change(struct audit_window *w)
{
	enum audit_verdict verdict =
		judge_exact(w, requests_known(w) ? AUDIT_NOTHING : AUDIT_MISSING);

	for (size_t i = 0; i < w->count && verdict == AUDIT_TRACED; i++)
		if (w->events[i].used && w->events[i].op != OP_lookup && w->rule->on_the_way &&
			!has_names(&w->events[i], w->r))
			return AUDIT_DIFFERENT;
	return verdict;
}

static enum audit_verdict judge_sync(struct audit_window *w)
{
	return judge_exact(w, AUDIT_MISSING);
}

static bool all_failed(const struct audit_window *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (is_own(w, &w->events[i]) && w->events[i].result >= 0)
			return false;
	return true;
}

static enum audit_verdict judge_ask(struct audit_window *w)
{
	if (!own_count(w))
		return without(w, AUDIT_CACHED);
	/* The kernel may find an error in a good answer, but it does not make one up. */
	bool agrees = w->r->result < 0 || !all_failed(w);
	use_own(w);
	return agrees ? with(w, AUDIT_TRACED) : AUDIT_DIFFERENT;
}

static bool is_fuse_file(const struct probe_file *f)
{
	bool has_data = S_ISREG(f->mode) || S_ISDIR(f->mode);

	return has_data && !(f->flags & O_PATH);
}

/* The result is a descriptor; the event's is 0. */
static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static enum audit_verdict judge_open(struct audit_window *w)
{
	size_t made = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct audit_seen *e = &w->events[i];
		if (!is_own(w, e) || e->result != min_i64(w->r->result, 0))
			continue;
		made += e->result >= 0;
		e->used = true;
	}
	if (made > 1)
		return AUDIT_DIFFERENT;
	if (made)
		return with(w, AUDIT_TRACED);
	if (w->r->result >= 0)
		return is_fuse_file(&w->r->file[1]) ? AUDIT_MISSING : without(w, AUDIT_CACHED);
	for (size_t i = 0; i < w->count; i++)
		if (w->events[i].used && w->events[i].result == w->r->result)
			return with(w, AUDIT_TRACED);
	return without(w, AUDIT_MISSING);
}

static enum audit_verdict judge_close(struct audit_window *w)
{
	if (own_count(w))
		return judge_exact(w, AUDIT_MISSING);
	return S_ISREG(w->r->file[0].mode) && is_fuse_file(&w->r->file[0])
	               ? AUDIT_MISSING
	               : without(w, AUDIT_UNFLUSHED);
}

static bool is_about_locks(uint64_t command)
{
	return (command >= F_GETLK && command <= F_SETLKW) ||
	       (command >= F_OFD_GETLK && command <= F_OFD_SETLKW);
}

enum audit_verdict audit_judge(struct audit_window *w)
{
	switch (w->rule->kind) {
	case AUDIT_DATA:
		return judge_data(w);
	case AUDIT_MOVE:
		return judge_move(w);
	case AUDIT_SYNC:
		return judge_sync(w);
	case AUDIT_OPEN:
		return judge_open(w);
	case AUDIT_CLOSE:
		return judge_close(w);
	case AUDIT_CHANGE:
		return judge_change(w);
	case AUDIT_FCNTL:
		return is_about_locks(w->r->args[1]) ? judge_change(w) : AUDIT_UNSEEN;
	case AUDIT_ASK:
		return judge_ask(w);
	case AUDIT_SUBMIT:
	case AUDIT_HIDDEN:
	case AUDIT_ASYNC:
	case AUDIT_NAMED:
		break;
	}
	return AUDIT_UNSEEN;
}
