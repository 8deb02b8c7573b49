/* SPDX-License-Identifier: MIT */
/*
 * The results file.
 *
 * Its layout is data: one row per member (name, kind, place in the struct). One loop writes a struct
 * by its rows and one reads it back, so that the two cannot drift apart. A reader meets files of
 * strangers: everything is bounded, a wrong type or a number out of range is an error that names
 * the file and the path of the value ("runs[3].classes[0].count"); unknown names are skipped, so
 * that a newer writer may add some.
 */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "io.h"
#include "result-text.h"

#define FORMAT_NAME    "fsreel_results"
#define FORMAT_VERSION 1
#define FILE_LIMIT     (64 << 20) /* bytes; a parsed file takes up to 30 times as much memory */
#define STEPS_LIMIT    1000       /* of a run: each is looked up by its name */
#define NUMBER_LIMIT   (INT64_C(1) << 60)

enum field_kind {
	FIELD_NUMBER, /* uint64_t */
	FIELD_FLAG,   /* bool */
	FIELD_REAL,   /* double */
	FIELD_CHARS,  /* char[size] */
	FIELD_TEXT,   /* char *, owned; null is NULL */
	FIELD_CHOICE, /* enum: index into `choices` */
	FIELD_OBJECT, /* a struct at `at`, laid out by `inner`; null when its first member is empty */
	FIELD_LIST,   /* a VEC of structs of `size` bytes, laid out by `inner` */
};

struct field {
	const char *name;
	enum field_kind kind;
	bool required;
	size_t at, size;
	const struct field *inner; /* ends with a NULL name */
	const char *const *choices;
	size_t most; /* elements of a list; 0 = any number */
};

/* The untyped view of a VEC(); copied in and out, never aliased. */
struct list {
	void *at;
	size_t count, capacity;
};

#define NUMBER(type, member)                                                                       \
	{                                                                                          \
#member, FIELD_NUMBER, false, offsetof(type, member)                               \
	}
#define CHARS(type, member) CHARS_AS(#member, type, member)
#define CHARS_AS(name, type, member)                                                               \
	{                                                                                          \
		name, FIELD_CHARS, false, offsetof(type, member), sizeof(((type *)0)->member)      \
	}
#define TEXT(type, member) TEXT_AS(#member, type, member)
#define TEXT_AS(name, type, member)                                                                \
	{                                                                                          \
		name, FIELD_TEXT, false, offsetof(type, member)                                    \
	}
#define LIST_AS(name, type, member, rows)                                                          \
	{                                                                                          \
		name, FIELD_LIST, false, offsetof(type, member), sizeof(*((type *)0)->member.at),  \
			rows                                                                       \
	}
#define SHORT_LIST_AS(name, type, member, rows, limit)                                             \
	{                                                                                          \
		name, FIELD_LIST, false, offsetof(type, member), sizeof(*((type *)0)->member.at),  \
			rows, .most = limit                                                        \
	}
#define KIND(type)                                                                                 \
	{                                                                                          \
		"kind", FIELD_CHOICE, true, offsetof(type, kind), .choices = run_kind_names        \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL                                                                               \
	}

static const struct field class_fields[] = {
	{"op", FIELD_CHARS, true, offsetof(struct result_class, op), 24},
	CHARS(struct result_class, file_class),
	NUMBER(struct result_class, count),
	NUMBER(struct result_class, bytes),
	NUMBER(struct result_class, total_ns),
	NUMBER(struct result_class, critical_ns),
	NUMBER(struct result_class, p50_ns),
	NUMBER(struct result_class, p90_ns),
	NUMBER(struct result_class, p99_ns),
	NUMBER(struct result_class, max_ns),
	END,
};

static const struct field calibration_fields[] = {
	{"op", FIELD_CHARS, true, offsetof(struct result_calibration, op), 24},
	NUMBER(struct result_calibration, sync_ns),
	NUMBER(struct result_calibration, ring_ns),
	{"inline", FIELD_FLAG, false, offsetof(struct result_calibration, inline_)},
	{"ring", FIELD_FLAG, false, offsetof(struct result_calibration, ring)},
	END,
};

static const struct field divergence_fields[] = {
	{"op", FIELD_CHARS, true, offsetof(struct result_divergence, op), 24},
	NUMBER(struct result_divergence, count),
	TEXT(struct result_divergence, first),
	END,
};

static const struct field device_fields[] = {
	{"valid", FIELD_FLAG, false, offsetof(struct blockstat, valid)},
	NUMBER(struct blockstat, reads),
	NUMBER(struct blockstat, read_bytes),
	NUMBER(struct blockstat, writes),
	NUMBER(struct blockstat, write_bytes),
	NUMBER(struct blockstat, flushes),
	NUMBER(struct blockstat, busy_ns),
	NUMBER(struct blockstat, commits),
	END,
};

static const struct field step_fields[] = {
	{"name", FIELD_CHARS, true, offsetof(struct result_step, name), 24},
	NUMBER(struct result_step, elapsed_ns),
	CHARS(struct result_step, plan),
	NUMBER(struct result_step, rows),
	CHARS(struct result_step, checksum),
	TEXT(struct result_step, unfinished),
	TEXT(struct result_step, note),
	END,
};

static const struct field metric_fields[] = {
	CHARS_AS("name", struct result_run, metric_name),
	{"value", FIELD_REAL, false, offsetof(struct result_run, metric_value)},
	CHARS_AS("unit", struct result_run, metric_unit),
	END,
};

static const struct field run_fields[] = {
	KIND(struct result_run),
	{"target", FIELD_TEXT, true, offsetof(struct result_run, target)},
	TEXT(struct result_run, options),
	TEXT(struct result_run, unsafe),
	NUMBER(struct result_run, repeat),
	CHARS(struct result_run, mode),
	CHARS(struct result_run, order),
	CHARS(struct result_run, engine),
	TEXT(struct result_run, failure),
	{"elapsed_ns", FIELD_NUMBER, true, offsetof(struct result_run, elapsed_ns)},
	NUMBER(struct result_run, settle_ns),
	NUMBER(struct result_run, operations),
	NUMBER(struct result_run, divergences),
	NUMBER(struct result_run, syncs),
	NUMBER(struct result_run, cpu_ns),
	NUMBER(struct result_run, skipped),
	NUMBER(struct result_run, raced),
	NUMBER(struct result_run, mapped_read),
	NUMBER(struct result_run, mapped_written),
	{"metric", FIELD_OBJECT, false, 0, .inner = metric_fields},
	{"device", FIELD_OBJECT, false, offsetof(struct result_run, device),
		.inner = device_fields},
	SHORT_LIST_AS("steps", struct result_run, steps, step_fields, STEPS_LIMIT),
	LIST_AS("classes", struct result_run, classes, class_fields),
	LIST_AS("calibration", struct result_run, calibration, calibration_fields),
	LIST_AS("divergence", struct result_run, divergence, divergence_fields),
	END,
};

static const struct field prediction_fields[] = {
	{"target", FIELD_TEXT, true, offsetof(struct result_prediction, target)},
	CHARS(struct result_prediction, mode),
	NUMBER(struct result_prediction, predicted_ns),
	NUMBER(struct result_prediction, measured_ns),
	{"error", FIELD_REAL, false, offsetof(struct result_prediction, error)},
	END,
};

static const struct field rank_fields[] = {
	{"target", FIELD_TEXT, true, offsetof(struct result_rank, target)},
	KIND(struct result_rank),
	CHARS(struct result_rank, mode),
	NUMBER(struct result_rank, repeats),
	NUMBER(struct result_rank, median_ns),
	NUMBER(struct result_rank, low_ns),
	NUMBER(struct result_rank, high_ns),
	END,
};

static const struct field trace_fields[] = {
	TEXT_AS("sha256", struct results, trace_sha256),
	TEXT_AS("path", struct results, trace_path),
	{"events", FIELD_NUMBER, false, offsetof(struct results, trace_events)},
	END,
};

static const struct field results_fields[] = {
	{"trace", FIELD_OBJECT, false, 0, .inner = trace_fields},
	TEXT(struct results, workload),
	TEXT(struct results, unfinished),
	LIST_AS("runs", struct results, runs, run_fields),
	LIST_AS("prediction", struct results, predictions, prediction_fields),
	LIST_AS("ranking", struct results, ranking, rank_fields),
	END,
};

/* Writing ---------------------------------------------------------------------------------- */

static json_t *write_fields(const struct field *fields, const void *from);

static bool first_is_empty(const struct field *f, const char *from)
{
	if (f->kind == FIELD_FLAG)
		return !*(const bool *)(from + f->at);
	if (f->kind == FIELD_TEXT)
		return !*(char *const *)(from + f->at);
	return f->kind == FIELD_CHARS && !from[f->at];
}

static json_t *write_list(const struct field *f, const void *from)
{
	json_t *array = json_array();
	struct list list;

	memcpy(&list, from, sizeof(list));
	for (size_t i = 0; i < list.count; i++)
		json_array_append_new(array, write_fields(f->inner, (char *)list.at + i * f->size));
	return array;
}

static json_t *write_value(const struct field *f, const char *from)
{
	const void *at = from + f->at;

	switch (f->kind) {
	case FIELD_NUMBER:
		return json_integer((json_int_t)min_u64(*(const uint64_t *)at, NUMBER_LIMIT));
	case FIELD_FLAG:
		return json_boolean(*(const bool *)at);
	case FIELD_REAL:
		return json_real(isfinite(*(const double *)at) ? *(const double *)at : 0);
	case FIELD_CHARS:
		return json_text(at);
	case FIELD_TEXT:
		return json_text(*(char *const *)at);
	case FIELD_CHOICE:
		return json_string(f->choices[*(const unsigned *)at]);
	case FIELD_OBJECT:
		return first_is_empty(f->inner, at) ? json_null() : write_fields(f->inner, at);
	case FIELD_LIST:
		return write_list(f, at);
	}
	return NULL;
}

static json_t *write_fields(const struct field *fields, const void *from)
{
	json_t *object = json_object();

	for (const struct field *f = fields; f->name; f++)
		json_object_set_new(object, f->name, write_value(f, from));
	return object;
}

json_t *results_json(const struct results *r)
{
	json_t *head = json_pack("{s:i}", FORMAT_NAME, FORMAT_VERSION);
	json_t *body = write_fields(results_fields, r);

	json_object_update(head, body);
	json_decref(body);
	json_object_set(head, "environment", r->environment);
	return head;
}

static int dump(const json_t *json, int fd, const char *path, struct error *err)
{
	errno = 0;
	if (json_dumpfd(json, fd, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) ||
		write(fd, "\n", 1) != 1)
		return error_errno(err, errno ? errno : EIO, "cannot write %s", path);
	return 0;
}

static int write_beside(const json_t *json, const char *path, struct error *err)
{
	auto_free char *temp = xasprintf("%s.new-%d", path, (int)getpid());
	auto_close int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return error_errno(err, errno, "cannot create %s", temp);
	int r = dump(json, fd, temp, err);
	if (!r && (fsync(fd) || rename(temp, path)))
		r = error_errno(err, errno, "cannot write %s", path);
	if (r)
		unlink(temp);
	return r;
}

int results_writable(const char *path, struct error *err)
{
	auto_free char *copy = xstrdup(path);
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "cannot write %s: it is a directory", path);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return access(path, W_OK) ? error_errno(err, errno, "cannot write %s", path) : 0;
	if (access(dirname(copy), W_OK | X_OK))
		return error_errno(err, errno, "cannot create %s", path);
	return 0;
}

int results_write(const struct results *r, const char *path, struct error *err)
{
	auto_free char *real = realpath(path, NULL);
	struct stat st;
	json_t *json = results_json(r);
	int e;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
		e = fd < 0 ? error_errno(err, errno, "cannot write %s", path)
		           : dump(json, fd, path, err);
	} else {
		e = write_beside(json, real ? real : path, err);
	}
	json_decref(json);
	return e;
}

/* Reading ---------------------------------------------------------------------------------- */

/* Where the reader is, for its errors; a chain on the stack from the value up to the file. */
struct place {
	const struct place *parent;
	const char *name; /* NULL: element `index` of the parent */
	size_t index;
};

static void place_text(const struct place *at, char *out, size_t size)
{
	if (at->parent)
		place_text(at->parent, out, size);
	size_t used = strlen(out);
	if (at->name)
		snprintf(out + used, size - used, "%s%s", used ? "." : "", at->name);
	else if (at->parent)
		snprintf(out + used, size - used, "[%zu]", at->index);
}

static int refuse(const struct place *at, struct error *err, const char *what)
{
	char text[256] = "";

	place_text(at, text, sizeof(text));
	return error_set(err, EINVAL, "%s: %s", text, what);
}

static int read_fields(const struct field *fields, const json_t *from, void *into,
	const struct place *at, struct error *err);

static int read_number(
	const json_t *from, uint64_t *into, const struct place *at, struct error *err)
{
	if (!json_is_integer(from))
		return refuse(at, err, "not a whole number");
	json_int_t v = json_integer_value(from);
	if (v < 0 || v > NUMBER_LIMIT)
		return refuse(at, err, "not between 0 and 2^60");
	*into = (uint64_t)v;
	return 0;
}

static int read_chars(const struct field *f, const json_t *from, char *into, const struct place *at,
	struct error *err)
{
	if (!json_is_string(from))
		return refuse(at, err, "not a string");
	if (json_string_length(from) >= f->size)
		return refuse(at, err, "the string is too long");
	memcpy(into, json_string_value(from), json_string_length(from) + 1);
	clean_text(into);
	return 0;
}

static int read_text_member(const struct field *f, const json_t *from, char **into,
	const struct place *at, struct error *err)
{
	if (json_is_null(from) && !f->required)
		return 0;
	if (!json_is_string(from))
		return refuse(at, err, "not a string");
	*into = clean_text(xstrdup(json_string_value(from)));
	return 0;
}

static int read_choice(const struct field *f, const json_t *from, unsigned *into,
	const struct place *at, struct error *err)
{
	const char *word = json_string_value(from);

	for (unsigned i = 0; word && f->choices[i]; i++)
		if (!strcmp(word, f->choices[i])) {
			*into = i;
			return 0;
		}
	char what[128] = "is none of";
	for (unsigned i = 0; f->choices[i]; i++)
		snprintf(
			what + strlen(what), sizeof(what) - strlen(what), " \"%s\"", f->choices[i]);
	return refuse(at, err, what);
}

static int read_list(const struct field *f, const json_t *from, void *into, const struct place *at,
	struct error *err)
{
	struct list list = {0};
	int r = 0;

	if (!json_is_array(from))
		return refuse(at, err, "not an array");
	size_t count = json_array_size(from);
	if (f->most && count > f->most)
		return refuse(at, err, "too many elements");
	for (size_t i = 0; i < count && !r; i++) {
		struct place element = {at, NULL, i};
		if (list.count == list.capacity)
			vec_grow_(&list.at, &list.capacity, f->size);
		void *slot = memset((char *)list.at + list.count++ * f->size, 0, f->size);
		r = read_fields(f->inner, json_array_get(from, i), slot, &element, err);
	}
	/* A half-read element is freed like a whole one. */
	memcpy(into, &list, sizeof(list));
	return r;
}

static int read_value(const struct field *f, const json_t *from, char *into, const struct place *at,
	struct error *err)
{
	void *to = into + f->at;

	switch (f->kind) {
	case FIELD_NUMBER:
		return read_number(from, to, at, err);
	case FIELD_FLAG:
		*(bool *)to = json_is_true(from);
		return json_is_boolean(from) ? 0 : refuse(at, err, "neither true nor false");
	case FIELD_REAL:
		*(double *)to = json_number_value(from);
		return json_is_number(from) ? 0 : refuse(at, err, "not a number");
	case FIELD_CHARS:
		return read_chars(f, from, to, at, err);
	case FIELD_TEXT:
		return read_text_member(f, from, to, at, err);
	case FIELD_CHOICE:
		return read_choice(f, from, to, at, err);
	case FIELD_OBJECT:
		return json_is_null(from) ? 0 : read_fields(f->inner, from, to, at, err);
	case FIELD_LIST:
		return read_list(f, from, to, at, err);
	}
	return -EINVAL;
}

static int read_fields(const struct field *fields, const json_t *from, void *into,
	const struct place *at, struct error *err)
{
	int r = 0;

	if (!json_is_object(from))
		return refuse(at, err, "not an object");
	for (const struct field *f = fields; f->name && !r; f++) {
		struct place member = {at, f->name, 0};
		const json_t *value = json_object_get(from, f->name);
		if (value)
			r = read_value(f, value, into, &member, err);
		else if (f->required)
			r = refuse(&member, err, "missing");
	}
	return r;
}

static json_t *clean_json(const json_t *from)
{
	const char *key;
	json_t *value, *copy;
	size_t i;

	if (json_is_string(from))
		return json_text(json_string_value(from));
	if (json_is_array(from)) {
		copy = json_array();
		json_array_foreach(from, i, value) json_array_append_new(copy, clean_json(value));
		return copy;
	}
	if (!json_is_object(from))
		return json_deep_copy(from);
	copy = json_object();
	json_object_foreach((json_t *)(uintptr_t)from, key, value)
	{
		auto_free char *clean = clean_text(xstrdup(key));
		json_object_set_new(copy, clean, clean_json(value));
	}
	return copy;
}

/* The whole file, which may be a pipe; *ret_size bytes. */
static char *load(const char *path, size_t *ret_size, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0, room = 1 << 16;
	auto_free char *data = xmalloc(room);
	ssize_t n;

	if (fd < 0) {
		error_errno(err, errno, "cannot open %s", path);
		return NULL;
	}
	while ((n = read_full(fd, data + size, room - size)) > 0) {
		size += (size_t)n;
		if (size > FILE_LIMIT) {
			error_set(err, EFBIG, "%s is larger than a results file can be (%d MiB)",
				path, FILE_LIMIT >> 20);
			return NULL;
		}
		if (size == room)
			data = xrealloc(data, room *= 2, 1);
	}
	if (n < 0) {
		error_errno(err, (int)n, "cannot read %s", path);
		return NULL;
	}
	*ret_size = size;
	return take_ptr(data);
}

static int check_format(const json_t *json, const char *path, struct error *err)
{
	const json_t *version = json_object_get(json, FORMAT_NAME);

	if (!json_is_integer(version))
		return error_set(err, EINVAL,
			"%s is not a results file of fsreel: it has no number \"%s\"", path,
			FORMAT_NAME);
	if (json_integer_value(version) != FORMAT_VERSION)
		return error_set(err, EINVAL,
			"%s is a results file of version %" JSON_INTEGER_FORMAT
			"; this fsreel reads version %d",
			path, json_integer_value(version), FORMAT_VERSION);
	return 0;
}

static json_t *parse(const char *path, struct error *err)
{
	size_t size = 0;
	json_error_t where;
	auto_free char *data = load(path, &size, err);

	if (!data)
		return NULL;
	json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &where);
	if (!json) {
		clean_text(where.text);
		error_set(err, EINVAL, "%s is not a results file of fsreel: line %d: %s", path,
			where.line, where.text);
		return NULL;
	}
	if (check_format(json, path, err)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

int results_read(struct results **ret, const char *path, struct error *err)
{
	json_t *json = parse(path, err);

	if (!json)
		return err && err->code ? -err->code : -EINVAL;
	struct results *r = ALLOC(struct results);
	const json_t *environment = json_object_get(json, "environment");
	int e = read_fields(results_fields, json, r, &(struct place){0}, err);

	if (!e && environment && !json_is_object(environment))
		e = error_set(err, EINVAL, "environment: not an object");
	r->environment = json_is_object(environment) ? clean_json(environment) : json_object();
	json_decref(json);
	if (e) {
		results_free(r);
		return error_wrap(err, "%s", path);
	}
	*ret = r;
	return 0;
}
