/* SPDX-License-Identifier: MIT */
/* Where the time of captured threads went, from their calls and waits: stat --gaps. */
#ifndef GAPS_H
#define GAPS_H

#include <jansson.h>

#include "error.h"
#include "reader.h"

struct gaps;

/* Read both; -ENODATA if the trace has no waits, because no probe ran. */
int gaps_read(struct gaps **ret, const char *path, struct error *err);
/* Of the trace: what is missing in it is missing in the sums. */
const struct trace_health *gaps_health(const struct gaps *g);
void gaps_free(struct gaps *g);

void gaps_print(const struct gaps *g);
json_t *gaps_json(const struct gaps *g);

#endif
