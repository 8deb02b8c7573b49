/* SPDX-License-Identifier: MIT */
/*
 * Columns of a block, in the order in which they are stored:
 *
 *   THREAD, OP                                       of all events
 *   each argument, RESULT, FLAGS, THINK, TOOK, CPU   of the events of each operation, in turn
 *
 * An event is decoded in the order thread, operation, handle, file, size, other arguments, then the
 * five fixed columns; whatever came before may predict what follows. Times are kept as two
 * durations: THINK from the end of the thread's previous event to the start of this one, and TOOK.
 */
#include "block.h"

#include <math.h>
#include <xxhash.h>
#include <zstd.h>

#include "clock.h"
#include "steps.h"
#include "vec.h"

enum {
	COL_RESULT = ROW_ARGS,
	COL_FLAGS,
	COL_THINK,
	COL_TOOK,
	COL_CPU,
	ROW_COLUMNS,
	COL_THREAD = ROW_COLUMNS,
	COL_OP,
};

#define KEY_TIMES MIX(UINT64_C(0x74696d6573)) /* memory of each thread's last end */

static struct model_key fixed_key(unsigned op, unsigned column)
{
	return model_key(op, column, column, KIND_COUNT);
}

/* Arguments of one name share memories between operations. */
static struct model_key arg_key(unsigned op, unsigned column, const struct row_arg *arg)
{
	uint64_t slot = 0;

	for (const char *s = arg->slot; *s; s++)
		slot = slot * 131 + (uint8_t)*s;
	return model_key(op, column, slot + 256, arg->kind);
}

static uint64_t *thread_end(struct model *m, const struct facts *f)
{
	return model_cell(m, KEY_TIMES + f->thread);
}

/* What the arguments decoded later may be predicted from: ids spread, sizes as they are. */
struct fact {
	size_t at; /* offset in struct facts */
	uint64_t factor;
};

static struct fact fact_of(const struct row *row, unsigned arg)
{
	if (arg == row->handle)
		return (struct fact){offsetof(struct facts, handle), MIX(1)};
	if (arg == row->file)
		return (struct fact){offsetof(struct facts, file), MIX(1)};
	if (arg == row->size)
		return (struct fact){offsetof(struct facts, size), 1};
	return (struct fact){offsetof(struct facts, other), 0};
}

static inline void fact_note(struct facts *f, const struct fact *fact, uint64_t value)
{
	*(uint64_t *)(void *)((char *)f + fact->at) = value * fact->factor;
}

/* ---- which predictions are tried for which kind of column ---- */

#define CODES_MAX 8

struct code_list {
	struct column_code codes[CODES_MAX];
	uint8_t count;
};

#define SAME(p)                                                                                    \
	{                                                                                          \
		PREDICT_##p, false                                                                 \
	}
#define DIFF(p)                                                                                    \
	{                                                                                          \
		PREDICT_##p, true                                                                  \
	}
/* clang-format off */
#define CODES(...) {{__VA_ARGS__}, sizeof((struct column_code[]){__VA_ARGS__}) / sizeof(struct column_code)}

static const struct code_list arg_codes[KIND_COUNT] = {
	[KIND_FILE]    = CODES(SAME(HANDLE), SAME(THREAD), SAME(PATTERN1), SAME(PATTERN2), DIFF(NEWEST), SAME(NONE)),
	[KIND_HANDLE]  = CODES(SAME(THREAD), SAME(PATTERN1), SAME(PATTERN2), SAME(PATTERN3), DIFF(NEWEST), SAME(NONE)),
	[KIND_NAME]    = CODES(DIFF(NEWEST), SAME(THREAD), SAME(PATTERN1), SAME(PATTERN2), SAME(NONE)),
	[KIND_OFFSET]  = CODES(DIFF(NEXT), SAME(PATTERN1), SAME(PATTERN2), SAME(NONE), DIFF(LAST), DIFF(FILE), SAME(NEXT)),
	[KIND_SIZE]    = CODES(SAME(NONE), SAME(PATTERN1), SAME(PATTERN2), SAME(PATTERN3), SAME(FILE), DIFF(FILE)),
	[KIND_FLAGS]   = CODES(SAME(NONE), SAME(HANDLE), SAME(PATTERN1), SAME(THREAD)),
	[KIND_MODE]    = CODES(SAME(NONE), SAME(PATTERN1), SAME(THREAD)),
	[KIND_NUMBER]  = CODES(SAME(NONE), SAME(HANDLE), SAME(PATTERN1), SAME(PATTERN2), SAME(THREAD), DIFF(LAST)),
	[KIND_TIME]    = CODES(DIFF(LAST), SAME(NONE), SAME(THREAD)),
	[KIND_BYTES]   = CODES(DIFF(NEWEST), SAME(THREAD), SAME(PATTERN1), SAME(NONE)),
	[KIND_CONTENT] = CODES(SAME(NONE), SAME(LAST), SAME(FILE), SAME(PATTERN1)),
	[KIND_HASH]    = CODES(DIFF(NEWEST), SAME(NONE)),
};

/* Of kinds without memories of their own. */
static const struct code_list other_codes = CODES(SAME(NONE), SAME(THREAD), SAME(PATTERN1));

static const struct code_list fixed_codes[] = {
	[COL_RESULT - ROW_ARGS] = CODES(SAME(NONE), SAME(SIZE), SAME(PATTERN1), SAME(PATTERN2), SAME(FILE)),
	[COL_FLAGS - ROW_ARGS]  = CODES(SAME(NONE), SAME(PATTERN1)),
	[COL_THINK - ROW_ARGS]  = CODES(DIFF(NONE)),
	[COL_TOOK - ROW_ARGS]   = CODES(SAME(NONE)),
	[COL_CPU - ROW_ARGS]    = CODES(SAME(NONE), DIFF(THINK)),
	[COL_THREAD - ROW_ARGS] = CODES(SAME(NONE), SAME(LAST), SAME(PATTERN1), SAME(PATTERN3)),
	[COL_OP - ROW_ARGS]     = CODES(SAME(NONE), SAME(PATTERN1), SAME(PATTERN2), SAME(PATTERN3)),
};
/* clang-format on */

/* ---- writing ---- */

/* Blocks between two rounds of choosing predictions, and events looked at for it. */
#define CHOOSE_EVERY  16
#define CHOOSE_EVENTS 2048

struct row_event {
	uint64_t thread, op;
	uint64_t result, flags, think, took, cpu;
	uint64_t args[OP_MAX_ARGS];
};

/* A column of the block in the making: residuals of each code that is being tried. */
struct draft {
	struct model_key key;
	const struct code_list *codes;
	uint8_t choice;                   /* in `codes` */
	uint8_t first, tried;             /* those in this pass: the choice, or all */
	struct model_key keys[CODES_MAX]; /* of each */
	uint32_t count, filled;
	struct residual *residuals; /* tried * count */
};

struct string_slot {
	uint32_t index; /* + 1; 0 = free */
	uint32_t at, size;
};

/* A block may end so many events early if that cuts no step off the call that follows it; one whose
 * thread has not gone on within this time has nothing to wait for. */
#define BLOCK_SLACK 256
#define STEP_AGE_NS (5 * NSEC_PER_MSEC)

#define STRING_SLOTS (4 * BLOCK_EVENTS)
#define HASH_SLOTS   16384

struct block_writer {
	const struct op_table *table;
	struct row_event *rows;
	size_t count;
	uint64_t base_ns, end_ns;
	uint32_t op_counts[OPS_MAX];
	uint64_t blocks;

	struct draft common[2]; /* THREAD, OP */
	struct draft (*ops)[ROW_COLUMNS];
	struct residual *pool;
	size_t pool_size, pool_room;
	struct model *model;
	struct model_use use;
	struct packer *packer;

	struct string_slot *strings;
	uint32_t string_count;
	struct bytes string_sizes, string_data, string_blob;
	struct steps *steps;

	/* Data written before: its hash and the number it got. */
	struct {
		uint64_t hash, number;
	} * contents;
	uint64_t content_count;
};

static void draft_init(struct draft *d, struct model_key key, const struct code_list *codes)
{
	*d = (struct draft){.key = key, .codes = codes};
}

static const struct code_list *arg_code_list(const struct row_arg *arg)
{
	return arg->kind < KIND_COUNT ? &arg_codes[arg->kind] : &other_codes;
}

struct block_writer *block_writer_new(const struct op_table *table)
{
	struct block_writer *b = ALLOC(struct block_writer);

	b->table = table;
	b->rows = ALLOC_ARRAY(struct row_event, BLOCK_EVENTS);
	b->ops = xcalloc(OPS_MAX, sizeof(*b->ops));
	b->model = ALLOC(struct model);
	b->packer = packer_new();
	b->steps = steps_new();
	bytes_reserve(&b->string_data, 1);
	b->strings = ALLOC_ARRAY(struct string_slot, STRING_SLOTS);
	b->contents = xcalloc(HASH_SLOTS, sizeof(*b->contents));
	for (unsigned c = 0; c < 2; c++)
		draft_init(&b->common[c], fixed_key(0, COL_THREAD + c),
			&fixed_codes[COL_THREAD + c - ROW_ARGS]);
	for (unsigned op = 0; op < OPS_MAX; op++) {
		const struct row *row = &table->rows[op];
		for (unsigned a = 0; a < row->arg_count; a++)
			draft_init(&b->ops[op][a], arg_key(op, a, &row->args[a]),
				arg_code_list(&row->args[a]));
		for (unsigned c = COL_RESULT; c < ROW_COLUMNS; c++)
			draft_init(&b->ops[op][c], fixed_key(op, c), &fixed_codes[c - ROW_ARGS]);
	}
	return b;
}

void block_writer_free(struct block_writer *b)
{
	if (!b)
		return;
	packer_free(b->packer);
	steps_free(b->steps);
	bytes_free(&b->string_sizes);
	bytes_free(&b->string_data);
	bytes_free(&b->string_blob);
	free(b->rows);
	free(b->ops);
	free(b->model);
	free(b->pool);
	free(b->strings);
	free(b->contents);
	free(b);
}

static uint64_t string_index(struct block_writer *b, const struct text *t)
{
	const char *data = t->size ? t->data : "";
	size_t i = XXH3_64bits(data, t->size) % STRING_SLOTS;

	for (; b->strings[i].index; i = (i + 1) % STRING_SLOTS) {
		struct string_slot *s = &b->strings[i];
		if (s->size == t->size && !memcmp(&b->string_data.data[s->at], data, t->size))
			return s->index - 1;
	}
	b->strings[i] = (struct string_slot){
		++b->string_count, (uint32_t)b->string_data.size, (uint32_t)t->size};
	put_varint(&b->string_sizes, t->size);
	put_bytes(&b->string_data, data, t->size);
	return b->string_count - 1;
}

/*
 * Equal data get equal numbers, new data the next one: that is all a hash is good for to a reader,
 * and it costs next to nothing on disk. What was written HASH_SLOTS writes ago may be forgotten.
 */
static uint64_t content_number(struct block_writer *b, uint64_t hash)
{
	if (!hash)
		return 0;
	size_t i = MIX(hash) % HASH_SLOTS;
	if (b->contents[i].hash != hash) {
		b->contents[i].hash = hash;
		b->contents[i].number = ++b->content_count;
	}
	return b->contents[i].number;
}

static void follow_steps(struct block_writer *b, const struct event *ev)
{
	uint32_t first = steps_note(b->steps, ev, (uint32_t)b->count);

	if (first != STEPS_NONE)
		b->rows[first].flags |= EVENT_DERIVED;
}

void block_add(struct block_writer *b, const struct event *ev)
{
	const struct row *row = &b->table->rows[ev->op];

	follow_steps(b, ev);
	struct row_event *r = &b->rows[b->count++];
	*r = (struct row_event){
		.thread = ev->thread,
		.op = ev->op,
		.result = zigzag(ev->result),
		.flags = ev->event_flags & ~(uint32_t)EVENT_STEP,
		.think = ev->start_ns, /* made a difference by block_model() */
		.took = ev->took_ns,
		.cpu = ev->cpu_ns,
	};
	for (unsigned a = 0; a < row->arg_count; a++) {
		const void *slot = (const char *)ev + row->args[a].at;
		if (row->args[a].text)
			r->args[a] = string_index(b, slot);
		else
			r->args[a] = *(const uint64_t *)slot;
		if (row->args[a].kind == KIND_HASH)
			r->args[a] = content_number(b, r->args[a]);
	}
	b->op_counts[ev->op]++;
	b->end_ns = event_end_ns(ev);
}

size_t block_count(const struct block_writer *b)
{
	return b->count;
}

bool block_full(const struct block_writer *b)
{
	return b->count == BLOCK_EVENTS || b->string_data.size >= BLOCK_STRINGS ||
	       (b->count >= BLOCK_EVENTS - BLOCK_SLACK && block_settled(b));
}

bool block_settled(const struct block_writer *b)
{
	uint64_t open_ns = steps_open_ns(b->steps);

	return !open_ns || open_ns + STEP_AGE_NS < b->end_ns;
}

static void draft_put(struct draft *d, struct model *m, const struct facts *f, uint64_t value)
{
	struct residual *r = &d->residuals[d->filled++];

	for (unsigned i = 0; i < d->tried; i++, r += d->count) {
		uint64_t *cell, p = model_predict(m, &d->keys[i], f, &cell);
		model_learn(&d->keys[i], cell, f, value);
		r->hit = d->keys[i].predict != PREDICT_NONE && p == value;
		r->value = d->codes->codes[d->first + i].difference ? value - p : value;
	}
	model_remember(m, &d->keys[0], f, value);
}

static void row_put(struct block_writer *b, const struct row_event *e)
{
	const struct row *row = &b->table->rows[e->op];
	struct draft *d = b->ops[e->op];
	struct model *m = b->model;
	struct facts f = {0};

	draft_put(&b->common[0], m, &f, e->thread);
	f.thread = MIX(e->thread);
	draft_put(&b->common[1], m, &f, e->op);
	for (unsigned i = 0; i < row->arg_count; i++) {
		unsigned a = row->order[i];
		draft_put(&d[a], m, &f, e->args[a]);
		struct fact fact = fact_of(row, a);
		fact_note(&f, &fact, e->args[a]);
	}
	draft_put(&d[COL_RESULT], m, &f, e->result);
	draft_put(&d[COL_FLAGS], m, &f, e->flags);
	uint64_t start = e->think - b->base_ns;
	f.think = start - *thread_end(m, &f);
	draft_put(&d[COL_THINK], m, &f, f.think);
	draft_put(&d[COL_TOOK], m, &f, e->took);
	draft_put(&d[COL_CPU], m, &f, e->cpu);
	*thread_end(m, &f) = start + e->took;
}

static void draft_start(struct block_writer *b, struct draft *d, size_t count, bool choose)
{
	d->first = choose ? 0 : d->choice;
	d->tried = choose ? d->codes->count : 1;
	for (unsigned i = 0; i < d->tried; i++) {
		d->keys[i] = model_key_for(d->key, d->codes->codes[d->first + i].predict);
		d->keys[0].patterns |= d->keys[i].patterns;
		model_use_add(&b->use, &d->keys[i]);
	}
	d->count = (uint32_t)count;
	d->filled = 0;
	d->residuals = &b->pool[b->pool_size];
	b->pool_size += d->tried * count;
}

/* Call `f` for every column of the block, in the order of the file. */
#define draft_each(b, counts, total, d, n)                                                         \
	for (unsigned op_ = 0; op_ < OPS_MAX; op_++)                                               \
		for (unsigned c_ = 0, n = op_ ? (counts)[op_] : (uint32_t)(total);                 \
			n && c_ < (op_ ? ROW_COLUMNS : 2); c_++)                                   \
			for (struct draft *d = op_ ? &(b)->ops[op_][c_] : &(b)->common[c_];        \
				d && d->codes; d = NULL)

/* Run the first `count` rows through the model. */
static void block_model(struct block_writer *b, size_t count, bool choose)
{
	uint32_t counts[OPS_MAX] = {0};
	size_t need = 0;

	for (size_t i = 0; i < count; i++)
		counts[b->rows[i].op]++;
	draft_each(b, counts, count, d, n) need += n * (choose ? d->codes->count : 1);
	if (need > b->pool_room) {
		free(b->pool);
		b->pool = ALLOC_ARRAY(struct residual, need);
		b->pool_room = need;
	}
	b->pool_size = 0;
	memset(&b->use, 0, sizeof(b->use));
	draft_each(b, counts, count, d, n) draft_start(b, d, n, choose);
	draft_each(b, counts, count, d, n) model_use_apply(&b->use, &d->keys[0]);
	model_clear(b->model);
	for (size_t i = 0; i < count; i++)
		row_put(b, &b->rows[i]);
}

static void draft_choose(struct packer *p, struct draft *d)
{
	double best = INFINITY;

	for (uint8_t i = 0; i < d->tried; i++) {
		const struct residual *r = d->residuals + (size_t)i * d->count;
		double cost = column_cost(p, d->codes->codes[i], r, d->count);
		if (cost < best) {
			best = cost;
			d->choice = i;
		}
	}
}

static void block_choose(struct block_writer *b)
{
	size_t count = min_u64(b->count, CHOOSE_EVENTS);
	uint32_t counts[OPS_MAX] = {0};

	block_model(b, count, true);
	for (size_t i = 0; i < count; i++)
		counts[b->rows[i].op]++;
	draft_each(b, counts, count, d, n) draft_choose(b->packer, d);
}

static void put_head(struct block_writer *b, struct bytes *out)
{
	unsigned ops = 0;

	for (unsigned op = 0; op < OPS_MAX; op++)
		ops += b->op_counts[op] != 0;
	put_u32(out, (uint32_t)b->count);
	put_u64(out, b->base_ns);
	put_u64(out, b->end_ns);
	put_u8(out, (uint8_t)ops);
	for (unsigned op = 0; op < OPS_MAX; op++) {
		if (!b->op_counts[op])
			continue;
		put_u8(out, (uint8_t)op);
		put_varint(out, b->op_counts[op]);
	}
}

static void put_strings(struct block_writer *b, struct bytes *out)
{
	struct bytes *sizes = &b->string_sizes, *blob = &b->string_blob;

	put_varint(out, b->string_count);
	put_bytes(sizes, b->string_data.data, b->string_data.size);
	put_varint(out, sizes->size);
	blob->size = 0;
	bytes_reserve(blob, ZSTD_compressBound(sizes->size));
	size_t n = ZSTD_compress(blob->data, blob->capacity, sizes->data, sizes->size, 1);
	if (ZSTD_isError(n) || n >= sizes->size) {
		put_varint(out, sizes->size);
		put_bytes(out, sizes->data, sizes->size);
	} else {
		put_varint(out, n);
		put_bytes(out, blob->data, n);
	}
}

static void block_reset(struct block_writer *b)
{
	b->base_ns = b->end_ns;
	b->count = 0;
	b->blocks++;
	memset(b->op_counts, 0, sizeof(b->op_counts));
	memset(b->strings, 0, STRING_SLOTS * sizeof(*b->strings));
	b->string_count = 0;
	b->string_sizes.size = b->string_data.size = 0;
	steps_clear(b->steps);
}

void block_finish(struct block_writer *b, struct bytes *out)
{
	if (b->blocks % CHOOSE_EVERY == 0)
		block_choose(b);
	block_model(b, b->count, false);
	put_head(b, out);
	draft_each(b, b->op_counts, b->count, d, n)
		column_pack(b->packer, d->codes->codes[d->choice], d->residuals, n, out);
	put_strings(b, out);
	block_reset(b);
}

/* ---- reading ---- */

/* A column and what predicts it. */
struct stream {
	struct column column;
	struct model_key key;
};

/* Values that are ready, depend on nothing and feed nothing. */
struct plain {
	const uint64_t *next;
	size_t at; /* where they go: an offset in struct event */
};

/* An argument that needs the model, or feeds it. */
struct live {
	struct stream *stream;
	const struct row_arg *arg;
	struct fact fact;
};

/*
 * How to decode an event of one operation in this block. Until they are all there, event->start_ns
 * holds THINK and event->result is folded as in the file.
 */
struct recipe {
	struct event event; /* with all that is the same in each */
	struct facts facts;
	struct plain plain[ROW_COLUMNS];
	struct live args[ROW_ARGS];
	uint8_t plain_count, arg_count;
	uint32_t live; /* of the fixed columns: a bit for each that needs the model */
};

struct block_reader {
	const struct op_table *table;
	struct block_info info;
	uint32_t done;
	uint32_t left[OPS_MAX];
	struct stream common[2]; /* THREAD, OP */
	struct stream (*ops)[ROW_COLUMNS];
	struct model_key common_keys[2], (*op_keys)[ROW_COLUMNS]; /* without a prediction */
	struct recipe *recipes;
	bool bad; /* a column has run out */
	struct model *model;
	struct unpacker *unpacker;
	struct bytes strings;
	uint32_t *string_ends; /* of each string in `strings` */
	uint64_t string_count;
	size_t string_base;
};

struct block_reader *block_reader_new(const struct op_table *table)
{
	struct block_reader *b = ALLOC(struct block_reader);

	b->table = table;
	b->ops = xcalloc(OPS_MAX, sizeof(*b->ops));
	b->op_keys = xcalloc(OPS_MAX, sizeof(*b->op_keys));
	b->recipes = ALLOC_ARRAY(struct recipe, OPS_MAX);
	b->model = ALLOC(struct model);
	b->unpacker = unpacker_new();
	for (unsigned c = 0; c < 2; c++)
		b->common_keys[c] = fixed_key(0, COL_THREAD + c);
	for (unsigned op = 0; op < OPS_MAX; op++) {
		const struct row *row = &table->rows[op];
		for (unsigned a = 0; a < row->arg_count; a++)
			b->op_keys[op][a] = arg_key(op, a, &row->args[a]);
		for (unsigned c = COL_RESULT; c < ROW_COLUMNS; c++)
			b->op_keys[op][c] = fixed_key(op, c);
	}
	return b;
}

void block_reader_free(struct block_reader *b)
{
	if (!b)
		return;
	unpacker_free(b->unpacker);
	bytes_free(&b->strings);
	free(b->ops);
	free(b->op_keys);
	free(b->recipes);
	free(b->model);
	free(b->string_ends);
	free(b);
}

static bool get_info(struct cursor *c, struct block_info *ret)
{
	ret->events = get_u32(c);
	ret->base_ns = get_u64(c);
	ret->end_ns = get_u64(c);
	return !c->bad && ret->events && ret->events <= BLOCK_EVENTS;
}

bool block_peek(const void *payload, size_t size, struct block_info *ret)
{
	struct cursor c = cursor_of(payload, size);

	return get_info(&c, ret);
}

/* How many events of which operations; `ops` gets their numbers in the order of the file. */
static bool get_counts(struct block_reader *b, struct cursor *c, uint8_t *ops, unsigned *ret_count)
{
	uint64_t total = 0;

	memset(b->left, 0, sizeof(b->left));
	*ret_count = get_u8(c);
	if (*ret_count > OPS_MAX)
		return false;
	for (unsigned i = 0; i < *ret_count; i++) {
		uint8_t op = get_u8(c);
		uint64_t n = get_varint(c);
		if (!op || op >= OPS_MAX || !b->table->rows[op].name[0] || b->left[op] || !n ||
			n > b->info.events)
			return false;
		ops[i] = op;
		b->left[op] = (uint32_t)n;
		total += n;
	}
	return !c->bad && total == b->info.events;
}

/* In all columns of the block together. */
static size_t values_in(const struct block_reader *b, const uint8_t *ops, unsigned count)
{
	size_t values = 2 * (size_t)b->info.events;

	for (unsigned i = 0; i < count; i++) {
		size_t columns = b->table->rows[ops[i]].arg_count + ROW_COLUMNS - COL_RESULT;
		values += b->left[ops[i]] * columns;
	}
	return values;
}

/* A prediction may use only what is decoded before: thread, op, handle, file, size, the rest. */
static unsigned usable(const struct row *row, unsigned column)
{
	const unsigned any = 1u << PREDICT_NONE | 1u << PREDICT_LAST | 1u << PREDICT_THREAD |
	                     1u << PREDICT_PATTERN1 | 1u << PREDICT_PATTERN2 |
	                     1u << PREDICT_PATTERN3 | 1u << PREDICT_NEWEST;
	const unsigned by_handle = any | 1u << PREDICT_HANDLE;
	const unsigned by_file = by_handle | 1u << PREDICT_FILE;

	if (column == COL_THREAD || column == COL_OP || column == row->handle)
		return any;
	if (column == row->file)
		return by_handle;
	if (column == row->size)
		return by_file;
	return by_file | 1u << PREDICT_NEXT | 1u << PREDICT_SIZE | 1u << PREDICT_THINK;
}

static bool stream_open(struct block_reader *b, struct cursor *c, struct stream *s, size_t count,
	const struct model_key *key, unsigned predictions)
{
	if (!column_open(b->unpacker, c, count, &b->bad, &s->column))
		return false;
	/* A memory that this column's kind does not feed would be another's. */
	predictions &= ~((key->by_handle ? 0 : 1u << PREDICT_HANDLE) |
			 (key->newest ? 0 : 1u << PREDICT_NEWEST));
	if (!(predictions >> s->column.code.predict & 1))
		return false;
	s->key = model_key_for(*key, s->column.code.predict);
	return true;
}

static bool get_columns(
	struct block_reader *b, struct cursor *c, const uint8_t *ops, unsigned count)
{
	static const struct row none = {.handle = ROW_NONE, .file = ROW_NONE, .size = ROW_NONE};
	bool good = true;

	for (unsigned i = 0; i < 2 && good; i++)
		good = stream_open(b, c, &b->common[i], b->info.events, &b->common_keys[i],
			usable(&none, COL_OP));
	for (unsigned i = 0; i < count && good; i++) {
		const struct row *row = &b->table->rows[ops[i]];
		const struct model_key *keys = b->op_keys[ops[i]];
		struct stream *s = b->ops[ops[i]];
		size_t n = b->left[ops[i]];
		for (unsigned a = 0; a < row->arg_count && good; a++)
			good = stream_open(b, c, &s[a], n, &keys[a], usable(row, a));
		for (unsigned f = COL_RESULT; f < ROW_COLUMNS && good; f++)
			good = stream_open(b, c, &s[f], n, &keys[f], usable(&none, f));
	}
	return good;
}

/* Sizes come first, then the bytes; both in `strings`. */
static bool split_strings(struct block_reader *b)
{
	struct cursor c = cursor_of(b->strings.data, b->strings.size);
	uint64_t end = 0;

	for (uint64_t i = 0; i < b->string_count; i++) {
		uint64_t size = get_varint(&c);
		if (size > TEXT_MAX)
			return false;
		end += size;
		b->string_ends[i] = (uint32_t)end;
	}
	b->string_base = (size_t)(c.pos - b->strings.data);
	return !c.bad && end == cursor_left(&c);
}

static bool get_strings(struct block_reader *b, struct cursor *c)
{
	b->string_count = get_varint(c);
	uint64_t raw = get_varint(c), stored = get_varint(c);
	const uint8_t *p = stored <= FRAME_MAX ? get_bytes(c, stored) : NULL;

	if (!p || b->string_count > (uint64_t)b->info.events * ROW_ARGS || raw > FRAME_MAX)
		return false;
	b->string_ends = xrealloc(b->string_ends, b->string_count, sizeof(*b->string_ends));
	b->strings.size = 0;
	bytes_reserve(&b->strings, raw + 1);
	if (stored == raw)
		put_bytes(&b->strings, p, raw);
	else if (ZSTD_decompress(b->strings.data, raw, p, stored) != raw)
		return false;
	b->strings.size = raw;
	return split_strings(b);
}

static bool text_take(struct block_reader *b, uint64_t index, struct text *ret)
{
	if (index >= b->string_count)
		return false;
	uint32_t begin = index ? b->string_ends[index - 1] : 0;
	ret->data = (const char *)b->strings.data + b->string_base + begin;
	ret->size = b->string_ends[index] - begin;
	return true;
}

/* Put an argument where it belongs; what this build has no slot for is dropped. */
static inline void arg_store(
	struct block_reader *b, const struct row_arg *arg, struct event *ev, uint64_t value)
{
	void *slot = (char *)ev + arg->at;

	if (arg->at < 0)
		return;
	if (!arg->text)
		*(uint64_t *)slot = value;
	else if (!text_take(b, value, slot))
		b->bad = true;
}

/* It neither needs the model nor feeds it. */
static bool stream_is_apart(const struct stream *s)
{
	return (s->column.fixed || s->column.ready) && !s->key.by_handle && !s->key.newest;
}

static void recipe_plain(struct recipe *r, const struct stream *s, size_t at)
{
	r->plain[r->plain_count++] = (struct plain){s->column.ready, at};
}

static void recipe_arg(struct block_reader *b, struct recipe *r, uint8_t op, uint8_t a)
{
	const struct row *row = &b->table->rows[op];
	const struct row_arg *arg = &row->args[a];
	struct stream *s = &b->ops[op][a];
	struct fact fact = fact_of(row, a);

	if (stream_is_apart(s) && s->column.fixed) {
		arg_store(b, arg, &r->event, s->column.fixed_value);
		fact_note(&r->facts, &fact, s->column.fixed_value);
	} else if (stream_is_apart(s) && !fact.factor && !arg->text) {
		if (arg->at >= 0)
			recipe_plain(r, s, (size_t)arg->at);
	} else {
		r->args[r->arg_count++] = (struct live){s, arg, fact};
	}
}

static void recipe_fixed(struct block_reader *b, struct recipe *r, uint8_t op, unsigned column)
{
	static const size_t at[] = {
		[COL_RESULT - COL_RESULT] = offsetof(struct event, result),
		[COL_THINK - COL_RESULT] = offsetof(struct event, start_ns),
		[COL_TOOK - COL_RESULT] = offsetof(struct event, took_ns),
		[COL_CPU - COL_RESULT] = offsetof(struct event, cpu_ns),
	};
	const struct stream *s = &b->ops[op][column];
	void *slot = (char *)&r->event + at[column - COL_RESULT];

	if (!stream_is_apart(s) || (column == COL_FLAGS && !s->column.fixed))
		r->live |= 1u << column;
	else if (column == COL_FLAGS)
		r->event.event_flags = (uint32_t)s->column.fixed_value;
	else if (s->column.fixed)
		*(uint64_t *)slot = s->column.fixed_value;
	else
		recipe_plain(r, s, at[column - COL_RESULT]);
}

static void recipe_make(struct block_reader *b, uint8_t op)
{
	const struct row *row = &b->table->rows[op];
	struct recipe *r = &b->recipes[op];

	*r = (struct recipe){.event.op = op};
	for (unsigned i = 0; i < row->arg_count; i++)
		recipe_arg(b, r, op, row->order[i]);
	for (unsigned c = COL_RESULT; c < ROW_COLUMNS; c++)
		recipe_fixed(b, r, op, c);
}

static void recipes_make(struct block_reader *b, const uint8_t *ops, unsigned count)
{
	struct model_use use = {0};

	for (unsigned i = 0; i < count; i++)
		for (unsigned c = 0; c < ROW_COLUMNS; c++)
			model_use_add(&use, &b->ops[ops[i]][c].key);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned c = 0; c < ROW_COLUMNS; c++)
			model_use_apply(&use, &b->ops[ops[i]][c].key);
		recipe_make(b, ops[i]);
	}
}

const char *block_open(struct block_reader *b, const void *payload, size_t size)
{
	struct cursor c = cursor_of(payload, size);
	uint8_t ops[OPS_MAX];
	unsigned count;

	b->done = 0;
	b->info.events = 0;
	b->bad = false;
	model_clear(b->model);
	if (!get_info(&c, &b->info))
		return "the block's head is malformed";
	if (!get_counts(b, &c, ops, &count))
		return "the block's counts of operations are malformed";
	unpacker_reset(b->unpacker, values_in(b, ops, count));
	if (!get_columns(b, &c, ops, count))
		return "a column of the block is malformed";
	if (!get_strings(b, &c))
		return "the strings of the block are malformed";
	recipes_make(b, ops, count);
	return b->bad ? "a column of the block is malformed" : NULL;
}

static inline __attribute__((always_inline)) uint64_t stream_take(
	struct model *m, struct stream *s, const struct facts *f)
{
	uint64_t v, *cell;

	if (s->column.ready) {
		v = *s->column.ready++;
	} else if (s->column.fixed) {
		v = s->column.fixed_value;
	} else {
		v = column_next(&s->column, model_predict(m, &s->key, f, &cell));
		model_learn(&s->key, cell, f, v);
	}
	model_remember(m, &s->key, f, v);
	return v;
}

static void plain_take(struct recipe *r, struct event *ev)
{
	for (unsigned i = 0; i < r->plain_count; i++)
		*(uint64_t *)(void *)((char *)ev + r->plain[i].at) = *r->plain[i].next++;
}

static void args_take(
	struct block_reader *b, const struct recipe *r, struct facts *f, struct event *ev)
{
	for (unsigned i = 0; i < r->arg_count; i++) {
		const struct live *live = &r->args[i];
		uint64_t v = stream_take(b->model, live->stream, f);
		fact_note(f, &live->fact, v);
		arg_store(b, live->arg, ev, v);
	}
}

/* Few fixed columns need the model. */
static __attribute__((noinline)) uint64_t live_take(
	struct block_reader *b, unsigned op, unsigned column, const struct facts *f)
{
	return stream_take(b->model, &b->ops[op][column], f);
}

static void fixed_take(struct block_reader *b, unsigned op, struct facts *f, struct event *ev)
{
	uint32_t live = b->recipes[op].live;

	if (live & 1u << COL_RESULT)
		ev->result = (int64_t)live_take(b, op, COL_RESULT, f);
	if (live & 1u << COL_FLAGS)
		ev->event_flags = (uint32_t)live_take(b, op, COL_FLAGS, f);
	ev->result = unzigzag((uint64_t)ev->result);
	/* The memory may change under the columns: it has no place of its own. */
	uint64_t ended = *thread_end(b->model, f);
	if (live & 1u << COL_THINK)
		ev->start_ns = live_take(b, op, COL_THINK, f);
	f->think = ev->start_ns;
	if (live & 1u << COL_TOOK)
		ev->took_ns = live_take(b, op, COL_TOOK, f);
	if (live & 1u << COL_CPU)
		ev->cpu_ns = live_take(b, op, COL_CPU, f);
	ev->start_ns = ended + f->think;
	*thread_end(b->model, f) = event_end_ns(ev);
	ev->start_ns += b->info.base_ns;
}

int block_next(struct block_reader *b, struct event *ev, const struct row **ret_row)
{
	struct facts f = {0};
	struct recipe *r;

	if (b->done == b->info.events)
		return 0;
	b->done++;
	uint64_t thread = stream_take(b->model, &b->common[0], &f);
	f.thread = MIX(thread);
	uint64_t op = stream_take(b->model, &b->common[1], &f);
	if (thread >= THREADS_MAX || op >= OPS_MAX || !b->left[op])
		return -1;
	b->left[op]--;
	*ret_row = &b->table->rows[op];
	r = &b->recipes[op];
	*ev = r->event;
	ev->thread = (uint32_t)thread;
	f = r->facts;
	f.thread = MIX(thread);
	plain_take(r, ev);
	args_take(b, r, &f, ev);
	fixed_take(b, (unsigned)op, &f, ev);
	return b->bad ? -1 : 1;
}
