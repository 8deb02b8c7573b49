/* SPDX-License-Identifier: MIT */
/* What files are for, by their names: those that PostgreSQL 15, MariaDB 10.11 with its engines, MySQL
 * 8, RocksDB 7, Berkeley DB 5.3 and SQLite 3 really make. */
#include "fileclass.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static const struct {
	enum file_class class;
	const char *names[40];
} real_names[] = {
	/* SQLite */
	{FILE_DATABASE, {"test.db", "bank.sqlite", "x.sqlite3", "x.db3"}},
	{FILE_WAL, {"test.db-wal"}},
	{FILE_JOURNAL, {"test.db-journal", "test.db-mj12AB34CD1"}},
	{FILE_SHM, {"test.db-shm"}},
	{FILE_TEMP, {"etilqs_a1b2c3"}},
	/* PostgreSQL */
	{FILE_DATABASE, {"112", "1247", "16384", "16384.1", "16384_fsm", "16384_vm", "16384_vm.12",
				"16384_init", "1213_fsm", "13391"}},
	{FILE_WAL, {"000000010000000000000001", "000000010000000000000001.partial",
			   "000000010000000000000002.ready", "0000000100000000000000A4.done",
			   "000000010000000000000003.00000028.backup", "xlogtemp.12345",
			   "00000002.history"}},
	{FILE_STATUS, {"0000", "00AF", "0FFF", "A31F", "00000D5A", "1407A", "000000000000001",
			      "0000000000000D5A"}},
	{FILE_TEMP, {"pgsql_tmp123.0", "pgsql_tmp4711.0.sharedfileset", "t3_16390", "t3_16390_fsm",
			    "i3of8.p1.0", "o0of8.p0.0"}},
	{FILE_CONTROL,
		{"pg_control", "pg_filenode.map", "pg_filenode.map.tmp", "pg_internal.init",
			"pg_internal.init.4711", "PG_VERSION", "postmaster.pid", "postmaster.opts",
			"postgresql.conf", "postgresql.auto.conf", "postgresql.auto.conf.tmp",
			"pg_hba.conf", "pg_ident.conf", "replorigin_checkpoint",
			"replorigin_checkpoint.tmp", "pgstat.stat", "pgstat.tmp", "global.stat",
			"db_0.stat", "db_16384.stat", "pgss_query_texts.stat", "backup_label",
			"tablespace_map", "standby.signal", "recovery.signal"}},
	{FILE_SHM, {"mmap.1804289383"}},
	{FILE_LOG, {"current_logfiles", "postgresql-2026-11-30_000000.log"}},
	/* InnoDB */
	{FILE_DATABASE, {"ibdata1", "sbtest1.ibd", "FTS_0000_BEING_DELETED.ibd", "mysql.ibd"}},
	{FILE_WAL, {"ib_logfile0", "ib_logfile101", "#ib_redo12", "#ib_redo12_tmp"}},
	{FILE_UNDO, {"undo_001", "undo001", "undo_003.ibu"}},
	{FILE_DOUBLEWRITE, {"#ib_16384_0.dblwr", "#ib_16384_1.bdblwr"}},
	{FILE_TEMP,
		{"ibtmp1", "temp_10.ibt", "#sql-alter-7e1-4.frm", "#sql-alter-7e1-4.ibd",
			"#sql-backup-7e1-4.MYD", "#sql-temptable-7e1-5-0.MAI", "#sql-ib34.ibd"}},
	{FILE_CONTROL, {"ib_buffer_pool", "ib_buffer_pool.incomplete", "sbtest1.isl", "t.cfg"}},
	/* MyISAM, Aria, CSV, archive */
	{FILE_DATABASE, {"t.MYD", "column_stats.MAD", "general_log.CSV", "t.ARZ"}},
	{FILE_INDEX, {"t.MYI", "column_stats.MAI"}},
	{FILE_WAL, {"aria_log.00000001"}},
	{FILE_TEMP, {"t.TMD", "t.TMM"}},
	{FILE_CONTROL,
		{"aria_log_control", "maria_log_control", "sbtest1.frm", "bench.frm~", "db.opt",
			"sbtest1.TRG", "a.TRN", "general_log.CSM", "t.MRG", "t.par", "t_123.sdi"}},
	/* the server */
	{FILE_WAL, {"tc.log"}},
	{FILE_BINLOG, {"binlog.000001", "host-bin.000002", "host-bin.index", "binlog.index",
			      "binlog.state", "host-bin.state", "binlog.~rec~",
			      "host-relay-bin.000001", "host-relay-bin.index"}},
	{FILE_CONTROL, {"ddl_recovery.log", "ddl_recovery-backup.log", "multi-master.info",
			       "master.info", "relay-log.info", "auto.cnf", "mysqld-auto.cnf",
			       "mysql_upgrade_info", "mariadb_upgrade_info"}},
	{FILE_LOG, {"host.err", "host-slow.log", "host.log", "error.log"}},
	/* RocksDB */
	{FILE_DATABASE, {"000027.sst", "000044.blob"}},
	{FILE_WAL, {"000045.log"}},
	{FILE_LOG, {"LOG", "LOG.old.1796070847087204"}},
	{FILE_CONTROL, {"MANIFEST-000036", "OPTIONS-000041", "OPTIONS-000043.dbtmp", "000017.dbtmp",
			       "CURRENT", "IDENTITY", "LOCK"}},
	/* Berkeley DB */
	{FILE_DATABASE, {"accounts.db", "__dbq.queue.7"}},
	{FILE_WAL, {"log.0000000001"}},
	{FILE_SHM, {"__db.001", "__db.003"}},
	{FILE_CONTROL, {"__db.register", "__db.rep.gen"}},
	/* Names that only look alike. */
	{FILE_OTHER, {"", "notes.txt", "12", "16384x", "16384_vm.", "00000001000000000000000G",
			     "DEAD", "ABCDEF", "LOGS", "log.1", "0000027.sst", "1", "README"}},
};

TEST(real_files_have_their_class)
{
	for (size_t i = 0; i < ARRAY_SIZE(real_names); i++)
		for (const char *const *name = real_names[i].names; *name; name++) {
			struct text text = {*name, strlen(*name)};
			if (!CHECK_EQ(file_class_name(file_class_of(text)),
				    file_class_name(real_names[i].class)))
				fprintf(stderr, "\t%s\n", *name);
		}
}

TEST(class_names_go_both_ways)
{
	for (enum file_class c = FILE_OTHER; c < FILE_CLASS_COUNT; c++)
		CHECK_EQ(file_class_by_name(file_class_name(c)), c);
	CHECK_EQ(file_class_by_name("nonsense"), FILE_CLASS_COUNT);
}
