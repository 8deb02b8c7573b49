/* SPDX-License-Identifier: MIT */
/*
 * Does a trace make sense? Its bytes may be in order while its events contradict each other; a
 * replay of such a trace could not be trusted.
 */
#ifndef CONSISTENCY_H
#define CONSISTENCY_H

#include "event.h"
#include "tree.h"

enum contradiction {
	WRONG_ORDER,       /* an event ended before the one in front of it */
	WRONG_ID,          /* a file that neither the starting state nor an event made known */
	WRONG_PARENT,      /* an entry of the starting state comes before its directory */
	HANDLE_NEVER_OPEN, /* a handle is used that no event opened */
	HANDLE_OPEN_TWICE, /* a handle is opened that was open or had been */
	HANDLE_AFTER_END,  /* a call began on a handle after its last close had ended */
	HANDLE_OTHER_FILE, /* a handle is used with another file than it was opened with */
	WRONG_CONTENT,     /* a content class that does not exist */
	TOO_MUCH_DONE,     /* more was read or written than asked for */
	CONTRADICTION_COUNT,
};

struct consistency;

struct consistency *consistency_new(void);
void consistency_free(struct consistency *c);

void consistency_tree(struct consistency *c, const struct tree_entry *entry);
/* In the order of the trace. */
void consistency_event(struct consistency *c, const struct event *ev);

/* How often, and the first case; NULL if there is none. */
uint64_t consistency_count(const struct consistency *c, enum contradiction what);
const struct event *consistency_first(const struct consistency *c, enum contradiction what);
/* "events out of order", ... */
const char *contradiction_name(enum contradiction what);

#endif
