/* SPDX-License-Identifier: MIT */
/* What a file has, as a number of 128 bits (XXH3): equal for equal bytes, whatever is a hole. */
#ifndef DIGEST_H
#define DIGEST_H

#include "format.h"

struct digest {
	uint8_t bytes[DATA_DIGEST];
};

/* From the start to the end of the file; 0 or -errno. */
int digest_file(struct digest *ret, int fd);

#endif
