# SPDX-License-Identifier: MIT
# timeout: 300
# The MariaDB workload on each engine: captured, replayed on each file system without a divergence,
# run there for real with its tables checked; and whatever is killed, nothing is left.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
expect 0 "$FSREEL" workloads
grep -q '^my-oltp.*built without' <<<"$out" && skip "built without libmysqlclient"
PATH=$PATH:/usr/sbin command -v mariadbd mysqld >/dev/null || skip "needs MariaDB"

on=
for type in ext4 xfs btrfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && on+=${on:+,}$type
done
where=(--on "${on:-tmpfs}" --size 700M --scratch-dir .)
small=my-oltp:rows=2000,clients=4,transactions=10,innodb_log_file_size=4M,innodb_buffer_pool_size=8M

engines=('engine=innodb,binlog=on' engine=myisam 'engine=aria,clients=1')
[ ! -e "$(find /usr/lib/mysql/plugin /usr/lib64/mysql/plugin -name ha_rocksdb.so -print -quit 2>/dev/null)" ] ||
	engines+=(engine=rocksdb)
for keys in "${engines[@]}"; do
	mkdir data
	expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$small,$keys"
	expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
	rm -rf data
done
expect 0 "$FSREEL" run -q --workload "$small" "${where[@]}"
mkdir data
expect 0 "$FSREEL" run -q --on dir:data --workload \
	"$small,mode=write-only,tables=3,innodb_flush_method=fsync,innodb_use_native_aio=off,set=loose-nonsense=1"

# What the server has to say about it is in the error, and its log is kept.
expect 1 "$FSREEL" run -q --on dir:data --workload "$small,set=no-such-option=1"
expect_text 'its log .*\.log ends: .*no-such-option' "$out$err"
rm "$TMPDIR"/fsreel-*.log

# Who dies: the server, the client's part, the command.
long=my-oltp:rows=500,clients=2,transactions=100000000
server_pid()
{
	local i
	for i in {1..300}; do
		pid=$(cat "$TMPDIR"/fsreel-*/pid 2>/dev/null || true)
		[ "$pid" ] && return
		sleep 0.1
	done
	fail "no server after $i tries"
}
start_long()
{
	"$FSREEL" run -q --on dir:data --workload "$long" >out.txt 2>&1 &
	run=$!
	server_pid # of the one that loads
	sleep 1.5
	server_pid
}
start_long
kill -9 "$pid"
wait "$run" && fail "the run is good without a server"
expect_text 'run: .*MariaDB' "$(<out.txt)"
rm "$TMPDIR"/fsreel-*.log
start_long
kill -KILL "$run"
wait "$run" || true
