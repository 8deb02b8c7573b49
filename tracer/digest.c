/* SPDX-License-Identifier: MIT */
#include "digest.h"

#include <string.h>
#include <xxhash.h>

#include "cleanup.h"
#include "io.h"
#include "vec.h"

#define PIECE (256u << 10)

int digest_file(struct digest *ret, int fd)
{
	XXH3_state_t *state = XXH3_createState();
	auto_free uint8_t *data = xmalloc(PIECE);
	XXH128_canonical_t canonical;
	ssize_t n;

	if (!state)
		abort();
	XXH3_128bits_reset(state);
	for (uint64_t at = 0; (n = pread_full(fd, data, PIECE, (off_t)at)) > 0; at += (uint64_t)n)
		XXH3_128bits_update(state, data, (size_t)n);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(ret->bytes, canonical.digest, DATA_DIGEST);
	XXH3_freeState(state);
	return n < 0 ? (int)n : 0;
}
