/* SPDX-License-Identifier: MIT */
/* One row per event (RFC 4180), one column for each argument that any operation has. */
#include <errno.h>
#include <fcntl.h>

#include "cleanup.h"
#include "content.h"
#include "escape.h"
#include "export.h"
#include "fields.h"
#include "sink.h"
#include "vec.h"

struct csv {
	int fd;
	struct sink *sink;
	const struct fields *fields;
};

static void put_header(struct csv *c)
{
	struct sink *s = c->sink;

	sink_lit(s, "start_ns,took_ns,cpu_ns,tid,pid,comm,operation,class,result,error,derived");
	for (size_t i = 0; i < c->fields->count; i++) {
		const struct op_arg *field = &c->fields->at[i];
		sink_char(s, ',');
		sink_text(s, field->slot);
		if (field->kind != KIND_FILE)
			continue;
		sink_char(s, ',');
		sink_text(s, field->slot);
		sink_lit(s, "_path");
	}
	sink_lit(s, "\r\n");
}

static int csv_begin(struct export *x, struct error *err)
{
	struct csv *c = ALLOC(struct csv);

	x->own = c;
	c->fields = fields_all();
	c->fd = x->out ? open(x->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
	               : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (c->fd < 0)
		return error_errno(err, errno, "cannot write %s", x->out ? x->out : "to stdout");
	c->sink = sink_new(c->fd);
	put_header(c);
	return 0;
}

static void put_error(struct sink *s, int64_t result)
{
	const char *name = result < 0 && result > -4096 ? strerrorname_np((int)-result) : NULL;

	if (name)
		sink_text(s, name);
}

static void put_path(struct export *x, struct sink *s, uint64_t file)
{
	if (!file)
		return;
	const char *path = paths_of(x->paths, file);
	escape_csv(s, (struct text){path, strlen(path)});
}

static void put_field(struct export *x, const struct op_arg *arg, const struct event *ev)
{
	struct csv *c = x->own;
	struct sink *s = c->sink;

	if (arg_is_text(arg)) {
		escape_csv(s, *event_text(ev, arg));
		return;
	}
	uint64_t v = *event_number(ev, arg);
	if (arg->kind == KIND_CONTENT)
		sink_text(s, content_name((enum content)min_u64(v, CONTENT_LIMIT)));
	else
		sink_u64(s, v);
	if (arg->kind != KIND_FILE)
		return;
	sink_char(s, ',');
	put_path(x, s, v);
}

static void put_fields(struct export *x, const struct event *ev)
{
	struct csv *c = x->own;
	const uint8_t *args = c->fields->arg[ev->op];

	for (size_t i = 0; i < c->fields->count; i++) {
		sink_char(c->sink, ',');
		if (args[i] != FIELD_NONE)
			put_field(x, &op_descs[ev->op].args[args[i]], ev);
		else if (c->fields->at[i].kind == KIND_FILE)
			sink_char(c->sink, ',');
	}
}

static int csv_event(struct export *x, const struct event *ev, struct error *err)
{
	const struct trace_thread *t = trace_reader_thread(x->trace, ev->thread);
	struct csv *c = x->own;
	struct sink *s = c->sink;

	sink_u64(s, ev->start_ns);
	sink_char(s, ',');
	sink_u64(s, ev->took_ns);
	sink_char(s, ',');
	sink_u64(s, ev->cpu_ns);
	sink_char(s, ',');
	sink_u64(s, t->tid);
	sink_char(s, ',');
	sink_u64(s, t->tgid);
	sink_char(s, ',');
	escape_csv(s, (struct text){t->comm, strnlen(t->comm, sizeof(t->comm))});
	sink_char(s, ',');
	sink_text(s, op_name(ev->op));
	sink_char(s, ',');
	sink_text(s, op_class_name(op_descs[ev->op].class));
	sink_char(s, ',');
	sink_i64(s, ev->result);
	sink_char(s, ',');
	put_error(s, ev->result);
	sink_char(s, ',');
	sink_char(s, ev->event_flags & EVENT_DERIVED ? '1' : '0');
	put_fields(x, ev);
	sink_lit(s, "\r\n");
	return s->failed ? error_errno(err, s->failed, "cannot write the table") : 0;
}

static int csv_end(struct export *x, struct error *err)
{
	struct csv *c = x->own;
	int r = sink_flush(c->sink);

	return r < 0 ? error_errno(err, r, "cannot write the table") : 0;
}

static void csv_free(struct export *x)
{
	struct csv *c = x->own;

	if (!c)
		return;
	sink_free(c->sink);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

const struct exporter export_csv = {
	.name = "csv",
	.summary = "one row per event with a column for each argument (RFC 4180)",
	.loses = "the starting state and the description of the capture",
	.output = EXPORT_STREAM,
	.begin = csv_begin,
	.event = csv_event,
	.end = csv_end,
	.free = csv_free,
};
