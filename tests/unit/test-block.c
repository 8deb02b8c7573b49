/* SPDX-License-Identifier: MIT */
/*
 * Blocks as a newer fsreel may write them: operations and arguments that this build does not know
 * are passed over, and what it knows comes out right.
 */
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "check.h"
#include "cleanup.h"
#include "vec.h"

#define FUTURE_OP 100

static void add_arg(struct row *row, const char *slot, uint8_t kind, bool text, int at)
{
	struct row_arg *arg = &row->args[row->arg_count];

	snprintf(arg->slot, sizeof(arg->slot), "%s", slot);
	arg->kind = kind;
	arg->text = text;
	arg->at = at;
	row->order[row->arg_count] = row->arg_count;
	row->arg_count++;
}

/* This build's table, with an operation more, and a number and a string more in every fsync. */
static void future_table(struct op_table *t)
{
	op_table_native(t);
	struct row *row = &t->rows[FUTURE_OP];
	snprintf(row->name, sizeof(row->name), "teleport");
	row->handle = row->file = row->size = ROW_NONE;
	add_arg(row, "where", 60, false, offsetof(struct event, offset));
	add_arg(row, "whom", 61, true, offsetof(struct event, name));
	row = &t->rows[OP_fsync];
	add_arg(row, "depth", 60, false, offsetof(struct event, mode));
	add_arg(row, "reason", 61, true, offsetof(struct event, value));
}

/* Through the bytes of an OPS frame, as a reader gets it. */
static void through_file(const struct op_table *from, struct op_table *to)
{
	struct bytes b = {0};
	struct error err = {0};

	op_table_encode(from, &b);
	struct cursor c = cursor_of(b.data, b.size);
	CHECK_EQ(op_table_decode(to, &c, "here", &err), 0);
	bytes_free(&b);
}

#define EVENTS 3000

static struct event event_at(unsigned i)
{
	static const enum op ops[] = {OP_fsync, (enum op)FUTURE_OP, OP_write};

	return (struct event){.op = ops[i % 3],
		.thread = i % 2,
		.start_ns = i * 1000,
		.took_ns = i,
		.file = 2 + i % 5,
		.handle = 1 + i % 5,
		.offset = i * 512,
		.size = 512,
		.result = 512,
		.mode = i,
		.name = {"someone", 7},
		.value = {"because", i % 8}};
}

static void encode(const struct op_table *table, struct bytes *out)
{
	struct block_writer *w = block_writer_new(table);

	for (unsigned i = 0; i < EVENTS; i++) {
		struct event ev = event_at(i);
		block_add(w, &ev);
	}
	block_finish(w, out);
	bytes_reserve(out, COLUMN_SLACK);
	block_writer_free(w);
}

TEST(unknown_operations_and_arguments_are_passed_over)
{
	struct op_table *future = ALLOC(struct op_table), *read = ALLOC(struct op_table);
	struct bytes block = {0};
	const struct row *row = NULL;
	struct event ev;
	unsigned i = 0, wrong = 0;

	future_table(future);
	through_file(future, read);
	CHECK(!read->rows[FUTURE_OP].known && read->rows[OP_fsync].known);
	encode(future, &block);
	struct block_reader *r = block_reader_new(read);
	CHECK(block_open(r, block.data, block.size) == NULL);
	for (; block_next(r, &ev, &row) > 0; i++) {
		struct event want = event_at(i);
		wrong += ev.op != want.op || ev.start_ns != want.start_ns || ev.mode != 0 ||
		         ev.value.size != 0;
		wrong += row->known != (i % 3 != 1);
		wrong += row->known && (ev.file != want.file || ev.handle != want.handle);
	}
	CHECK_EQ(i, EVENTS);
	CHECK_EQ(wrong, 0);
	block_reader_free(r);
	bytes_free(&block);
	free(future);
	free(read);
}

/* Cut anywhere, a block is refused when it is opened or before its events run out. */
TEST(a_block_that_is_cut_off_is_refused)
{
	struct op_table *table = ALLOC(struct op_table);
	struct bytes block = {0};
	const struct row *row;
	struct event ev;

	op_table_native(table);
	struct block_writer *w = block_writer_new(table);
	for (unsigned i = 0; i < 50; i++) {
		ev = event_at(i);
		ev.op = i % 2 ? OP_write : OP_rename;
		block_add(w, &ev);
	}
	block_finish(w, &block);
	struct block_reader *r = block_reader_new(table);
	for (size_t size = 0; size < block.size; size++) {
		auto_free uint8_t *copy = xcalloc(1, size + COLUMN_SLACK);
		memcpy(copy, block.data, size);
		if (block_open(r, copy, size))
			continue;
		while (block_next(r, &ev, &row) > 0)
			;
		if (!CHECK_EQ(block_next(r, &ev, &row), -1))
			break;
	}
	block_reader_free(r);
	block_writer_free(w);
	bytes_free(&block);
	free(table);
}

TEST(tables_of_operations_that_are_malformed_are_refused)
{
	struct op_table *t = ALLOC(struct op_table);
	struct bytes good = {0};
	struct error err = {0};
	unsigned refused = 0;

	op_table_native(t);
	op_table_encode(t, &good);
	for (size_t size = 1; size < good.size; size++) {
		struct cursor c = cursor_of(good.data, size);
		refused += op_table_decode(t, &c, "cut", &err) < 0;
	}
	CHECK(refused > good.size * 9 / 10);
	good.data[2] = '\n';
	struct cursor c = cursor_of(good.data, good.size);
	CHECK(op_table_decode(t, &c, "name", &err) < 0);
	CHECK(strstr(err.text, "name") != NULL);
	bytes_free(&good);
	free(t);
}
