/* SPDX-License-Identifier: MIT */
#include "phase.h"

#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "vec.h"

void phase_mark(const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/" PHASE_PREFIX "%s", dir, name);

	(void)!access(path, F_OK);
}

void phase_copy_name(char out[PHASE_NAME], const char *name, size_t size)
{
	size_t n = min_u64(size, PHASE_NAME - 1);

	for (size_t i = 0; i < n; i++)
		out[i] = name[i] >= ' ' && name[i] < 0x7f ? name[i] : '?';
	out[n] = 0;
}

const char *phase_name(const char *file_name)
{
	size_t n = strlen(PHASE_PREFIX);

	return !strncmp(file_name, PHASE_PREFIX, n) && file_name[n] ? file_name + n : NULL;
}
