/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <assert.h>
#include <string.h>

static size_t field_of(struct fields *f, const struct op_arg *arg)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].at == arg->at)
			return i;
	assert(f->count < FIELDS_MAX);
	f->at[f->count] = *arg;
	return f->count++;
}

const struct fields *fields_all(void)
{
	static struct fields f;

	if (f.count)
		return &f;
	memset(f.arg, FIELD_NONE, sizeof(f.arg));
	for (unsigned op = 0; op < OP_LIMIT; op++)
		for (uint8_t i = 0; i < op_descs[op].arg_count; i++)
			f.arg[op][field_of(&f, &op_descs[op].args[i])] = i;
	return &f;
}
