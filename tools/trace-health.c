/* SPDX-License-Identifier: MIT */
#include "trace-health.h"

#include <inttypes.h>

static void say(FILE *out, const char *before, uint64_t number, const char *after)
{
	if (out)
		fprintf(out, "%s%" PRIu64 "%s\n", before, number, after);
}

unsigned health_print(const struct trace_health *h, FILE *out)
{
	unsigned count = 0;

	if (h->torn) {
		say(out, "torn: whole up to byte ", h->torn_at, ", what follows is cut off");
		count++;
	} else if (!h->complete) {
		say(out, "unfinished: no valid end after ", h->events,
			" events; the capture was killed, or is still running");
		count++;
	}
	if (h->lost) {
		say(out, "lost: ", h->lost, " events could not be recorded");
		count++;
	}
	if (h->unknown) {
		say(out, "unknown: ", h->unknown, " events of operations that this fsreel lacks");
		count++;
	}
	return count;
}
