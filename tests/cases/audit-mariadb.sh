# SPDX-License-Identifier: MIT
# timeout: 300
# Every call that MariaDB makes is in the trace, or the audit knows why not; io_uring's requests too.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
expect 0 "$FSREEL" workloads
grep -q '^my-oltp.*built without' <<<"$out" && skip "built without libmysqlclient"
PATH=$PATH:/usr/sbin command -v mariadbd mysqld >/dev/null || skip "needs MariaDB"
mkdir db
"$FSREEL" capture --audit -q -o t.reel --dir db -- true >/dev/null 2>&1 || skip "needs the probe"

small=my-oltp:rows=1000,clients=3,transactions=10,innodb_log_file_size=4M,innodb_buffer_pool_size=8M
for keys in engine=innodb,binlog=on engine=innodb,innodb_use_native_aio=off engine=aria; do
	expect 0 "$FSREEL" capture --audit -q -o t.reel --dir db --workload "$small,$keys"
	expect_text '^audit: [0-9,]+ calls on the mount, all accounted for$' "$out"
	rm -rf db
	mkdir db
done
