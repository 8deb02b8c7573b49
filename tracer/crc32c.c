/* SPDX-License-Identifier: MIT */
#include "crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78 /* 0x1edc6f41, bits reversed */

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_fill(void)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
}

uint32_t crc32c_table(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	pthread_once(&table_once, table_fill);
	crc = ~crc;
	for (; size; size--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse(
	uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t word, sum = ~crc;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = __builtin_ia32_crc32di(sum, word);
	}
	uint32_t rest = (uint32_t)sum;
	for (; size; size--)
		rest = __builtin_ia32_crc32qi(rest, *p++);
	return ~rest;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	return __builtin_cpu_supports("sse4.2") ? crc32c_sse(crc, data, size)
	                                        : crc32c_table(crc, data, size);
}
#else
uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	return crc32c_table(crc, data, size);
}
#endif
