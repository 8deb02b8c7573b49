/* SPDX-License-Identifier: MIT */
/* Does a path lead to a mount, as far as its text tells? Links are not followed. */
#ifndef AUDIT_PLACE_H
#define AUDIT_PLACE_H

#include "base.h"
#include "probe-record.h"

struct audit_place;

/* `dir`: absolute, without links; what lies above it is looked at now. `device`: of the mount. */
struct audit_place *audit_place_new(const char *dir, uint32_t device);
void audit_place_free(struct audit_place *p);

/* `start` is the directory in which a relative path begins. The root of the mount counts. */
bool audit_place_has(const struct audit_place *p, const struct probe_file *start, const char *path);

#endif
