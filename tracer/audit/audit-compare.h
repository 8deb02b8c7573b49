/* SPDX-License-Identifier: MIT */
/* Feeding an audit from two files: a trace and the records of the calls. */
#ifndef AUDIT_COMPARE_H
#define AUDIT_COMPARE_H

#include "audit-log.h"
#include "audit.h"
#include "error.h"
#include "reader.h"

/* From the start of both to the end, audit_finish() included. 0 or -errno. */
int audit_compare(
	struct audit *a, struct trace_reader *trace, struct audit_log *log, struct error *err);

#endif
