/* SPDX-License-Identifier: MIT */
/* All arguments that any operation has, as the columns of one table. */
#ifndef FIELDS_H
#define FIELDS_H

#include "op.h"

#define FIELDS_MAX 32
#define FIELD_NONE 255

struct fields {
	size_t count;
	struct op_arg at[FIELDS_MAX]; /* kind and place; the effect differs from row to row */
	/* Which argument of the operation fills the column, or FIELD_NONE. */
	uint8_t arg[OP_LIMIT][FIELDS_MAX];
};

/* The table of this build; made at the first call. */
const struct fields *fields_all(void);

#endif
