/* SPDX-License-Identifier: MIT */
/*
 * An SQLite database: what a trace has as tables, and views that answer the usual questions. Written
 * in one transaction; names that are not UTF-8 are blobs, so that no byte changes.
 */
#include <errno.h>
#include <sqlite3.h>

#include "cleanup.h"
#include "content.h"
#include "escape.h"
#include "export.h"
#include "fields.h"
#include "map.h"
#include "vec.h"

struct sqlite {
	sqlite3 *db;
	sqlite3_stmt *event, *file, *entry, *path;
	const struct fields *fields;
	struct map seen; /* files that are in the table */
};

static const char schema[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE ops(op INTEGER PRIMARY KEY, name TEXT, class TEXT, meaning TEXT);"
	"CREATE TABLE threads(thread INTEGER PRIMARY KEY, tid INTEGER, pid INTEGER, uid INTEGER,"
	" gid INTEGER, comm);"
	/* A file that existed at the start has an entry there; paths are those when first and last
	 * seen. */
	"CREATE TABLE files(file INTEGER PRIMARY KEY, path, last_path, class TEXT, type TEXT,"
	" at_start INTEGER NOT NULL, mode INTEGER, uid INTEGER, gid INTEGER, size INTEGER,"
	" mtime_ns INTEGER, target);"
	"CREATE TABLE links(file INTEGER, dir INTEGER, name);";

static const char views[] =
	"CREATE INDEX events_by_op ON events(op, derived, took_ns);"
	"CREATE VIEW calls AS SELECT e.event, e.start_ns, e.took_ns, t.tid, t.comm,"
	" o.name AS operation, o.class, f.path, f.class AS file_class, e.offset, e.size, e.result,"
	" e.derived FROM events e JOIN ops o USING(op) JOIN threads t USING(thread)"
	" LEFT JOIN files f ON f.file = coalesce(nullif(e.file, 0), e.dir);"
	"CREATE VIEW op_latency AS SELECT o.name AS operation, o.class, count(*) AS count,"
	" sum(result < 0) AS failed,"
	" sum(CASE WHEN o.name IN ('read', 'write', 'copy_file_range') AND result > 0"
	"  THEN result ELSE 0 END) AS bytes,"
	" sum(took_ns) AS total_ns, sum(took_ns) / count(*) AS mean_ns, min(took_ns) AS min_ns,"
	" max(CASE WHEN place = (n + 1) / 2 THEN took_ns END) AS p50_ns,"
	" max(CASE WHEN place = (n * 99 + 99) / 100 THEN took_ns END) AS p99_ns,"
	" max(took_ns) AS max_ns"
	" FROM (SELECT op, took_ns, result, count(*) OVER (PARTITION BY op) AS n,"
	"  row_number() OVER (PARTITION BY op ORDER BY took_ns) AS place"
	"  FROM events WHERE derived = 0) JOIN ops o USING(op)"
	" GROUP BY op ORDER BY total_ns DESC;"
	"CREATE VIEW file_time AS SELECT path, file_class, count(*) AS count, sum(took_ns) AS "
	"total_ns,"
	" sum(CASE WHEN operation = 'read' AND result > 0 THEN result ELSE 0 END) AS read_bytes,"
	" sum(CASE WHEN operation = 'write' AND result > 0 THEN result ELSE 0 END) AS written_bytes"
	" FROM calls WHERE derived = 0 GROUP BY path ORDER BY total_ns DESC;"
	"CREATE VIEW class_time AS SELECT operation, file_class, count(*) AS count,"
	" sum(took_ns) AS total_ns FROM calls WHERE derived = 0"
	" GROUP BY operation, file_class ORDER BY total_ns DESC;"
	"CREATE VIEW per_second AS SELECT start_ns / 1000000000 AS second, operation,"
	" count(*) AS count, sum(took_ns) AS total_ns FROM calls WHERE derived = 0"
	" GROUP BY second, operation;";

static int failed(const struct sqlite *q, struct error *err)
{
	int code = sqlite3_system_errno(q->db);

	return error_set(
		err, code ? code : EIO, "cannot write the database: %s", sqlite3_errmsg(q->db));
}

static int execute(struct sqlite *q, const char *sql, struct error *err)
{
	return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(q, err);
}

static int prepare(struct sqlite *q, sqlite3_stmt **ret, const char *sql, struct error *err)
{
	return sqlite3_prepare_v2(q->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : failed(q, err);
}

static int step(struct sqlite *q, sqlite3_stmt *statement, struct error *err)
{
	int r = sqlite3_step(statement);

	sqlite3_reset(statement);
	return r == SQLITE_DONE ? 0 : failed(q, err);
}

static void bind_number(sqlite3_stmt *statement, int at, uint64_t v)
{
	sqlite3_bind_int64(statement, at, (sqlite3_int64)v);
}

static void bind_bytes(sqlite3_stmt *statement, int at, struct text t)
{
	const char *data = t.data ? t.data : "";

	if (text_is_plain(t))
		sqlite3_bind_text(statement, at, data, (int)t.size, SQLITE_STATIC);
	else
		sqlite3_bind_blob(statement, at, data, (int)t.size, SQLITE_STATIC);
}

static void bind_string(sqlite3_stmt *statement, int at, const char *text)
{
	bind_bytes(statement, at, (struct text){text, strlen(text)});
}

/* ---- tables of few rows ---- */

static int put_ops(struct sqlite *q, struct error *err)
{
	sqlite3_stmt *s;
	int r = prepare(q, &s, "INSERT INTO ops VALUES(?, ?, ?, ?)", err);

	for (unsigned op = 0; op < OP_LIMIT && !r; op++) {
		if (!op_descs[op].name)
			continue;
		bind_number(s, 1, op);
		bind_string(s, 2, op_descs[op].name);
		bind_string(s, 3, op_class_name(op_descs[op].class));
		bind_string(s, 4, op_descs[op].doc);
		r = step(q, s, err);
	}
	sqlite3_finalize(s);
	return r;
}

static int put_meta(struct export *x, struct error *err)
{
	struct sqlite *q = x->own;
	sqlite3_stmt *s;
	int r = prepare(q, &s, "INSERT INTO meta VALUES(?, ?)", err);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)trace_reader_meta(x->trace), key, value)
	{
		auto_free char *text = json_is_string(value)
		                               ? xstrdup(json_string_value(value))
		                               : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		if (r || !text)
			break;
		bind_string(s, 1, key);
		if (json_is_integer(value))
			sqlite3_bind_int64(s, 2, json_integer_value(value));
		else
			bind_string(s, 2, text);
		r = step(q, s, err);
		sqlite3_clear_bindings(s);
	}
	sqlite3_finalize(s);
	return r;
}

static int put_threads(struct export *x, struct error *err)
{
	struct sqlite *q = x->own;
	sqlite3_stmt *s;
	int r = prepare(q, &s, "INSERT INTO threads VALUES(?, ?, ?, ?, ?, ?)", err);

	for (size_t i = 0; i < trace_reader_threads(x->trace) && !r; i++) {
		const struct trace_thread *t = trace_reader_thread(x->trace, i);
		const uint64_t numbers[] = {i, t->tid, t->tgid, t->uid, t->gid};
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
			bind_number(s, (int)k + 1, numbers[k]);
		bind_bytes(s, 6, (struct text){t->comm, strnlen(t->comm, sizeof(t->comm))});
		r = step(q, s, err);
	}
	sqlite3_finalize(s);
	return r;
}

/* ---- files ---- */

static const char *type_name(uint64_t mode)
{
	static const char *const names[16] = {[1] = "fifo",
		[2] = "character device",
		[4] = "directory",
		[6] = "block device",
		[8] = "file",
		[10] = "link",
		[12] = "socket"};

	return names[mode >> 12 & 15];
}

static void bind_type(sqlite3_stmt *s, int at, uint64_t mode)
{
	if (type_name(mode))
		sqlite3_bind_text(s, at, type_name(mode), -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(s, at);
}

static int put_link(struct sqlite *q, const struct tree_entry *e, struct error *err)
{
	bind_number(q->entry, 1, e->id);
	bind_number(q->entry, 2, e->parent);
	bind_bytes(q->entry, 3, e->name);
	return step(q, q->entry, err);
}

static int sqlite_tree(struct export *x, const struct tree_entry *e, struct error *err)
{
	struct sqlite *q = x->own;
	sqlite3_stmt *s = q->file;
	int r = e->parent ? put_link(q, e, err) : 0;

	if (r || map_get(&q->seen, e->id, 0))
		return r;
	map_put(&q->seen, e->id, 0, 0);
	const uint64_t numbers[] = {1, e->mode, e->uid, e->gid, e->size, e->mtime_ns};
	bind_number(s, 1, e->id);
	bind_string(s, 2, paths_of(x->paths, e->id));
	bind_string(s, 3, file_class_name(paths_class(x->paths, e->id)));
	bind_type(s, 4, e->mode);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		bind_number(s, (int)i + 5, numbers[i]);
	bind_bytes(s, 11, e->target);
	r = step(q, s, err);
	sqlite3_clear_bindings(s);
	return r;
}

/* A file that the event makes known. Its name is that after the event. */
static int put_file(struct export *x, uint64_t file, struct error *err)
{
	struct sqlite *q = x->own;
	sqlite3_stmt *s = q->file;

	if (!file || map_get(&q->seen, file, 0))
		return 0;
	map_put(&q->seen, file, 0, 0);
	bind_number(s, 1, file);
	bind_string(s, 2, paths_of(x->paths, file));
	bind_string(s, 3, file_class_name(paths_class(x->paths, file)));
	bind_number(s, 5, 0);
	int r = step(q, s, err);
	sqlite3_clear_bindings(s);
	return r;
}

/* ---- events ---- */

/* CREATE TABLE or INSERT, with a column for each field. */
static char *event_sql(const struct fields *f, bool create)
{
	char *sql = xstrdup(create ? "CREATE TABLE events(event INTEGER PRIMARY KEY, start_ns"
				     " INTEGER, took_ns INTEGER, cpu_ns INTEGER, thread INTEGER,"
				     " op INTEGER, result INTEGER, derived INTEGER"
				   : "INSERT INTO events VALUES(?,?,?,?,?,?,?,?");

	for (size_t i = 0; i < f->count; i++) {
		char *longer =
			create ? xasprintf("%s, %s", sql, f->at[i].slot) : xasprintf("%s,?", sql);
		free(sql);
		sql = longer;
	}
	char *all = xasprintf("%s)", sql);
	free(sql);
	return all;
}

static int sqlite_begin(struct export *x, struct error *err)
{
	struct sqlite *q = ALLOC(struct sqlite);

	x->own = q;
	q->fields = fields_all();
	if (sqlite3_open(x->out, &q->db) != SQLITE_OK)
		return failed(q, err);
	auto_free char *create = event_sql(q->fields, true);
	auto_free char *insert = event_sql(q->fields, false);
	int r = execute(q, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", err);
	if (!r)
		r = execute(q, schema, err);
	if (!r)
		r = execute(q, create, err);
	if (!r)
		r = prepare(q, &q->event, insert, err);
	if (!r)
		r = prepare(q, &q->file,
			"INSERT INTO files(file, path, class, type, at_start, mode, uid, gid, size,"
			" mtime_ns, target) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
			err);
	if (!r)
		r = prepare(q, &q->entry, "INSERT INTO links VALUES(?, ?, ?)", err);
	if (!r)
		r = prepare(q, &q->path, "UPDATE files SET last_path = ? WHERE file = ?", err);
	if (!r)
		r = put_ops(q, err);
	return r ? r : put_meta(x, err);
}

static void bind_field(sqlite3_stmt *s, int at, const struct op_arg *arg, const struct event *ev)
{
	if (arg_is_text(arg))
		bind_bytes(s, at, *event_text(ev, arg));
	else
		bind_number(s, at, *event_number(ev, arg));
}

static void bind_event(struct export *x, const struct event *ev)
{
	struct sqlite *q = x->own;
	const uint8_t *args = q->fields->arg[ev->op];
	const uint64_t fixed[] = {x->events, ev->start_ns, ev->took_ns, ev->cpu_ns, ev->thread,
		ev->op, (uint64_t)ev->result, ev->event_flags & EVENT_DERIVED ? 1 : 0};
	int at = 1;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		bind_number(q->event, at++, fixed[i]);
	for (size_t i = 0; i < q->fields->count; i++, at++)
		if (args[i] == FIELD_NONE)
			sqlite3_bind_null(q->event, at);
		else
			bind_field(q->event, at, &op_descs[ev->op].args[args[i]], ev);
}

static int sqlite_event(struct export *x, const struct event *ev, struct error *err)
{
	struct sqlite *q = x->own;

	bind_event(x, ev);
	int r = step(q, q->event, err);
	/* What the event makes gets its name by it; afterwards it is what it was called first. */
	if (!r && ev->file && !map_get(&q->seen, ev->file, 0)) {
		paths_event(x->paths, ev);
		r = put_file(x, ev->file, err);
	}
	if (!r)
		r = put_file(x, ev->dir, err);
	return r ? r : put_file(x, ev->file2, err);
}

static int put_last_paths(struct export *x, struct error *err)
{
	struct sqlite *q = x->own;
	int r = 0;

	for (const struct map_slot *i = NULL; !r && (i = map_next(&q->seen, i));) {
		bind_string(q->path, 1, paths_of(x->paths, i->a));
		bind_number(q->path, 2, i->a);
		r = step(q, q->path, err);
	}
	return r;
}

static int put_health(struct export *x, struct error *err)
{
	const struct trace_health *h = trace_reader_health(x->trace);
	auto_free char *sql =
		xasprintf("INSERT OR REPLACE INTO meta VALUES('events', %llu), ('lost', %llu),"
			  " ('complete', %d)",
			(unsigned long long)h->events, (unsigned long long)h->lost, h->complete);

	return execute(x->own, sql, err);
}

static int sqlite_end(struct export *x, struct error *err)
{
	struct sqlite *q = x->own;
	int r = put_threads(x, err);

	if (!r)
		r = put_last_paths(x, err);
	if (!r)
		r = put_health(x, err);
	if (!r)
		r = execute(q, views, err);
	return r ? r : execute(q, "COMMIT", err);
}

static void sqlite_free(struct export *x)
{
	struct sqlite *q = x->own;

	if (!q)
		return;
	sqlite3_finalize(q->event);
	sqlite3_finalize(q->file);
	sqlite3_finalize(q->entry);
	sqlite3_finalize(q->path);
	sqlite3_close(q->db);
	map_free(&q->seen);
	free(q);
}

const struct exporter export_sqlite = {
	.name = "sqlite",
	.summary = "a database with tables events, files, threads, ops, meta, and views such as"
		   " op_latency",
	.loses = "extents, extended attributes and contents of the starting state",
	.output = EXPORT_FILE,
	.begin = sqlite_begin,
	.tree = sqlite_tree,
	.event = sqlite_event,
	.end = sqlite_end,
	.free = sqlite_free,
};
