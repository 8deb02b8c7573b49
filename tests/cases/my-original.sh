# SPDX-License-Identifier: MIT
# timeout: 300
# sysbench's oltp_read_write on a server with the same options makes the calls that my-oltp makes on the
# redo log, within 5 %, is about as fast, and its trace replays without a divergence. Reads and writes of
# pages are not compared: purge and page cleaner work by time, and my-oltp alone differs by a third in
# them from run to run.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires jq --version
requires sysbench --version
PATH=$PATH:/usr/sbin
requires command -v mariadbd
requires command -v mariadb-install-db
expect 0 "$FSREEL" workloads
grep -q '^my-oltp.*built without' <<<"$out" && skip "built without libmysqlclient"
user=nobody
install -d -o $user theirs
install -d -o $user run # for the socket
mkdir ours
transactions=150

cat >bench.sh <<'END'
set -e
cd "$1"
shared="--no-defaults --datadir=$1/data --tmpdir=$1/tmp --innodb-log-file-size=4M --innodb-buffer-pool-size=16M"
options="$shared --socket=$2/socket --pid-file=$2/pid --max-connections=11 --skip-networking --skip-name-resolve
	--performance-schema=off --innodb-buffer-pool-dump-at-shutdown=off --innodb-buffer-pool-load-at-startup=off
	--innodb-stats-auto-recalc=off --innodb-log-file-buffering=on --skip-log-bin"
sysbench="sysbench --db-driver=mysql --mysql-socket=$2/socket --mysql-user=root --mysql-db=test --tables=1
	--table-size=2000 --threads=1 --time=0 --events=$4 --rand-seed=1 --rand-type=uniform --auto-inc=off oltp_read_write"
if [ "$3" = prepare ]; then
	mkdir tmp
	mariadb-install-db $shared --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve \
		--innodb-flush-method=nosync >/dev/null
	run_start="--innodb-flush-method=nosync"
else
	run_start="--innodb-flush-method=O_DIRECT"
fi
mariadbd $options $run_start >>"$2/log" 2>&1 &
server=$!
for i in $(seq 600); do
	mariadb --no-defaults -uroot -S "$2/socket" -e 'create database if not exists test' 2>/dev/null && break
	kill -0 $server
	sleep 0.1
done
$sysbench "$3" >"$2/said"
kill $server
wait $server
END
bench=(setpriv --reuid "$user" --regid nogroup --clear-groups bash bench.sh "$PWD/theirs" "$PWD/run")
ours=my-oltp:rows=2000,transactions=$transactions,innodb_log_file_size=4M,innodb_buffer_pool_size=16M
expect 0 "${bench[@]}" prepare $transactions
expect 0 "$FSREEL" capture -q -o theirs.reel --dir theirs -- "${bench[@]}" run $transactions
expect 0 "$FSREEL" capture -q -o ours.reel --dir ours --workload "$ours"

# same CLASS KIND: reads, writes or syncs of the files of a class
count()
{
	"$FSREEL" stat --json "$1.reel" | jq ".classes.$2.$3"
}
same()
{
	local a b
	a=$(count theirs "$1" "$2") b=$(count ours "$1" "$2")
	echo "$1 $2: sysbench $a, ours $b"
	((100 * (a > b ? a - b : b - a) <= 5 * a)) || fail "$1 $2: sysbench $a, ours $b"
}
same wal writes
same wal syncs
mkdir alone
expect 0 "$FSREEL" run -q --workload "$ours" --on "dir:$PWD/alone" -o r.json
alone=$(jq '.runs[0].metric.value | floor' r.json)
install -d -o $user again
expect 0 setpriv --reuid $user --regid nogroup --clear-groups bash bench.sh "$PWD/again" "$PWD/run" prepare 1
expect 0 setpriv --reuid $user --regid nogroup --clear-groups bash bench.sh "$PWD/again" "$PWD/run" run $transactions
theirs=$(sed -n 's/.*transactions: *[0-9]* *(\([0-9]*\)[.0-9]* per sec.*/\1/p' run/said)
echo "transactions a second: sysbench $theirs, ours $alone"
((theirs < 3 * alone && alone < 3 * theirs)) || fail "transactions a second: sysbench $theirs, ours $alone"
expect 0 "$FSREEL" replay -q theirs.reel --on tmpfs --size 700M
