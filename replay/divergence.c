/* SPDX-License-Identifier: MIT */
#include "divergence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

/*
 * What must agree when both calls succeeded. When one failed, the other must have failed with the
 * same error, whatever the operation.
 */
enum agreement {
	AGREE_SUCCESS, /* that both succeeded */
	AGREE_VALUE,   /* the number returned: bytes, a length */
};

static const enum agreement agreements[OP_LIMIT] = {
	[OP_read] = AGREE_VALUE,
	[OP_write] = AGREE_VALUE,
	[OP_copy_file_range] = AGREE_VALUE,
	/* Lengths of attributes are the application's for user.*, the kernel's for the others. */
	[OP_getxattr] = AGREE_VALUE,
	/*
	 * AGREE_SUCCESS for the rest, among them: readdir, whose entries per call depend on how the
	 * file system packs them; lseek, because holes end where the file system's blocks do;
	 * listxattr, which lists the system's own names; statfs, getattr.
	 */
};

static bool value_matters(const struct step *step)
{
	if (step->op == OP_getxattr)
		return !strncmp(step->args->attribute, "user.", 5);
	return agreements[step->op] == AGREE_VALUE;
}

/* POSIX lets a file system say either of a directory that is not empty; xfs says the other one. */
static bool same_error(int64_t a, int64_t b)
{
	bool full = a == -ENOTEMPTY || a == -EEXIST;

	return a == b || (full && (b == -ENOTEMPTY || b == -EEXIST));
}

bool divergence_differs(const struct step *step, int64_t result)
{
	if (step->expect == result)
		return false;
	if (step->expect < 0 || result < 0)
		return !same_error(step->expect, result);
	if (step->bits & STEP_RACED)
		return false;
	return value_matters(step);
}

/* "8192", or the text of an error. */
struct result_words {
	char text[64];
};

static const char *words(int64_t result, struct result_words *out)
{
	if (result < 0)
		snprintf(out->text, sizeof(out->text), "%s", strerror((int)-result));
	else
		snprintf(out->text, sizeof(out->text), "%" PRId64, result);
	return out->text;
}

static void describe_handle(
	struct replay_context *ctx, const struct step *step, char *out, size_t size)
{
	int fd = files_handle(ctx->files, step->handle);

	if (fd < 0)
		snprintf(out, size, "a handle that is not open");
	else
		files_path(ctx->files, fd, out, size);
}

static void describe_path(
	struct replay_context *ctx, const struct step *step, char *out, size_t size)
{
	const char *name = step->args->name ? step->args->name : ".";
	int fd = files_dir_get(ctx->files, step->args->dir);
	char dir[2048];

	if (fd < 0) {
		snprintf(out, size, "%s in a directory that cannot be reached", name);
		return;
	}
	files_path(ctx->files, fd, dir, sizeof(dir));
	files_dir_put(ctx->files, step->args->dir);
	snprintf(out, size, "%s%s%s", strcmp(dir, ".") ? dir : "", strcmp(dir, ".") ? "/" : "",
		name);
}

static struct divergence *divergence_of(struct divergences *d, enum op op)
{
	if (!d->op[op])
		d->op[op] = ALLOC(struct divergence);
	return d->op[op];
}

void divergence_count(
	struct divergences *d, struct replay_context *ctx, const struct step *step, int64_t result)
{
	struct divergence *div = divergence_of(d, (enum op)step->op);
	struct result_words expected, got;
	char path[4096];

	if (div->count++ > 0)
		return;
	if (step->args && step->args->name)
		describe_path(ctx, step, path, sizeof(path));
	else
		describe_handle(ctx, step, path, sizeof(path));
	div->first = xasprintf("event %" PRIu64 " on %s: expected %s, got %s", step->number, path,
		words(step->expect, &expected), words(result, &got));
}

void divergence_unresolved(struct divergences *d, enum op op, uint64_t number, const char *why)
{
	struct divergence *div = divergence_of(d, op);

	if (div->count++ == 0)
		div->first = xasprintf("event %" PRIu64 " cannot be replayed: %s", number, why);
}

void divergence_merge(struct divergences *into, const struct divergences *from)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const struct divergence *src = from->op[op];
		if (!src)
			continue;
		struct divergence *dst = divergence_of(into, (enum op)op);
		if (dst->count == 0)
			dst->first = xstrdup(src->first);
		dst->count += src->count;
	}
}

void divergence_free(struct divergences *d)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		if (d->op[op])
			free(d->op[op]->first);
		free(d->op[op]);
		d->op[op] = NULL;
	}
}
