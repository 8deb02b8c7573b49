/* SPDX-License-Identifier: MIT */
#include "trace-health.h"

#include <inttypes.h>

#include "units.h"

static void say(FILE *out, const char *before, uint64_t events, const char *after)
{
	struct unit_text text;

	if (out)
		fprintf(out, "%s%s%s\n", before, format_things(events, "event", &text), after);
}

unsigned health_print(const struct trace_health *h, FILE *out)
{
	unsigned count = 0;

	if (h->torn) {
		if (out)
			fprintf(out,
				"torn: whole up to byte %" PRIu64 ", what follows is cut off\n",
				h->torn_at);
		count++;
	} else if (!h->complete) {
		say(out, "unfinished: no valid end after ", h->events,
			"; the capture was killed, or is still running");
		count++;
	}
	if (h->lost) {
		say(out, "lost: ", h->lost, " could not be recorded");
		count++;
	}
	if (h->unknown) {
		say(out, "unknown: ", h->unknown, " of operations that this fsreel lacks");
		count++;
	}
	return count;
}
