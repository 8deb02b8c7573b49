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
	bool json = false;
	const struct opt opts[] = {
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, 0, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	struct table *t = ops_table();
	table_show(t, json);
	table_free(t);
	return EXIT_GOOD;
}

const struct command cmd_ops = {
	.name = "ops",
	.usage = "[--json]",
	.summary = "the operations a trace can hold",
	.run = run,
};
