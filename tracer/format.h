/* SPDX-License-Identifier: MIT */
/*
 * The layout of a trace file in constants; docs/format.md is the description in words.
 *
 *   magic, version                              16 bytes
 *   META OPS TREE* { THREADS | EVENTS }* INDEX END   frames
 *
 * Every frame is a header of 16 bytes and `stored` bytes of payload. All integers are
 * little-endian. Numbers below are on disk: append only.
 */
#ifndef FORMAT_H
#define FORMAT_H

#include "bytes.h"

#define FORMAT_MAGIC      "FSREEL\r\n"
#define FORMAT_MAGIC_SIZE 8
#define FORMAT_MAJOR      1 /* another number: readers refuse */
#define FORMAT_MINOR      1 /* higher: there may be frames or columns to skip */

#define FILE_HEADER_SIZE  16
#define FRAME_HEADER_SIZE 16
/* Nothing that a frame expands to is larger; so a reader's memory is bounded. */
#define FRAME_MAX (16u << 20)

enum frame_type {
	FRAME_META = 1,
	FRAME_OPS = 2,
	FRAME_TREE = 3,
	FRAME_THREADS = 4,
	FRAME_EVENTS = 5,
	FRAME_INDEX = 6,
	FRAME_END = 7,
	FRAME_EDGES = 8, /* since minor version 1 */
	FRAME_DATA = 9,  /* skippable */
};

enum frame_flags {
	FRAME_ZSTD = 1, /* the payload is one zstd frame that expands to `raw` bytes */
	/* A reader that does not know this type may pass over it. */
	FRAME_SKIPPABLE = 2,
};

struct frame_header {
	uint8_t type, flags;
	uint32_t raw, stored;
	uint32_t crc; /* CRC-32C of the first 12 bytes of the header and the stored payload */
};

/* END: events, lost, threads, elapsed ns, where INDEX is (0 = none), bytes of the whole file. */
#define END_SIZE (6 * 8)

/* First byte of a DATA frame. */
enum data_kind {
	DATA_PIECES = 0, /* bytes, by number */
	DATA_FILES = 1,  /* which of them files had when the capture began */
	DATA_FINAL = 2,  /* digests of what files had in the end */
};
#define DATA_COUNT_MAX 65536      /* entries of one DATA frame */
#define DATA_PIECE_MAX (1u << 20) /* bytes of one entry */
#define DATA_DIGEST    16         /* XXH3-128 in canonical (big-endian) form */

#define BLOCK_EVENTS  8192        /* at most, in one EVENTS frame */
#define BLOCK_AGE_NS  1000000000  /* an event waits no longer than this for its block */
#define BLOCK_STRINGS (1u << 20)  /* a block with so many bytes of strings is closed */
#define TEXT_MAX      65536       /* one string; the largest extended attribute */
#define THREADS_MAX   (1u << 20)  /* declared in one trace */
#define INDEX_MAX     65536       /* entries; a longer trace indexes every 2nd, 4th ... block */
#define OPS_MAX       128         /* numbers of operations are below this */
#define EDGES_FRAME   (64u << 10) /* bytes of waits that make a frame */
#define ROW_ARGS      16          /* arguments of one operation */
#define NAME_MAX_SIZE 31          /* names of operations and slots */

static inline void frame_header_put(uint8_t out[FRAME_HEADER_SIZE], const struct frame_header *h)
{
	uint32_t words[4] = {
		(uint32_t)h->type | (uint32_t)h->flags << 8, h->raw, h->stored, h->crc};

	for (int i = 0; i < FRAME_HEADER_SIZE; i++)
		out[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

#endif
