/* SPDX-License-Identifier: MIT */
/* Data into a trace and out of it again, through the real writer and reader. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bulk.h"
#include "check.h"
#include "cleanup.h"
#include "content.h"
#include "reader.h"
#include "rng.h"
#include "vec.h"
#include "writer.h"

#define PIECES 3000
#define LARGE  (1u << 20)

static char path[] = "/tmp/test-stash-XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

static struct trace_writer *start(void)
{
	struct trace_writer *w = NULL;
	struct error err = {0};
	static bool made;

	if (!made) {
		close(mkstemp(path));
		atexit(remove_file);
	}
	made = true;
	if (trace_writer_open(&w, path, NULL, &err) < 0)
		abort();
	trace_writer_keep_data(w);
	const struct tree_entry root = {.id = TREE_ROOT, .mode = S_IFDIR | 0755};
	CHECK_EQ(trace_writer_tree(w, &root, &err), 0);
	return w;
}

static struct bulk *finish(struct trace_writer *w)
{
	struct bulk *b = NULL;
	struct error err = {0};

	CHECK_EQ(trace_writer_close(w, NULL, &err), 0);
	CHECK_EQ(bulk_open(&b, path, &err), 0);
	return b;
}

static void check_data(struct bulk *b, uint64_t number, const void *data, size_t size)
{
	auto_free uint8_t *out = xmalloc(size + 1);

	if (CHECK_EQ(bulk_read(b, number, out, size + 1), (int64_t)size))
		CHECK(!memcmp(out, data, size));
}

/* Pieces of random sizes; every third is one of those before. */
TEST(what_is_put_is_read_and_equals_are_stored_once)
{
	struct trace_writer *w = start();
	static uint64_t numbers[PIECES], seeds[PIECES], sizes[PIECES];
	auto_free uint8_t *data = xmalloc(LARGE);
	struct rng rng;
	struct stat st;
	size_t same = 0;

	rng_init(&rng, 1);
	for (size_t i = 0; i < PIECES; i++) {
		size_t like = i % 3 == 2 ? rng_below(&rng, i) : i;
		seeds[i] = like == i ? i : seeds[like];
		sizes[i] = like == i ? 1 + rng_below(&rng, i % 100 ? 9000 : LARGE) : sizes[like];
		content_fill(CONTENT_RANDOM, seeds[i], data, sizes[i]);
		numbers[i] = trace_writer_data(w, data, sizes[i], content_hash(data, sizes[i]));
		same += like != i && numbers[i] == numbers[like];
	}
	CHECK(same > PIECES / 4);
	struct bulk *b = finish(w);
	for (size_t i = 0; i < PIECES; i++) {
		content_fill(CONTENT_RANDOM, seeds[i], data, sizes[i]);
		check_data(b, numbers[i], data, sizes[i]);
	}
	CHECK_EQ(bulk_read(b, 0, data, 10), -2);
	CHECK_EQ(bulk_read(b, 1u << 30, data, 10), -2);
	CHECK_EQ(stat(path, &st), 0);
	bulk_close(b);
}

/* The hash is never believed: other bytes of the same hash are other data. */
TEST(equal_hashes_of_different_data_do_not_mix)
{
	struct trace_writer *w = start();
	uint64_t a = trace_writer_data(w, "one and only", 12, 7);
	uint64_t c = trace_writer_data(w, "another data", 12, 7);
	uint64_t again = trace_writer_data(w, "another data", 12, 7);

	CHECK(a != c);
	CHECK_EQ(c, again);
	struct bulk *b = finish(w);
	check_data(b, a, "one and only", 12);
	check_data(b, c, "another data", 12);
	bulk_close(b);
}

TEST(pieces_are_joined)
{
	struct trace_writer *w = start();
	uint64_t n = trace_writer_data(w, "a", 1, 1);

	n = trace_writer_join(w, n, trace_writer_data(w, "bc", 2, 2));
	n = trace_writer_join(w, n, trace_writer_data(w, "def", 3, 3));
	CHECK_EQ(trace_writer_join(w, n, 0), 0);
	struct bulk *b = finish(w);
	check_data(b, n, "abcdef", 6);
	bulk_close(b);
}

TEST(files_have_their_first_data_and_last_digest)
{
	struct trace_writer *w = start();
	uint8_t digest[DATA_DIGEST] = {1, 2, 3};
	size_t count;

	trace_writer_file_data(w, 9, 4096, "later", 5);
	trace_writer_file_data(w, 5, 0, "other", 5);
	trace_writer_file_data(w, 9, 0, "first", 5);
	trace_writer_final(w, 9, 77, digest);
	struct bulk *b = finish(w);
	const struct bulk_place *p = bulk_file(b, 9, &count);
	CHECK_EQ(count, 2);
	CHECK_EQ(p[0].offset, 0);
	check_data(b, p[0].number, "first", 5);
	CHECK_EQ(p[1].offset, 4096);
	check_data(b, p[1].number, "later", 5);
	CHECK_EQ(bulk_final(b, 9)->size, 77);
	CHECK_BYTES(bulk_final(b, 9)->digest, digest, DATA_DIGEST);
	CHECK(!bulk_final(b, 5) && bulk_knows_end(b));
	bulk_close(b);
}

TEST(a_trace_without_data_has_none)
{
	struct trace_writer *w = start();
	struct bulk *b = finish(w);

	CHECK(!b);
}
