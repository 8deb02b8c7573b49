/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "check.h"
#include "content.h"
#include "rng.h"

/* Data filled as a class is classified as that class, whatever its size. */
TEST(filled_data_has_its_class)
{
	static uint8_t data[65536];
	const size_t sizes[] = {512, 4096, 8192, 65536};

	for (enum content c = CONTENT_ZERO; c < CONTENT_LIMIT; c++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			content_fill(c, 42, data, sizes[i]);
			CHECK_EQ(content_classify(data, sizes[i]), c);
		}
	}
}

TEST(fill_is_repeatable_and_depends_on_the_seed)
{
	uint8_t a[1000], b[1000];

	content_fill(CONTENT_RANDOM, 1, a, sizeof(a));
	content_fill(CONTENT_RANDOM, 1, b, sizeof(b));
	CHECK_BYTES(a, b, sizeof(a));
	content_fill(CONTENT_RANDOM, 2, b, sizeof(b));
	CHECK(memcmp(a, b, sizeof(a)));
}

TEST(short_data_is_classified)
{
	const char zero[100] = {0};
	char text[] = "the quick brown fox jumps over the lazy dog";
	uint8_t noise[24];
	struct rng rng;

	rng_init(&rng, 5);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)rng_next(&rng) | 0x80;
	CHECK_EQ(content_classify(zero, 0), CONTENT_UNKNOWN);
	CHECK_EQ(content_classify(zero, 1), CONTENT_ZERO);
	CHECK_EQ(content_classify(zero, 100), CONTENT_ZERO);
	CHECK(content_classify(text, sizeof(text)) < CONTENT_RANDOM);
	CHECK_EQ(content_classify(noise, sizeof(noise)), CONTENT_RANDOM);
}

TEST(one_byte_that_differs_is_not_zero)
{
	static uint8_t data[8192];

	data[5000] = 1;
	CHECK(content_classify(data, sizeof(data)) != CONTENT_ZERO);
	CHECK(content_hash(data, 8192) != content_hash(data, 8191));
}

TEST(every_class_has_a_name)
{
	for (enum content c = CONTENT_UNKNOWN; c < CONTENT_LIMIT; c++)
		CHECK(strcmp(content_name(c), "?"));
	CHECK_EQ(content_name(CONTENT_RANDOM), "random");
	CHECK_EQ(content_name(CONTENT_LIMIT), "?");
}

/* Machine code and packed records look random word by word, yet their bytes are not all as common. */
TEST(noise_of_few_byte_values_is_not_random)
{
	static uint8_t data[8192];
	struct rng rng;

	rng_init(&rng, 9);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(0xc0 | rng_below(&rng, 40)); /* 5.3 bits of 8 */
	enum content c = content_classify(data, sizeof(data));
	CHECK(c >= CONTENT_WORDS + 1 && c <= CONTENT_WORDS + 6);
}
