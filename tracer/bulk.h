/* SPDX-License-Identifier: MIT */
/*
 * The stored data of a trace (DATA frames), by number. An index of frames is in memory and a few
 * frames expanded. The bytes may come from a stranger. Not thread-safe.
 */
#ifndef BULK_H
#define BULK_H

#include "error.h"
#include "format.h"

struct bulk;

struct bulk_place {
	uint64_t file, offset, number;
};

struct bulk_final {
	uint64_t file, size;
	uint8_t digest[DATA_DIGEST];
};

/* Reads all DATA frames once. *ret is NULL if the trace has none. */
int bulk_open(struct bulk **ret, const char *path, struct error *err);
/* The same of the trace that is being read; NULL too if its META says that no data were kept. */
struct trace_reader;
int bulk_of_trace(struct bulk **ret, const struct trace_reader *trace, struct error *err);
void bulk_close(struct bulk *b);

/* Up to `size` bytes of what has this number: how many, or -errno (-ENOENT: there is no such data). */
int64_t bulk_read(struct bulk *b, uint64_t number, void *data, uint64_t size);
/* What a file had at first, in order of offsets; the caller reads them one by one. */
const struct bulk_place *bulk_file(const struct bulk *b, uint64_t file, size_t *ret_count);
/* What it had in the end; NULL if that is not known. */
const struct bulk_final *bulk_final(const struct bulk *b, uint64_t file);
/* Is anything known of the end? */
bool bulk_knows_end(const struct bulk *b);

#endif
