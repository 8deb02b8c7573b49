/* SPDX-License-Identifier: MIT */
#include "consistency.h"

#include "content.h"
#include "map.h"
#include "vec.h"

/* Closed handles that are remembered, to tell "closed" from "never open". */
#define CLOSED_MAX 4096

struct open_handle {
	uint64_t id, file;
	bool closed;
	uint64_t closed_ns;
};

struct consistency {
	uint64_t last_end_ns;
	uint64_t newest_file; /* ids are given in order of appearance */
	struct map handles;   /* id -> place in `open` */
	VEC(struct open_handle) open;
	VEC(size_t) unused; /* places in `open` */
	uint64_t closed[CLOSED_MAX];
	uint64_t closed_count;
	uint64_t counts[CONTRADICTION_COUNT];
	struct event first[CONTRADICTION_COUNT];
};

static const char *const names[CONTRADICTION_COUNT] = {
	[WRONG_ORDER] = "events that are not in the order of their ends",
	[WRONG_ID] = "events on files that nothing made known",
	[WRONG_PARENT] = "entries of the starting state before their directory",
	[HANDLE_NEVER_OPEN] = "uses of handles that were never opened",
	[HANDLE_OPEN_TWICE] = "handles opened twice",
	[HANDLE_AFTER_END] = "uses of handles after their last close",
	[HANDLE_OTHER_FILE] = "uses of handles with a file that is not theirs",
	[WRONG_CONTENT] = "content classes that do not exist",
	[TOO_MUCH_DONE] = "transfers of more than was asked for",
};

struct consistency *consistency_new(void)
{
	struct consistency *c = ALLOC(struct consistency);

	c->newest_file = TREE_ROOT;
	return c;
}

void consistency_free(struct consistency *c)
{
	if (!c)
		return;
	map_free(&c->handles);
	vec_free(&c->open);
	vec_free(&c->unused);
	free(c);
}

/* Without its strings, which do not live as long. */
static void report(struct consistency *c, enum contradiction what, const struct event *ev)
{
	if (c->counts[what]++)
		return;
	c->first[what] = *ev;
	c->first[what].name = c->first[what].name2 = c->first[what].value = (struct text){0};
}

void consistency_tree(struct consistency *c, const struct tree_entry *e)
{
	const struct event where = {.file = e->id, .dir = e->parent};

	if (e->id != TREE_ROOT && (!e->parent || e->parent > c->newest_file))
		report(c, WRONG_PARENT, &where);
	c->newest_file = max_u64(c->newest_file, e->id);
}

static struct open_handle *handle_of(const struct consistency *c, uint64_t id)
{
	const uint64_t *at = map_get(&c->handles, id, 0);

	return at ? &c->open.at[*at] : NULL;
}

static void handle_make(struct consistency *c, uint64_t id, const struct event *ev)
{
	struct open_handle h = {.id = id, .file = ev->file};
	size_t at = c->open.count;

	if (handle_of(c, id)) {
		report(c, HANDLE_OPEN_TWICE, ev);
		return;
	}
	if (c->unused.count) {
		at = c->unused.at[--c->unused.count];
		c->open.at[at] = h;
	} else {
		vec_push(&c->open, h);
	}
	map_put(&c->handles, id, 0, at);
}

static void handle_use(struct consistency *c, uint64_t id, uint64_t file, const struct event *ev)
{
	const struct open_handle *h = handle_of(c, id);

	if (!h)
		report(c, HANDLE_NEVER_OPEN, ev);
	else if (h->closed && ev->start_ns > h->closed_ns)
		report(c, HANDLE_AFTER_END, ev);
	else if (h->file != file)
		report(c, HANDLE_OTHER_FILE, ev);
}

/* Kept for a while: calls that overlap the close may end after it. */
static void handle_end(struct consistency *c, uint64_t id, const struct event *ev)
{
	struct open_handle *h = handle_of(c, id);

	handle_use(c, id, ev->file, ev);
	if (!h || h->closed)
		return;
	h->closed = true;
	h->closed_ns = event_end_ns(ev);
	uint64_t *slot = &c->closed[c->closed_count++ % CLOSED_MAX];
	const uint64_t *old = *slot ? map_get(&c->handles, *slot, 0) : NULL;
	if (old) {
		vec_push(&c->unused, *old);
		map_del(&c->handles, *slot, 0);
	}
	*slot = id;
}

static void check_handle(struct consistency *c, const struct op_arg *arg, const struct event *ev)
{
	uint64_t id = *event_number(ev, arg);
	uint64_t file = arg->at == offsetof(struct event, handle2) ? ev->file2 : ev->file;

	if (!id)
		return;
	if (arg->effect == EFFECT_USE || ev->result < 0)
		handle_use(c, id, file, ev);
	else if (arg->effect == EFFECT_MAKE)
		handle_make(c, id, ev);
	else if (arg->effect == EFFECT_END)
		handle_end(c, id, ev);
}

/* A name that is looked up makes a file known just as one that is made. */
static void check_file(struct consistency *c, const struct op_arg *arg, const struct event *ev)
{
	uint64_t id = *event_number(ev, arg);

	if (arg->effect == EFFECT_MAKE || ev->op == OP_lookup)
		c->newest_file = max_u64(c->newest_file, ev->file);
	else if (id > c->newest_file)
		report(c, WRONG_ID, ev);
}

void consistency_event(struct consistency *c, const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];

	if (event_end_ns(ev) < c->last_end_ns)
		report(c, WRONG_ORDER, ev);
	c->last_end_ns = max_u64(c->last_end_ns, event_end_ns(ev));
	if (ev->content >= CONTENT_LIMIT)
		report(c, WRONG_CONTENT, ev);
	if ((ev->op == OP_read || ev->op == OP_write) && ev->result > 0 &&
		(uint64_t)ev->result > ev->size)
		report(c, TOO_MUCH_DONE, ev);
	for (unsigned i = 0; i < op->arg_count; i++) {
		if (op->args[i].kind == KIND_FILE)
			check_file(c, &op->args[i], ev);
		else if (op->args[i].kind == KIND_HANDLE)
			check_handle(c, &op->args[i], ev);
	}
}

uint64_t consistency_count(const struct consistency *c, enum contradiction what)
{
	return c->counts[what];
}

const struct event *consistency_first(const struct consistency *c, enum contradiction what)
{
	return c->counts[what] ? &c->first[what] : NULL;
}

const char *contradiction_name(enum contradiction what)
{
	return (unsigned)what < CONTRADICTION_COUNT ? names[what] : "?";
}
