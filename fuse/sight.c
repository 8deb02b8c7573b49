/* SPDX-License-Identifier: MIT */
#include "sight.h"

#include "clock.h"
#include "lower.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * FNV_PRIME;
	return h;
}

static int birth_time(int fd, uint64_t *ret)
{
	struct statx stx;
	int r = lower_statx(fd, STATX_BTIME, &stx);

	if (r < 0)
		return r;
	*ret = 0;
	if (stx.stx_mask & STATX_BTIME)
		*ret = (uint64_t)stx.stx_btime.tv_sec * NSEC_PER_SEC + stx.stx_btime.tv_nsec;
	return 0;
}

int sight_look(int fd, struct sight *ret)
{
	int mount_id;
	int r = lower_stat(fd, &ret->st);

	if (r < 0)
		return r;
	ret->key.b = (uint64_t)ret->st.st_ino ^ (uint64_t)ret->st.st_dev << 40;
	ret->handle.handle_bytes = SIGHT_MAX_HANDLE;
	ret->has_handle = !name_to_handle_at(fd, "", &ret->handle, &mount_id, AT_EMPTY_PATH);
	if (!ret->has_handle)
		return birth_time(fd, &ret->key.a);
	ret->key.a = hash_bytes(FNV_BASIS ^ (uint64_t)ret->handle.handle_type, ret->handle.f_handle,
		ret->handle.handle_bytes);
	return 0;
}
