/* SPDX-License-Identifier: MIT */
#include "workload.h"

#include <errno.h>
#include <string.h>

#include "all.h"
#include "cleanup.h"
#include "units.h"
#include "vec.h"

static const struct workload *const workloads[] = {
	&workload_sqlite_tpcb,
	&workload_sqlite_bulk,
	&workload_fsmark,
	&workload_fileserver,
	&workload_varmail,
	&workload_fileio,
	&workload_stream,
	&workload_treecopy,
	&workload_command,
	&workload_pg_tpcb,
	&workload_pg_tpch,
	&workload_my_oltp,
	&workload_my_restore,
	&workload_my_sqlbench,
	&workload_bdb_kv,
};

#ifndef HAVE_LIBPQ
const struct workload workload_pg_tpcb = {
	.name = "pg-tpcb",
	.summary = "a bank on PostgreSQL (TPC-B)",
	.missing = "built without libpq; install libpq-dev and build again",
};
const struct workload workload_pg_tpch = {
	.name = "pg-tpch",
	.summary = "a warehouse on PostgreSQL (TPC-H)",
	.missing = "built without libpq; install libpq-dev and build again",
};
#endif

#ifndef HAVE_MYSQLCLIENT
#define NO_MYSQLCLIENT                                                                             \
	"built without libmysqlclient; install default-libmysqlclient-dev and build again"

const struct workload workload_my_oltp = {
	.name = "my-oltp",
	.summary = "reads and writes on MariaDB or MySQL",
	.missing = NO_MYSQLCLIENT,
};
const struct workload workload_my_restore = {
	.name = "my-restore",
	.summary = "tables restored from a dump on MariaDB or MySQL",
	.missing = NO_MYSQLCLIENT,
};
const struct workload workload_my_sqlbench = {
	.name = "my-sqlbench",
	.summary = "the eight tests of sql-bench on MariaDB or MySQL",
	.missing = NO_MYSQLCLIENT,
};
#endif

#ifndef HAVE_BERKELEYDB
const struct workload workload_bdb_kv = {
	.name = "bdb-kv",
	.summary = "transactions on Berkeley DB, the library",
	.missing = "built without Berkeley DB; install libdb5.3-dev and build again",
};
#endif

const struct workload *workload_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}

static int unknown_workload(const char *name, struct error *err)
{
	const char *names[ARRAY_SIZE(workloads)];

	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++)
		names[i] = workloads[i]->name;
	const char *near = nearest_name(name, names, ARRAY_SIZE(names), sizeof(names[0]));
	return error_set(err, EINVAL, "unknown workload '%s'%s%s%s; see 'fsreel workloads'", name,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int workload_parse(struct workload_spec *ret, const char *spec, struct error *err)
{
	auto_free char *name = xstrdup(spec);
	char *keys = name + strcspn(name, ":");

	if (*keys)
		*keys++ = '\0';
	const struct workload *w = workload_by_name(name);
	if (!w)
		return unknown_workload(name, err);
	if (w->missing)
		return error_set(err, ENOTSUP, "%s: %s", w->name, w->missing);
	auto_free void *settings = xcalloc(1, w->settings_size);
	param_defaults(w->params, w->param_count, settings);
	int r = param_parse(w->params, w->param_count, keys, settings, w->name, err);
	if (r)
		return r;
	auto_free char *normal = param_format(w->params, w->param_count, settings);
	*ret = (struct workload_spec){
		.workload = w,
		.settings = take_ptr(settings),
		.text = xasprintf("%s%s%s", w->name, *normal ? ":" : "", normal),
	};
	return 0;
}

void workload_spec_done(struct workload_spec *spec)
{
	free(spec->settings);
	free(spec->text);
	*spec = (struct workload_spec){0};
}

struct table *workloads_table(void)
{
	struct table *t = table_new();

	table_column(t, "WORKLOAD", "workload", TABLE_LEFT);
	table_column(t, "WHAT IT DOES", "summary", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++) {
		table_text(t, "%s", workloads[i]->name);
		table_text(t, "%s%s%s%s", workloads[i]->summary, workloads[i]->missing ? " (" : "",
			workloads[i]->missing ? workloads[i]->missing : "",
			workloads[i]->missing ? ")" : "");
	}
	return t;
}

/* "a|b|c", or what kind of value it is. */
static char *param_values(const struct param *p)
{
	static const char *const kinds[] = {
		[PARAM_NUMBER] = "N",
		[PARAM_SIZE] = "SIZE",
		[PARAM_MILLI] = "N or N.NNN",
		[PARAM_SET] = "all or N,N-N,...",
		[PARAM_CHOICE] = "",
		[PARAM_TEXT] = "TEXT",
		[PARAM_REST] = "TEXT to the end of SPEC",
	};
	char *text = xstrdup(kinds[p->type]);

	for (unsigned i = 0; p->type == PARAM_CHOICE && p->choices[i]; i++) {
		char *longer = xasprintf("%s%s%s", text, i ? "|" : "", p->choices[i]);
		free(text);
		text = longer;
	}
	return text;
}

struct table *workload_params_table(const struct workload *w)
{
	struct table *t = table_new();

	table_column(t, "KEY", "key", TABLE_LEFT);
	table_column(t, "DEFAULT", "default", TABLE_LEFT);
	table_column(t, "MEANING", "meaning", TABLE_LEFT);
	table_column(t, "VALUES", "values", TABLE_LEFT);
	for (size_t i = 0; i < w->param_count; i++) {
		auto_free char *values = param_values(&w->params[i]);
		table_text(t, "%s", w->params[i].key);
		table_text(t, "%s", w->params[i].initial);
		table_text(t, "%s", w->params[i].help);
		table_text(t, "%s", values);
	}
	return t;
}
