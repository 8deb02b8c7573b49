/* SPDX-License-Identifier: MIT */
/*
 * What an event costs: to hand over, to pack, on disk, to read back. The stream is that of several
 * SQLite clients in WAL mode, with times that have no pattern in their nanoseconds. Beside it, in
 * turns, the plain way to store the same: records of fixed-width fields, compressed by zstd level 1.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "clock.h"
#include "content.h"
#include "reader.h"
#include "rng.h"
#include "vec.h"
#include "writer.h"

#define CLIENTS 4
#define EVENTS  400000
#define ROUNDS  5
#define PAGE    4096

struct client {
	uint64_t now_ns, cpu_ns;
	uint64_t db, wal, shm, owner; /* handles, lock owner */
	unsigned step, reads, writes; /* within the transaction */
};

struct model {
	struct rng rng;
	struct client clients[CLIENTS];
	uint64_t wal_end;
	struct event *events;
	size_t count;
};

static double uniform(struct rng *rng)
{
	return ((double)(rng_next(rng) >> 11) + 0.5) / 9007199254740992.0;
}

/* A duration about `typical`, with a long tail. */
static uint64_t duration(struct rng *rng, double typical)
{
	double normal = sqrt(-2 * log(uniform(rng))) * cos(2 * 3.14159265358979 * uniform(rng));

	return (uint64_t)(typical * exp(0.35 * normal));
}

static struct event *emit(
	struct model *m, unsigned client, enum op op, double think_ns, double took_ns)
{
	struct client *c = &m->clients[client];
	struct event *ev = &m->events[m->count++];
	uint64_t think = duration(&m->rng, think_ns), took = duration(&m->rng, took_ns);

	c->now_ns += think;
	c->cpu_ns += think + duration(&m->rng, 3000);
	*ev = (struct event){.op = op,
		.thread = client + 1,
		.start_ns = c->now_ns,
		.took_ns = took,
		.cpu_ns = c->cpu_ns};
	c->now_ns += took;
	return ev;
}

static void lock_shm(struct model *m, unsigned client, uint64_t mode, uint64_t at)
{
	struct event *ev = emit(m, client, OP_setlk, 2000, 9000);
	struct client *c = &m->clients[client];

	ev->file = 4;
	ev->handle = c->shm;
	ev->owner = c->owner;
	ev->mode = mode;
	ev->offset = at;
	ev->size = 1;
}

static void transfer(struct model *m, unsigned client, enum op op, uint64_t file, uint64_t handle,
	uint64_t offset, uint64_t size)
{
	struct event *ev = emit(m, client, op, 4000, 8000 + (double)size);

	ev->file = file;
	ev->handle = handle;
	ev->offset = offset;
	ev->size = size;
	ev->flags = 02;
	ev->result = (int64_t)size;
	if (op == OP_write) {
		ev->content =
			size == PAGE ? CONTENT_WORDS + 2 + rng_below(&m->rng, 3) : CONTENT_RANDOM;
		ev->hash = rng_next(&m->rng);
	}
}

/* One step of a transaction: locks, page reads, frames appended to the WAL, one sync. */
static void step(struct model *m, unsigned client)
{
	struct client *c = &m->clients[client];

	switch (c->step) {
	case 0:
		c->reads = (unsigned)rng_below(&m->rng, 5);
		c->writes = 3 + (unsigned)rng_below(&m->rng, 4);
		lock_shm(m, client, 0, 124);
		break;
	case 1:
		if (!c->reads)
			break;
		c->reads--;
		transfer(m, client, OP_read, 2, c->db, rng_below(&m->rng, 20000) * PAGE, PAGE);
		return;
	case 2:
		lock_shm(m, client, 1, 120);
		break;
	case 3:
		transfer(m, client, OP_write, 3, c->wal, m->wal_end, 24);
		transfer(m, client, OP_write, 3, c->wal, m->wal_end + 24, PAGE);
		m->wal_end = m->wal_end > 4000000 ? 32 : m->wal_end + 24 + PAGE;
		if (--c->writes)
			return;
		break;
	case 4:
		emit(m, client, OP_fdatasync, 2000, 400000)->file = 3;
		m->events[m->count - 1].handle = c->wal;
		break;
	case 5:
		lock_shm(m, client, 2, 120);
		break;
	default:
		lock_shm(m, client, 2, 124);
		c->step = 0;
		return;
	}
	c->step++;
}

/* The client that is furthest behind goes on; ends are then sorted. */
static int by_end(const void *a, const void *b)
{
	uint64_t x = event_end_ns(a), y = event_end_ns(b);

	return x < y ? -1 : x > y;
}

static void make_events(struct model *m)
{
	rng_init(&m->rng, 1);
	m->events = ALLOC_ARRAY(struct event, EVENTS + 2);
	m->wal_end = 32;
	for (unsigned i = 0; i < CLIENTS; i++) {
		m->clients[i] = (struct client){.now_ns = 1000 * i,
			.cpu_ns = 1,
			.db = 3 * i + 1,
			.wal = 3 * i + 2,
			.shm = 3 * i + 3,
			.owner = rng_next(&m->rng)};
	}
	while (m->count < EVENTS) {
		unsigned next = 0;
		for (unsigned i = 1; i < CLIENTS; i++)
			if (m->clients[i].now_ns < m->clients[next].now_ns)
				next = i;
		step(m, next);
	}
	m->count = EVENTS;
	qsort(m->events, m->count, sizeof(*m->events), by_end);
}

struct costs {
	double put_ns, pack_ns, read_ns, bytes;           /* of the trace */
	double plain_pack_ns, plain_read_ns, plain_bytes; /* of records and zstd */
};

static void die(const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void write_trace(const struct model *m, const char *path, struct costs *c)
{
	struct trace_writer *w;
	struct error err = {0};
	struct trace_totals totals;

	if (trace_writer_open(&w, path, NULL, &err) < 0)
		die(&err);
	for (unsigned i = 0; i < CLIENTS; i++)
		trace_writer_thread(w, &(struct trace_thread){.tid = i});
	struct trace_buffer *b = trace_buffer_new(w);
	uint64_t process = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (size_t i = 0; i < m->count; i++)
		trace_put(b, &m->events[i]);
	uint64_t put = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	if (trace_writer_close(w, &totals, &err) < 0)
		die(&err);
	process = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
	c->put_ns = (double)put / (double)m->count;
	c->pack_ns = (double)(process - put) / (double)m->count;
	c->bytes = (double)totals.file_bytes / (double)m->count;
}

static void read_trace(const struct model *m, const char *path, struct costs *c)
{
	struct trace_reader *r;
	struct error err = {0};
	struct event ev;
	uint64_t bytes = 0, begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (trace_reader_open(&r, path, &err) < 0)
		die(&err);
	while (trace_reader_next(r, &ev, &err) > 0)
		bytes += ev.size;
	c->read_ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)m->count;
	if (!trace_reader_health(r)->complete || !bytes)
		die(&err);
	trace_reader_close(r);
}

/* Time, thread and result, and a field of 8 bytes per argument. */
static size_t plain_record(const struct event *ev, uint64_t *out)
{
	const struct op_desc *op = &op_descs[ev->op];
	size_t n = 0;

	out[n++] = ev->op | (uint64_t)ev->thread << 32;
	out[n++] = ev->start_ns;
	out[n++] = ev->took_ns;
	out[n++] = ev->cpu_ns;
	out[n++] = (uint64_t)ev->result;
	for (unsigned a = 0; a < op->arg_count; a++)
		out[n++] = *event_number(ev, &op->args[a]);
	return n;
}

#define BATCH 8192

static void plain(const struct model *m, struct costs *c)
{
	uint64_t *raw = ALLOC_ARRAY(uint64_t, BATCH * 16),
		 *again = ALLOC_ARRAY(uint64_t, BATCH * 16);
	size_t room = ZSTD_compressBound(BATCH * 16 * 8), total = 0;
	void *packed = xmalloc(room);
	uint64_t pack = 0, unpack = 0;

	for (size_t i = 0; i < m->count;) {
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		size_t words = 0;
		for (size_t end = min_u64(i + BATCH, m->count); i < end; i++)
			words += plain_record(&m->events[i], raw + words);
		size_t n = ZSTD_compress(packed, room, raw, words * 8, 1);
		uint64_t middle = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		ZSTD_decompress(again, BATCH * 16 * 8, packed, n);
		unpack += clock_ns(CLOCK_THREAD_CPUTIME_ID) - middle;
		pack += middle - begin;
		total += n;
	}
	c->plain_pack_ns = (double)pack / (double)m->count;
	c->plain_read_ns = (double)unpack / (double)m->count;
	c->plain_bytes = (double)total / (double)m->count;
	free(raw);
	free(again);
	free(packed);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median over the rounds of the field at `offset`. */
static double middle(const struct costs *rounds, size_t offset)
{
	double values[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		values[i] = *(const double *)((const char *)&rounds[i] + offset);
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

#define MIDDLE(field) middle(rounds, offsetof(struct costs, field))

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/dev/shm/bench-trace.reel";
	static struct model m;
	struct costs rounds[ROUNDS];

	make_events(&m);
	for (int i = 0; i < ROUNDS; i++) {
		write_trace(&m, path, &rounds[i]);
		read_trace(&m, path, &rounds[i]);
		plain(&m, &rounds[i]);
	}
	printf("%d events of %d SQLite clients in WAL mode, median of %d rounds, CPU time\n\n",
		EVENTS, CLIENTS, ROUNDS);
	printf("                 trace   records+zstd-1   ratio\n");
	printf("bytes/event    %7.2f   %14.2f   %5.2f\n", MIDDLE(bytes), MIDDLE(plain_bytes),
		MIDDLE(bytes) / MIDDLE(plain_bytes));
	printf("put ns/event   %7.0f\n", MIDDLE(put_ns));
	printf("pack ns/event  %7.0f   %14.0f   %5.2f\n", MIDDLE(pack_ns), MIDDLE(plain_pack_ns),
		MIDDLE(pack_ns) / MIDDLE(plain_pack_ns));
	printf("read ns/event  %7.0f   %14.0f\n", MIDDLE(read_ns), MIDDLE(plain_read_ns));
	printf("read M events/s %6.2f\n", 1e3 / MIDDLE(read_ns));
	if (argc <= 1)
		unlink(path);
	free(m.events);
	return 0;
}
