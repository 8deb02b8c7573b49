/* SPDX-License-Identifier: MIT */
/* Many workloads on many targets at one glance. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "report.h"

/*
 * A table of medians, one row per workload and one column per target, with the scores that
 * published comparisons use (scores.h). groups[i] are the results of one workload, concluded.
 */
void report_summary(struct results *const *groups, size_t count,
	const struct report_options *options, FILE *out);

#endif
