/* SPDX-License-Identifier: MIT */
/*
 * The operations as a trace file knows them. A writer's table is this build's; a reader takes the
 * table found in the file and maps each argument to a slot of struct event by its name.
 */
#ifndef OPTABLE_H
#define OPTABLE_H

#include "bytes.h"
#include "error.h"
#include "event.h"
#include "format.h"

struct row_arg {
	char slot[NAME_MAX_SIZE + 1];
	uint8_t kind, effect;
	bool text;
	int at; /* offset in struct event, or -1: this build has no such slot */
};

/* Arguments that predict others; ROW_NONE = the row has none of that name. */
#define ROW_NONE 255

struct row {
	char name[NAME_MAX_SIZE + 1]; /* empty: no such operation */
	uint8_t class, arg_count;
	bool known; /* this build has it under the same number and name */
	uint8_t handle, file, size;
	uint8_t order[ROW_ARGS]; /* arguments in the order of decoding: handle, file, size, rest */
	struct row_arg args[ROW_ARGS];
};

struct op_table {
	struct row rows[OPS_MAX];
};

/* This build's table. */
void op_table_native(struct op_table *t);
void op_table_encode(const struct op_table *t, struct bytes *out);
/* From untrusted bytes; `place` names them in the error. */
int op_table_decode(struct op_table *t, struct cursor *c, const char *place, struct error *err);

#endif
