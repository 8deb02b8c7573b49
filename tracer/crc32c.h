/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli), by the processor's instruction where there is one. */
#ifndef CRC32C_H
#define CRC32C_H

#include "base.h"

/* Continue from `crc`; 0 to start. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);
/* The same by table, whatever the processor: for the test that compares both. */
uint32_t crc32c_table(uint32_t crc, const void *data, size_t size);

#endif
