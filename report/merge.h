/* SPDX-License-Identifier: MIT */
/* Several results files as one. */
#ifndef MERGE_H
#define MERGE_H

#include "result.h"

/*
 * Move the runs of `from` into `into` and free `from` in any case; `path` names it in errors. Files
 * of different workloads or different traces are refused. When both have a target of the same name
 * but come from different machines or kernels, those of `from` become "TARGET@KERNEL" or, where
 * the kernels are the same, "TARGET@HOST". Rounds of `from` are counted on from those of `into`.
 */
int results_merge(struct results *into, struct results *from, const char *path, struct error *err);

#endif
