/* SPDX-License-Identifier: MIT */
/*
 * What written data looked like, without keeping it.
 *
 * A content class says how a file system that compresses would see the data. CONTENT_WORDS + k
 * means: of each 64-byte line about k 8-byte words are unpredictable (k = 1 compresses about 7:1,
 * k = 8 not at all). The replay writes data of the same class.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include "base.h"

enum content {
	CONTENT_UNKNOWN = 0,
	CONTENT_ZERO = 1,     /* every byte is 0 */
	CONTENT_REPEATED = 2, /* one 8-byte word again and again */
	CONTENT_WORDS = 2,    /* + k, k = 1..8 */
	CONTENT_RANDOM = 10,
	CONTENT_LIMIT = 11,
};

/* Samples large data: some 100 ns whatever the size, unless it is all the same. */
enum content content_classify(const void *data, size_t size);
/* 64-bit hash of all of it (XXH3). */
uint64_t content_hash(const void *data, size_t size);
/* Both, for less: the class, and a number that finds blocks written twice. */
uint64_t content_look(const void *data, size_t size, enum content *ret);
/* "zero", "repeated", "1/8 random" ... "random". */
const char *content_name(enum content content);
/* Fill a buffer with data of a class, repeatable by seed. Not for hot paths. */
void content_fill(enum content content, uint64_t seed, void *data, size_t size);

#endif
