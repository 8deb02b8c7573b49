/* SPDX-License-Identifier: MIT */
#include "optable.h"

#include <string.h>

/* On disk the kind's highest bit says that the argument is a string, for kinds unknown to a reader. */
#define KIND_IS_TEXT 0x80

static uint8_t row_find(const struct row *row, const char *slot)
{
	for (uint8_t i = 0; i < row->arg_count; i++)
		if (!row->args[i].text && !strcmp(row->args[i].slot, slot))
			return i;
	return ROW_NONE;
}

/* Find the arguments that predict others and put them first. */
static void row_link(struct row *row)
{
	uint8_t n = 0;

	row->handle = row_find(row, "handle");
	row->file = row_find(row, "file");
	row->size = row_find(row, "size");
	const uint8_t first[] = {row->handle, row->file, row->size};
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (first[i] != ROW_NONE)
			row->order[n++] = first[i];
	for (uint8_t i = 0; i < row->arg_count; i++)
		if (i != row->handle && i != row->file && i != row->size)
			row->order[n++] = i;
}

void op_table_native(struct op_table *t)
{
	_Static_assert(OP_LIMIT <= OPS_MAX && OP_MAX_ARGS <= ROW_ARGS, "the format is too small");
	memset(t, 0, sizeof(*t));
	for (unsigned i = 0; i < OP_LIMIT; i++) {
		const struct op_desc *op = &op_descs[i];
		struct row *row = &t->rows[i];
		if (!op->name)
			continue;
		strncpy(row->name, op->name, NAME_MAX_SIZE);
		row->class = (uint8_t)op->class;
		row->arg_count = op->arg_count;
		row->known = true;
		for (unsigned a = 0; a < op->arg_count; a++) {
			struct row_arg *arg = &row->args[a];
			strncpy(arg->slot, op->args[a].slot, NAME_MAX_SIZE);
			arg->kind = op->args[a].kind;
			arg->effect = op->args[a].effect;
			arg->text = arg_is_text(&op->args[a]);
			arg->at = op->args[a].at;
		}
		row_link(row);
	}
}

static void put_name(struct bytes *out, const char *name)
{
	put_u8(out, (uint8_t)strlen(name));
	put_bytes(out, name, strlen(name));
}

void op_table_encode(const struct op_table *t, struct bytes *out)
{
	for (unsigned i = 0; i < OPS_MAX; i++) {
		const struct row *row = &t->rows[i];
		if (!row->name[0])
			continue;
		put_u8(out, (uint8_t)i);
		put_name(out, row->name);
		put_u8(out, row->class);
		put_u8(out, row->arg_count);
		for (unsigned a = 0; a < row->arg_count; a++) {
			const struct row_arg *arg = &row->args[a];
			put_name(out, arg->slot);
			put_u8(out, arg->kind | (arg->text ? KIND_IS_TEXT : 0));
			put_u8(out, arg->effect);
		}
	}
}

/* A name that may be printed: letters, digits and a few signs. */
static void get_name(struct cursor *c, char name[NAME_MAX_SIZE + 1])
{
	size_t size = get_u8(c);
	const uint8_t *p = get_bytes(c, size);

	memset(name, 0, NAME_MAX_SIZE + 1);
	if (!p || !size || size > NAME_MAX_SIZE) {
		c->bad = true;
		return;
	}
	for (size_t i = 0; i < size; i++)
		if (!((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z') &&
			!(p[i] >= '0' && p[i] <= '9') && p[i] != '_' && p[i] != '-')
			c->bad = true;
	if (!c->bad)
		memcpy(name, p, size);
}

/* Where this build keeps the argument: the row's own slot, if name and type agree. */
static int arg_place(const struct op_desc *op, const struct row_arg *arg)
{
	for (unsigned a = 0; a < op->arg_count; a++)
		if (!strcmp(op->args[a].slot, arg->slot) && arg_is_text(&op->args[a]) == arg->text)
			return op->args[a].at;
	return -1;
}

static void row_decode(struct row *row, const struct op_desc *op, struct cursor *c)
{
	get_name(c, row->name);
	row->class = get_u8(c);
	row->arg_count = get_u8(c);
	row->known = op && op->name && !strcmp(op->name, row->name);
	if (row->arg_count > ROW_ARGS) {
		c->bad = true;
		row->arg_count = 0;
	}
	for (unsigned a = 0; a < row->arg_count && !c->bad; a++) {
		struct row_arg *arg = &row->args[a];
		get_name(c, arg->slot);
		uint8_t kind = get_u8(c);
		arg->kind = kind & (KIND_IS_TEXT - 1);
		arg->text = kind & KIND_IS_TEXT;
		arg->effect = get_u8(c);
		arg->at = row->known ? arg_place(op, arg) : -1;
	}
	row_link(row);
}

int op_table_decode(struct op_table *t, struct cursor *c, const char *place, struct error *err)
{
	memset(t, 0, sizeof(*t));
	while (cursor_left(c) && !c->bad) {
		unsigned number = get_u8(c);
		if (!number || number >= OPS_MAX || t->rows[number].name[0])
			return error_set(err, 0,
				"%s: operation number %u is out of range or there "
				"twice",
				place, number);
		row_decode(&t->rows[number], number < OP_LIMIT ? &op_descs[number] : NULL, c);
	}
	if (c->bad)
		return error_set(err, 0, "%s: the table of operations is malformed", place);
	return 0;
}
