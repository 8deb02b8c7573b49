/* SPDX-License-Identifier: MIT */
#include "attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fileclass.h"

static struct share *share_at(struct shares *s, const char *op, const char *file_class)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->at[i].op, op) && !strcmp(s->at[i].file_class, file_class))
			return &s->at[i];
	vec_push(s, (struct share){0});
	struct share *share = &s->at[s->count - 1];
	snprintf(share->op, sizeof(share->op), "%s", op);
	snprintf(share->file_class, sizeof(share->file_class), "%s", file_class);
	return share;
}

/* In unsigned numbers, so that absurd values of a foreign file wrap instead of trapping. */
static void add_signed(int64_t *sum, int sign, uint64_t ns)
{
	*sum = (int64_t)((uint64_t)*sum + (sign < 0 ? -ns : ns));
}

/* Add (sign 1) or subtract (sign -1) the critical path of a run. */
static void add_run(struct shares *s, const struct result_run *run, int sign)
{
	uint64_t rest = run->elapsed_ns;

	vec_each (c, &run->classes) {
		rest -= c->critical_ns;
		if (c->critical_ns)
			add_signed(&share_at(s, c->op, c->file_class)->ns, sign, c->critical_ns);
	}
	if (rest)
		add_signed(&share_at(s, RESULT_OP_REST, "")->ns, sign, rest);
	add_signed(&s->total_ns, sign, run->elapsed_ns);
}

uint64_t share_size(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

static int by_size(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	uint64_t p = share_size(x->ns), q = share_size(y->ns);

	if (p != q)
		return p < q ? 1 : -1;
	int order = strcmp(x->op, y->op);
	return order ? order : strcmp(x->file_class, y->file_class);
}

static void sort_shares(struct shares *s)
{
	if (s->count)
		qsort(s->at, s->count, sizeof(*s->at), by_size);
}

void attribute_run(struct shares *ret, const struct result_run *run)
{
	*ret = (struct shares){0};
	if (run->classes.count)
		add_run(ret, run, 1);
	sort_shares(ret);
}

void attribute_difference(
	struct shares *ret, const struct result_run *run, const struct result_run *base)
{
	*ret = (struct shares){0};
	add_run(ret, run, 1);
	add_run(ret, base, -1);
	sort_shares(ret);
}

void shares_done(struct shares *s)
{
	vec_free(s);
}

int64_t shares_of(const struct shares *s, const char *op, const char *file_class)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->at[i].op, op) && !strcmp(s->at[i].file_class, file_class))
			return s->at[i].ns;
	return 0;
}

static const struct {
	const char *name, *words;
} pseudo_words[] = {
	{RESULT_OP_THINK, "the application's CPU time"},
	{RESULT_OP_DISPATCH, "getting calls started"},
	{RESULT_OP_REST, "time not attributed"},
};

static const char *const class_words[FILE_CLASS_COUNT] = {
	[FILE_OTHER] = "other files",
	[FILE_DATABASE] = "the database file",
	[FILE_INDEX] = "index files",
	[FILE_WAL] = "the WAL",
	[FILE_JOURNAL] = "the rollback journal",
	[FILE_UNDO] = "the undo log",
	[FILE_DOUBLEWRITE] = "the doublewrite file",
	[FILE_BINLOG] = "the binary log",
	[FILE_STATUS] = "the commit status",
	[FILE_CONTROL] = "control files",
	[FILE_SHM] = "the shared-memory file",
	[FILE_LOG] = "log files",
	[FILE_TEMP] = "temporary files",
	[FILE_DIRECTORY] = "directories",
};

const char *share_words(const char *op, const char *file_class, char out[64])
{
	enum file_class class = file_class_by_name(file_class);
	const char *words = class < FILE_CLASS_COUNT ? class_words[class] : file_class;

	snprintf(out, 64, "%s%s%s", op, *words ? " on " : "", words);
	for (size_t i = 0; i < ARRAY_SIZE(pseudo_words); i++)
		if (!strcmp(pseudo_words[i].name, op))
			snprintf(out, 64, "%s", pseudo_words[i].words);
	return out;
}
