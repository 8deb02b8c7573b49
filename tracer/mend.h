/* SPDX-License-Identifier: MIT */
/*
 * Where only some of the events of a trace are kept, those need what the others made: files, names,
 * handles, locks. Two worlds go along: the real one, of all events, and the made one, which a replay
 * of the kept events will meet. Before an event is kept, the made world gets what it lacks for it by
 * events made up for the purpose, at no cost in time.
 *
 * The made world never has names, handles or files that the real one lacks; sizes, modes, attributes
 * and locks may differ until an event asks for them.
 */
#ifndef MEND_H
#define MEND_H

#include "realm.h"

struct mend {
	const struct realm *real;
	struct realm *made;
	/* Keep a made-up event: time and thread are the callee's. It follows it in `made` itself. */
	void (*emit)(void *arg, const struct event *ev);
	void *arg;
	uint64_t made_up;      /* events emitted so far */
	uint64_t hollow_reads; /* reads of data that the made world has no data for */
};

/* Provide for an event, before either world follows it. False: it cannot be kept. */
bool mend_for(struct mend *m, const struct event *ev);

/* Does the event take something away, or move it, that the made world has? Then it must be kept. */
bool mend_must_follow(const struct mend *m, const struct event *ev);

/* A file without a name, but with handles, that begins its life in the made world under this name:
 * open its handles, then remove the name. */
void mend_nameless(struct mend *m, const struct realm_file *file, struct text name);

/* Is it such a file? One that was made without a name (O_TMPFILE) needs none. */
bool mend_needs_name(const struct realm_file *file);

/* How a file without a name is called for a moment. */
struct mend_name {
	char text[40];
};
struct text mend_name(struct mend_name *room, const struct realm_file *file);

#endif
