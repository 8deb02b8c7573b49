/* SPDX-License-Identifier: MIT */
/* The names of files as a trace goes by: id -> (directory, name) -> path and file class. */
#ifndef PATHS_H
#define PATHS_H

#include "event.h"
#include "fileclass.h"
#include "tree.h"

struct paths;

struct paths *paths_new(void);
void paths_free(struct paths *p);

void paths_tree(struct paths *p, const struct tree_entry *entry);
/* Follow what a successful event does to names. Call after the event has been shown or compiled. */
void paths_event(struct paths *p, const struct event *ev);

/* "dir/name" below the root, "." for the root, "#17" for a file whose name is not known; a file
 * that was unlinked keeps its last name. Valid until the next call with the same p. */
const char *paths_of(struct paths *p, uint64_t file);

/* By the file's last known name and type. */
enum file_class paths_class(const struct paths *p, uint64_t file);

#endif
