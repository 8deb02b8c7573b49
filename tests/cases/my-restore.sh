# SPDX-License-Identifier: MIT
# timeout: 300
# A dump is restored on each engine: captured, replayed on each file system without a divergence, and
# run there for real, where the tables hold what they held before.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
expect 0 "$FSREEL" workloads
grep -q '^my-restore.*built without' <<<"$out" && skip "built without libmysqlclient"
PATH=$PATH:/usr/sbin command -v mariadbd mysqld >/dev/null || skip "needs MariaDB"
command -v mariadb-dump mysqldump >/dev/null || skip "needs the clients of MariaDB"

on=
for type in ext4 xfs btrfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && on+=${on:+,}$type
done
where=(--on "${on:-tmpfs}" --size 700M --scratch-dir .)
small=my-restore:rows=1000,innodb_log_file_size=4M,innodb_buffer_pool_size=8M

for keys in engine=innodb,tables=2,mode=both engine=myisam engine=aria; do
	mkdir data
	expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$small,$keys"
	expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
	rm -rf data
done
expect 0 "$FSREEL" run -q --workload "$small,engine=myisam" "${where[@]}" --repeat 1
