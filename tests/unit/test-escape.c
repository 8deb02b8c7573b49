/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "check.h"
#include "cleanup.h"
#include "escape.h"
#include "io.h"

#define TEXT(s) ((struct text){s, sizeof(s) - 1})

/* What `put` writes for a text; good until the next call. */
static const char *written(void (*put)(struct sink *s, struct text t), struct text t)
{
	static char room[256];
	auto_close int fd = memfd_create("sink", MFD_CLOEXEC);
	struct sink *s = sink_new(fd);

	put(s, t);
	CHECK_EQ(sink_flush(s), 0);
	sink_free(s);
	ssize_t n = pread_full(fd, room, sizeof(room) - 1, 0);
	room[n < 0 ? 0 : n] = '\0';
	return room;
}

TEST(csv_quotes_what_needs_it)
{
	CHECK_EQ(written(escape_csv, TEXT("")), "");
	CHECK_EQ(written(escape_csv, TEXT("plain name.db")), "plain name.db");
	CHECK_EQ(written(escape_csv, TEXT("a,b")), "\"a,b\"");
	CHECK_EQ(written(escape_csv, TEXT("say \"x\"")), "\"say \"\"x\"\"\"");
	CHECK_EQ(written(escape_csv, TEXT("two\nlines\r")), "\"two\nlines\r\"");
	CHECK_EQ(written(escape_csv, TEXT("gr\xc3\xbc\xc3\x9f")), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(csv_keeps_other_bytes_apart)
{
	CHECK_EQ(written(escape_csv, TEXT("\xff")), "\"\\xff\"");
	CHECK_EQ(written(escape_csv, TEXT("a\0b")), "\"a\\x00b\"");
	/* Not the same as the byte ff. */
	CHECK_EQ(written(escape_csv, TEXT("\\xff")), "\"\\\\xff\"");
}

TEST(json_is_json)
{
	CHECK_EQ(written(escape_json, TEXT("")), "\"\"");
	CHECK_EQ(written(escape_json, TEXT("a,b")), "\"a,b\"");
	CHECK_EQ(written(escape_json, TEXT("say \"x\"\n")), "\"say \\\"x\\\"\\u000a\"");
	CHECK_EQ(written(escape_json, TEXT("back\\slash")), "\"back\\\\\\\\slash\"");
	CHECK_EQ(written(escape_json, TEXT("\xff\0")), "\"\\\\xff\\\\x00\"");
	CHECK_EQ(written(escape_json, TEXT("\xe2\x82\xac")), "\"\xe2\x82\xac\"");
}

TEST(utf8_is_that_of_unicode)
{
	CHECK_EQ(utf8_length("a", 1), 1);
	CHECK_EQ(utf8_length("\xc3\xbc", 2), 2);
	CHECK_EQ(utf8_length("\xc3\xbc", 1), 0); /* cut */
	CHECK_EQ(utf8_length("\xc0\x80", 2), 0); /* longer than needed */
	CHECK_EQ(utf8_length("\xe0\x9f\x80", 3), 0);
	CHECK_EQ(utf8_length("\xed\xa0\x80", 3), 0); /* half of a pair */
	CHECK_EQ(utf8_length("\xf0\x9f\x98\x80", 4), 4);
	CHECK_EQ(utf8_length("\xf4\x90\x80\x80", 4), 0); /* above the last one */
	CHECK_EQ(utf8_length("\x80", 1), 0);
	CHECK_EQ(utf8_length("", 0), 0);
}

TEST(words_have_no_spaces)
{
	auto_free char *word = escape_word(TEXT("a/b c\n%\xff.db-wal"));

	CHECK_EQ(word, "a%2fb%20c%0a%25%ff.db-wal");
}

static void put_numbers(struct sink *s, struct text t)
{
	sink_u64(s, 0);
	sink_char(s, ' ');
	sink_u64(s, UINT64_MAX);
	sink_char(s, ' ');
	sink_i64(s, INT64_MIN);
	sink_char(s, ' ');
	sink_us(s, 1002003);
	sink_bytes(s, t.data, t.size);
}

TEST(numbers)
{
	CHECK_EQ(written(put_numbers, TEXT("!")),
		"0 18446744073709551615 -9223372036854775808 1002.003!");
}

TEST(the_first_failure_is_kept)
{
	auto_close int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct sink *s = sink_new(fd);

	for (int i = 0; i < 3 * SINK_ROOM; i++)
		sink_char(s, 'x');
	CHECK_EQ(s->failed, -ENOSPC);
	CHECK_EQ(sink_flush(s), -ENOSPC);
	sink_free(s);
}
