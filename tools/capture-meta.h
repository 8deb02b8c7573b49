/* SPDX-License-Identifier: MIT */
/* META of a captured trace: where, when and how it was made. */
#ifndef CAPTURE_META_H
#define CAPTURE_META_H

#include <jansson.h>

#include "capture-run.h"

/* `dir` is the real directory, before anything is mounted over it; `trial` what a trial mount
 * showed, `result` what is known of it so far. The caller owns the object. */
json_t *capture_meta(const struct capture_job *job, const char *dir,
	const struct capture_stats *trial, const struct capture_result *result);

#endif
