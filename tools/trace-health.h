/* SPDX-License-Identifier: MIT */
/* What there is to say against a trace, in the words that all commands use. */
#ifndef TRACE_HEALTH_H
#define TRACE_HEALTH_H

#include <stdio.h>

#include "reader.h"

/* One line per complaint; returns how many. `out` may be NULL: only count. */
unsigned health_print(const struct trace_health *h, FILE *out);

#endif
