/* SPDX-License-Identifier: MIT */
/*
 * The data of writes on its way into a trace (capture --content=full): numbered, packed into DATA
 * frames, and not stored again if it equals something that was stored lately. A hash finds the equal,
 * the bytes decide.
 *
 * Thread-safe. Who puts data waits while a frame is packed and written, so memory is bounded: one
 * frame, and the window of what can still be compared.
 */
#ifndef STASH_H
#define STASH_H

#include "bytes.h"

struct stash;

/* Writes the payload of a DATA frame; 0 or -errno. */
typedef int stash_write(void *arg, const struct bytes *payload);

struct stash *stash_new(stash_write *write, void *arg);
void stash_free(struct stash *s);

/* The number of this data, at most DATA_PIECE_MAX bytes; 0 if it could not be stored. `hash` is any
 * number that is the same for the same data. */
uint64_t stash_put(struct stash *s, const void *data, size_t size, uint64_t hash);
/* The number of both, one after the other; 0 if one of them is 0. */
uint64_t stash_join(struct stash *s, uint64_t first, uint64_t second);
/* `number` is what a file has at `offset` when the capture begins. */
void stash_file(struct stash *s, uint64_t file, uint64_t offset, uint64_t number);
/* What a file had in the end, as DATA_DIGEST bytes. */
void stash_final(struct stash *s, uint64_t file, uint64_t size, const uint8_t *digest);
/* Write what was put so far; 0 or the first -errno of any frame. */
int stash_flush(struct stash *s);

#endif
