/* SPDX-License-Identifier: MIT */
/* Is a replayed result the captured one? What "the same" means is said per operation, in one table.
 */
#ifndef DIVERGENCE_H
#define DIVERGENCE_H

#include "step.h"

struct divergence {
	uint64_t count;
	char *first; /* the first case in words */
};

/* By operation. */
struct divergences {
	struct divergence *op[OP_LIMIT]; /* NULL: none */
};

/* Does `result` differ from the captured one in a way that matters? */
bool divergence_differs(const struct step *step, int64_t result);

/* Count it; the first case of each operation is put into words, with the path. */
void divergence_count(
	struct divergences *d, struct replay_context *ctx, const struct step *step, int64_t result);
/* A step that could not be made from event `number` at all. */
void divergence_unresolved(struct divergences *d, enum op op, uint64_t number, const char *why);

void divergence_merge(struct divergences *into, const struct divergences *from);
void divergence_free(struct divergences *d);

#endif
