/* SPDX-License-Identifier: MIT */
/*
 * Names replaced by keyed hashes: the same name becomes the same hash, wherever it stands, and nobody
 * without the key can tell which name it was. Kept are
 *
 *   - what tells the class of a file (fileclass.c): suffixes such as -wal and .ibd, names that only a
 *     database gives, numbers;
 *   - the extension, if it has at most seven letters and digits;
 *   - the length from 13 characters on, rounded down to a multiple of four; shorter names become 13
 *     long, so that hashes do not collide;
 *   - the slashes of link targets, the prefix (user.) of attribute names, the length of values, access
 *     control lists and capabilities (numbers, which the kernel checks).
 *
 * One that follows from another, as bank.db-wal does from bank.db, still does. Thread names become
 * hashes. Ids of users, groups and processes, times and sizes stay as they are.
 *
 * Not thread-safe. What is returned or put into a structure is good until the next call.
 */
#ifndef ANONYMIZE_H
#define ANONYMIZE_H

#include <jansson.h>

#include "error.h"
#include "event.h"
#include "tree.h"

struct anonymizer;
struct trace_thread;

/* With a key from a file, which makes the hashes of several traces agree (NULL: one that nobody will
 * know). */
int anonymizer_new(struct anonymizer **ret, const char *key_path, struct error *err);
void anonymizer_free(struct anonymizer *a);

struct text anonymize_name(struct anonymizer *a, struct text name);
void anonymize_event(struct anonymizer *a, struct event *ev);
void anonymize_entry(struct anonymizer *a, struct tree_entry *entry);
void anonymize_thread(struct anonymizer *a, struct trace_thread *thread);

/* The description of a capture without what names something: numbers and flags stay, of strings only
 * those about the kernel and the program. The caller's. */
json_t *anonymize_meta(const json_t *meta);

#endif
