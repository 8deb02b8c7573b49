/* SPDX-License-Identifier: MIT */
/* Events and entries of the starting state as lines of text and as JSON. */
#ifndef PRINT_H
#define PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "event.h"
#include "paths.h"
#include "tree.h"
#include "writer.h" /* struct trace_thread */

/*
 * "    0.012345678 sqlite3/4711 write(x.db-wal, h7, offset=32, size=24, ...) = 24 <0.000012345>":
 * start in seconds, thread, operation, arguments, result, duration. Call before paths_event().
 */
void print_event(
	FILE *out, const struct event *ev, struct paths *paths, const struct trace_thread *thread);
json_t *event_json(const struct event *ev, struct paths *paths, const struct trace_thread *thread);

/* "drwxr-xr-x 0:0 4096 path -> target", with holes and attributes. Call after paths_tree(). */
void print_tree_entry(FILE *out, const struct tree_entry *e, struct paths *paths);
json_t *tree_entry_json(const struct tree_entry *e, struct paths *paths);

/* Bytes that are not printable ASCII, quotes and backslashes come out as C escapes. */
void print_escaped(FILE *out, const char *data, size_t size);

#endif
