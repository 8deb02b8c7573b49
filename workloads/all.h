/* SPDX-License-Identifier: MIT */
/* Every workload there is; workloads.c lists them. */
#ifndef ALL_H
#define ALL_H

#include "workload.h"

extern const struct workload workload_sqlite_tpcb;
extern const struct workload workload_sqlite_bulk;
extern const struct workload workload_fsmark;
extern const struct workload workload_fileserver;
extern const struct workload workload_varmail;
extern const struct workload workload_fileio;
extern const struct workload workload_stream;
extern const struct workload workload_treecopy;
extern const struct workload workload_command;
extern const struct workload workload_pg_tpcb;
extern const struct workload workload_pg_tpch;
extern const struct workload workload_my_oltp;
extern const struct workload workload_my_restore;
extern const struct workload workload_my_sqlbench;
extern const struct workload workload_bdb_kv;

#endif
