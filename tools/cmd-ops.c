/* SPDX-License-Identifier: MIT */
/* fsreel ops: the table of operations, for people and for programs. */
#include <stdio.h>

#include "cmd.h"
#include "op.h"
#include "table.h"

static struct table *ops_table(void)
{
	struct table *t = table_new();

	table_column(t, "NO", "number", TABLE_RIGHT);
	table_column(t, "OPERATION", "name", TABLE_LEFT);
	table_column(t, "CLASS", "class", TABLE_LEFT);
	table_column(t, "MEANING", "doc", TABLE_LEFT);
	for (unsigned i = 0; i < OP_LIMIT; i++) {
		const struct op_desc *op = &op_descs[i];
		if (!op->name)
			continue;
		table_value(t, json_integer(i), "%u", i);
		table_text(t, "%s", op->name);
		table_text(t, "%s", op_class_name(op->class));
		table_text(t, "%s", op->doc);
	}
	return t;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	return cmd_show_table(cmd, argc, argv, ops_table, err);
}

const struct command cmd_ops = {
	.name = "ops",
	.usage = "[--json]",
	.summary = "the operations a trace can hold",
	.run = run,
};
