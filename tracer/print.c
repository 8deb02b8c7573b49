/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "clock.h"
#include "content.h"
#include "vec.h"

void print_escaped(FILE *out, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)data[i];
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c >= ' ' && c < 0x7f)
			fputc(c, out);
		else
			fprintf(out, "\\x%02x", c);
	}
}

static void print_path(FILE *out, const char *path)
{
	print_escaped(out, path, strlen(path));
}

/* A string for JSON, which is UTF-8: anything else is escaped. */
static json_t *text_json(const char *data, size_t size)
{
	json_t *json = json_stringn(data, size);
	char *escaped = NULL;
	size_t length = 0;

	if (json)
		return json;
	FILE *f = open_memstream(&escaped, &length);
	if (!f)
		return json_null();
	print_escaped(f, data, size);
	fclose(f);
	json = json_stringn(escaped, length);
	free(escaped);
	return json;
}

static json_t *path_json(struct paths *paths, uint64_t file)
{
	const char *path = paths_of(paths, file);

	return text_json(path, strlen(path));
}

/* Is it the file, directory or handle that every row of its kind begins with? */
static bool is_plain_slot(const char *slot)
{
	return !strcmp(slot, "file") || !strcmp(slot, "dir") || !strcmp(slot, "handle");
}

static void print_number(FILE *out, const struct op_arg *arg, uint64_t v, struct paths *paths)
{
	switch ((enum arg_kind)arg->kind) {
	case KIND_FILE:
		print_path(out, paths_of(paths, v));
		return;
	case KIND_HANDLE:
		fprintf(out, "h%" PRIu64, v);
		return;
	case KIND_FLAGS:
		fprintf(out, "0x%" PRIx64, v);
		return;
	case KIND_MODE:
		fprintf(out, "0%" PRIo64, v);
		return;
	case KIND_CONTENT:
		fputs(content_name((enum content)min_u64(v, CONTENT_LIMIT)), out);
		return;
	case KIND_TIME:
		fprintf(out, "%" PRIu64 ".%09" PRIu64, v / NSEC_PER_SEC, v % NSEC_PER_SEC);
		return;
	case KIND_OFFSET:
	case KIND_SIZE:
	case KIND_NUMBER:
	case KIND_HASH:
	case KIND_NAME:
	case KIND_BYTES:
	case KIND_COUNT:
		break;
	}
	fprintf(out, "%" PRIu64, v);
}

/* Nothing to say: no such file, no handle, unknown content. */
static bool is_absent(const struct op_arg *arg, const struct event *ev)
{
	return (arg->kind == KIND_FILE || arg->kind == KIND_HANDLE || arg->kind == KIND_CONTENT ||
		       arg->kind == KIND_HASH || arg->at == offsetof(struct event, data)) &&
	       !*event_number(ev, arg);
}

static void print_args(FILE *out, const struct event *ev, struct paths *paths)
{
	const struct op_desc *op = &op_descs[ev->op];
	const char *between = "";

	for (unsigned i = 0; i < op->arg_count; i++) {
		const struct op_arg *arg = &op->args[i];
		if (is_absent(arg, ev))
			continue;
		fputs(between, out);
		between = ", ";
		if (!arg_is_text(arg)) {
			if (!is_plain_slot(arg->slot))
				fprintf(out, "%s=", arg->slot);
			print_number(out, arg, *event_number(ev, arg), paths);
			continue;
		}
		const struct text *t = event_text(ev, arg);
		if (strcmp(arg->slot, "name"))
			fprintf(out, "%s=", arg->slot);
		fputc('"', out);
		print_escaped(out, t->data, t->size);
		fputc('"', out);
	}
}

static void print_seconds(FILE *out, const char *before, uint64_t ns, const char *after)
{
	fprintf(out, "%s%" PRIu64 ".%09" PRIu64 "%s", before, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC,
		after);
}

void print_event(
	FILE *out, const struct event *ev, struct paths *paths, const struct trace_thread *thread)
{
	print_seconds(out, "", ev->start_ns, " ");
	print_escaped(out, thread->comm, strnlen(thread->comm, sizeof(thread->comm)));
	fprintf(out, "/%u %s(", thread->tid, op_name(ev->op));
	print_args(out, ev, paths);
	fprintf(out, ") = %" PRId64, ev->result);
	if (ev->result < 0) {
		const char *name = ev->result >= -4095 ? strerrorname_np((int)-ev->result) : NULL;
		fprintf(out, " %s", name ? name : "?");
	}
	print_seconds(out, " <", ev->took_ns, ">");
	if (ev->event_flags & EVENT_DERIVED)
		fputs(" derived", out);
	if (ev->event_flags & EVENT_JOINED)
		fputs(" joined", out);
	if (ev->event_flags & EVENT_RACED)
		fputs(" raced", out);
	fputc('\n', out);
}

static json_t *integer(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *args_json(const struct event *ev, struct paths *paths)
{
	const struct op_desc *op = &op_descs[ev->op];
	json_t *json = json_object();

	for (unsigned i = 0; i < op->arg_count; i++) {
		const struct op_arg *arg = &op->args[i];
		const struct text *t = event_text(ev, arg);
		if (arg_is_text(arg)) {
			json_object_set_new(
				json, arg->slot, text_json(t->data ? t->data : "", t->size));
			continue;
		}
		uint64_t v = *event_number(ev, arg);
		json_object_set_new(json, arg->slot, integer(v));
		if (arg->kind != KIND_FILE || !v)
			continue;
		auto_free char *key = xasprintf("%s_path", arg->slot);
		json_object_set_new(json, key, path_json(paths, v));
	}
	return json;
}

json_t *event_json(const struct event *ev, struct paths *paths, const struct trace_thread *thread)
{
	json_t *json = json_object();

	json_object_set_new(json, "start_ns", integer(ev->start_ns));
	json_object_set_new(json, "took_ns", integer(ev->took_ns));
	json_object_set_new(json, "cpu_ns", integer(ev->cpu_ns));
	json_object_set_new(json, "tid", integer(thread->tid));
	json_object_set_new(
		json, "comm", text_json(thread->comm, strnlen(thread->comm, sizeof(thread->comm))));
	json_object_set_new(json, "op", json_string(op_name(ev->op)));
	json_object_set_new(json, "args", args_json(ev, paths));
	json_object_set_new(json, "result", json_integer(ev->result));
	if (ev->event_flags & EVENT_DERIVED)
		json_object_set_new(json, "derived", json_true());
	if (ev->event_flags & EVENT_JOINED)
		json_object_set_new(json, "joined", json_true());
	if (ev->event_flags & EVENT_RACED)
		json_object_set_new(json, "raced", json_true());
	return json;
}

/* "-rw-r--r--" */
static void mode_text(uint64_t mode, char out[11])
{
	static const char types[] = "?pc?d?b?-?l?s???", bits[] = "rwxrwxrwx";

	out[0] = types[mode >> 12 & 15];
	for (int i = 0; i < 9; i++)
		out[i + 1] = mode >> (8 - i) & 1 ? bits[i] : '-';
	out[10] = '\0';
}

static uint64_t data_bytes(const struct tree_entry *e)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < e->extent_count; i++)
		bytes += e->extents[i].size;
	return bytes;
}

void print_tree_entry(FILE *out, const struct tree_entry *e, struct paths *paths)
{
	char mode[11];

	if (e->again) {
		fputs("another name: ", out);
		print_escaped(out, e->name.data, e->name.size);
		fputs(" = ", out);
		print_path(out, paths_of(paths, e->id));
		fputc('\n', out);
		return;
	}
	mode_text(e->mode, mode);
	fprintf(out, "%s %" PRIu64 ":%" PRIu64 " %" PRIu64 " ", mode, e->uid, e->gid, e->size);
	print_path(out, paths_of(paths, e->id));
	if (S_ISLNK(e->mode)) {
		fputs(" -> ", out);
		print_escaped(out, e->target.data, e->target.size);
	}
	if (e->content)
		fprintf(out, " (%s)",
			content_name((enum content)min_u64(e->content, CONTENT_LIMIT)));
	if (S_ISREG(e->mode) && data_bytes(e) != e->size)
		fprintf(out, " data=%" PRIu64 " in %zu", data_bytes(e), e->extent_count);
	for (size_t i = 0; i < e->xattr_count; i++) {
		fputc(' ', out);
		print_escaped(out, e->xattrs[i].name.data, e->xattrs[i].name.size);
		fputs("=\"", out);
		print_escaped(out, e->xattrs[i].value.data, e->xattrs[i].value.size);
		fputc('"', out);
	}
	fputc('\n', out);
}

static json_t *extents_json(const struct tree_entry *e)
{
	json_t *json = json_array();

	for (size_t i = 0; i < e->extent_count; i++)
		json_array_append_new(json, json_pack("[I,I]", (json_int_t)e->extents[i].offset,
						    (json_int_t)e->extents[i].size));
	return json;
}

json_t *tree_entry_json(const struct tree_entry *e, struct paths *paths)
{
	json_t *json = json_object(), *xattrs = json_object();

	json_object_set_new(json, "id", integer(e->id));
	json_object_set_new(json, "parent", integer(e->parent));
	json_object_set_new(
		json, "name", text_json(e->name.data ? e->name.data : "", e->name.size));
	if (e->again) {
		json_decref(xattrs);
		return json;
	}
	json_object_set_new(json, "path", path_json(paths, e->id));
	json_object_set_new(json, "mode", integer(e->mode));
	json_object_set_new(json, "uid", integer(e->uid));
	json_object_set_new(json, "gid", integer(e->gid));
	json_object_set_new(json, "size", integer(e->size));
	json_object_set_new(json, "rdev", integer(e->rdev));
	json_object_set_new(json, "mtime_ns", integer(e->mtime_ns));
	json_object_set_new(json, "content",
		json_string(content_name((enum content)min_u64(e->content, CONTENT_LIMIT))));
	json_object_set_new(
		json, "target", text_json(e->target.data ? e->target.data : "", e->target.size));
	json_object_set_new(json, "extents", extents_json(e));
	for (size_t i = 0; i < e->xattr_count; i++) {
		const struct tree_xattr *x = &e->xattrs[i];
		auto_free char *name = xasprintf("%.*s", (int)x->name.size, x->name.data);
		json_object_set_new(xattrs, name, text_json(x->value.data, x->value.size));
	}
	json_object_set_new(json, "xattrs", xattrs);
	return json;
}
