# SPDX-License-Identifier: MIT
# timeout: 300
# The PostgreSQL workload: captured, replayed on each file system without a divergence, run there
# for real with its data checked; and whatever is killed, nothing is left.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
expect 0 "$FSREEL" workloads
grep -q '^pg-tpcb.*built without' <<<"$out" && skip "built without libpq"
find /usr/lib/postgresql -name initdb 2>/dev/null | grep -q . || skip "needs PostgreSQL"

on=tmpfs
for type in ext4 xfs btrfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && on+=,$type
done
where=(--on "$on" --size 700M --scratch-dir .)
small=pg-tpcb:accounts=2000,transactions=30

for keys in clients=1 clients=4,checksums=on,wal_segment=1M,shared_buffers=512k,max_wal_size=2M; do
	mkdir data
	expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$small,$keys"
	expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
	rm -rf data
done
expect 0 "$FSREEL" run -q --workload "$small,clients=2" "${where[@]}"
mkdir data
for mode in simple-update select-only; do
	expect 0 "$FSREEL" run -q --on dir:data --workload \
		"$small,mode=$mode,wal_sync_method=open_datasync,synchronous_commit=off,set=wal_level=minimal,max_wal_senders=0"
done

# What the server has to say about it is in the error, and its log is kept.
expect 1 "$FSREEL" run -q --on dir:data --workload "$small,set=no_such_setting=1"
expect_text 'its log .*\.log ends: .*no_such_setting' "$out$err"
rm "$TMPDIR"/fsreel-*.log
expect 1 "$FSREEL" run -q --on dir:data --workload "$small,version=99"
expect_text 'install postgresql-99' "$out$err"
install -d -m 700 closed closed/data
expect 1 "$FSREEL" run -q --on dir:closed/data --workload "$small"
expect_text 'cannot enter .*/closed as user postgres' "$out$err"

# Who dies: the server, the client's part, the command.
long=pg-tpcb:accounts=2000,clients=2,transactions=100000000
server_pid()
{
	local i
	for i in {1..300}; do
		pid=$(head -n 1 data/*/postgres/postmaster.pid 2>/dev/null || true)
		grep -q ready data/*/postgres/postmaster.pid 2>/dev/null && [ "$pid" ] && return
		sleep 0.1
	done
	fail "no server after $i tries"
}
start_long()
{
	"$FSREEL" run -q --on dir:data --workload "$long" >out.txt 2>&1 &
	run=$!
	server_pid
	sleep 1
	server_pid
}
start_long
kill -9 "$pid"
wait "$run" && fail "the run is good without a server"
expect_text 'run: .*PostgreSQL' "$(<out.txt)"
rm "$TMPDIR"/fsreel-*.log
start_long
kill -INT "$run"
wait "$run" && fail "the run is good after ^C"
start_long
kill -KILL "$run"
wait "$run" || true
