# SPDX-License-Identifier: MIT
# timeout: 200
# pgbench on a server with the same settings makes the calls that pg-tpcb makes, within 5 %, and
# its trace replays without a divergence.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires jq --version
bin=$(find /usr/lib/postgresql -path '*/bin' 2>/dev/null | sort -V | tail -n 1)
requires test -x "$bin/initdb"
requires test -x "$bin/pgbench"
expect 0 "$FSREEL" workloads
grep -q '^pg-tpcb.*built without' <<<"$out" && skip "built without libpq"
install -d -o 65534 -g 65534 theirs
mkdir ours

cat >bench.sh <<'EOF2'
set -e
export LC_ALL=C PGHOST=$1 PGUSER=postgres PGDATABASE=postgres
cd "$1"
options="-c listen_addresses= -c unix_socket_directories='$1' -c shared_buffers=64MB -c max_connections=11
	-c autovacuum=off -c checkpoint_timeout=1d -c checkpoint_flush_after=0 -c bgwriter_flush_after=0
	-c backend_flush_after=0 -c wal_writer_flush_after=0 -c dynamic_shared_memory_type=sysv -c wal_sync_method=fdatasync"
if [ "$2" = prepare ]; then
	initdb -A trust -D data -U postgres -E UTF8 --no-locale --no-sync
	pg_ctl -D data -l "$PWD.log" -w start -o "$options -F"
	pgbench -i -s 1 -q
	psql -c checkpoint
else
	pg_ctl -D data -l "$PWD.log" -w start -o "$options"
	psql -c checkpoint
	pgbench -n -c 1 -t 400 --random-seed=1
	psql -c checkpoint
fi
pg_ctl -D data -w -m fast stop
EOF2
export PATH=$bin:$PATH
touch theirs.log
chown 65534 theirs.log
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
expect 0 "${user[@]}" bash bench.sh "$PWD/theirs" prepare
expect 0 "$FSREEL" capture -q -o theirs.reel --dir theirs -- "${user[@]}" bash bench.sh "$PWD/theirs" run
their_tps=$(sed -n 's/^tps = \([0-9]*\).*/\1/p' <<<"$out")
expect 0 "$FSREEL" capture -o ours.reel --dir ours --workload pg-tpcb:transactions=400
echo "pgbench $their_tps transactions/s; ours: $(grep -o '[0-9.]* transactions/s' <<<"$out$err")"

# count TRACE OPERATION...: all of them together
count()
{
	local trace=$1
	shift
	"$FSREEL" stat --json "$trace.reel" | jq '[.ops[$ARGS.positional[]].count // 0] | add' --args "$@"
}
same() # PERCENT OPERATION...
{
	local limit=$1 a b
	shift
	a=$(count theirs "$@") b=$(count ours "$@")
	echo "pgbench: $* $a, ours $b"
	((100 * (a > b ? a - b : b - a) <= limit * a)) || fail "$*: pgbench $a, ours $b"
}
same 5 write
same 5 fdatasync fsync
same 15 read # a connection reads some 50 blocks of catalogs, and theirs makes two more
expect 0 "$FSREEL" replay -q theirs.reel --on tmpfs --size 700M
