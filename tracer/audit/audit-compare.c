/* SPDX-License-Identifier: MIT */
#include "audit-compare.h"

struct sides {
	struct audit *audit;
	struct trace_reader *trace;
	struct event ev; /* the next, if `has_event` */
	bool has_event;
};

static int next_event(struct sides *s, struct error *err)
{
	int r = trace_reader_next(s->trace, &s->ev, err);

	s->has_event = r > 0;
	return r < 0 ? r : 0;
}

/* All events that ended by then. */
static int give_events(struct sides *s, uint64_t until_ns, struct error *err)
{
	int r = 0;

	while (!r && s->has_event && audit_event_end_ns(s->audit, &s->ev) <= until_ns) {
		audit_event(s->audit, &s->ev,
			s->ev.thread ? trace_reader_thread(s->trace, s->ev.thread) : NULL);
		r = next_event(s, err);
	}
	return r;
}

int audit_compare(
	struct audit *a, struct trace_reader *trace, struct audit_log *log, struct error *err)
{
	struct sides s = {.audit = a, .trace = trace};
	const struct probe_record *record;
	int r = next_event(&s, err);

	while (!r && (r = audit_log_next(log, &record, err)) > 0) {
		r = give_events(&s, record->exit_ns, err);
		if (!r)
			audit_call(a, record);
	}
	if (!r)
		r = give_events(&s, UINT64_MAX, err);
	if (!r)
		audit_finish(a);
	return r;
}
