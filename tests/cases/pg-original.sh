# SPDX-License-Identifier: MIT
# timeout: 300
# pgbench on a server with the same settings makes the calls that pg-tpcb makes, within 5 % for each
# of the main classes, is about as fast, and its trace replays without a divergence.
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

# pgbench gets its own script as a file, because for a script that is built in it first looks up how
# the tables are partitioned: some 40 blocks of catalogs.
cat >bench.sh <<'END'
set -e
export LC_ALL=C PGHOST=$1 PGUSER=postgres PGDATABASE=postgres
cd "$1"
options="-c listen_addresses= -c unix_socket_directories='$1' -c shared_buffers=64MB -c max_connections=11
	-c autovacuum=off -c checkpoint_timeout=1d -c checkpoint_flush_after=0 -c bgwriter_flush_after=0
	-c backend_flush_after=0 -c wal_writer_flush_after=0 -c dynamic_shared_memory_type=sysv -c wal_sync_method=fdatasync
	-c wal_writer_delay=10s"
options=${options//$'\n'/ } # pg_ctl gives it to a shell, for which a line is a command
if [ "$2" = prepare ]; then
	initdb -A trust -D data -U postgres -E UTF8 --no-locale --no-sync
	pg_ctl -D data -l "$PWD.log" -w start -o "$options -F"
	pgbench -i -s 1 -q
	psql -c checkpoint
else
	pg_ctl -D data -l "$PWD.log" -w start -o "$options"
	psql -c checkpoint
	pgbench --show-script=tpcb-like 2>script.sql
	pgbench -n -c 1 -t 400 --random-seed=1 -f script.sql -s 1
	psql -c checkpoint
fi
pg_ctl -D data -w -m fast stop
END
export PATH=$bin:$PATH
touch theirs.log
chown 65534 theirs.log
bench=(setpriv --reuid 65534 --regid 65534 --clear-groups bash bench.sh "$PWD/theirs")
expect 0 "${bench[@]}" prepare
expect 0 "$FSREEL" capture -q -o theirs.reel --dir theirs -- "${bench[@]}" run
expect 0 "$FSREEL" capture -q -o ours.reel --dir ours --workload pg-tpcb:transactions=400

# same CLASS KIND: reads, writes or syncs of the files of a class
count()
{
	"$FSREEL" stat --json "$1.reel" | jq ".classes.$2.$3"
}
same()
{
	local a b
	a=$(count theirs "$1" "$2") b=$(count ours "$1" "$2")
	echo "$1 $2: pgbench $a, ours $b"
	((100 * (a > b ? a - b : b - a) <= 5 * a)) || fail "$1 $2: pgbench $a, ours $b"
}
same database reads
same database writes
same wal writes
same wal syncs
expect 0 "$FSREEL" replay -q theirs.reel --on tmpfs --size 700M

# How fast both are, with no file system between; the best of three, because a machine is noisy.
best_theirs=0 best_ours=0
for _ in 1 2 3; do
	rm -rf ours/*
	expect 0 "${bench[@]}" run
	tps=$(sed -n 's/^tps = \([0-9]*\).*/\1/p' <<<"$out")
	((tps > best_theirs)) && best_theirs=$tps
	expect 0 "$FSREEL" run -q --on dir:ours --workload pg-tpcb:transactions=400 -o ours.json
	tps=$(jq '.runs[0].metric.value | floor' ours.json)
	((tps > best_ours)) && best_ours=$tps
	echo "pgbench $best_theirs transactions/s, ours $best_ours"
	((best_ours <= 2 * best_theirs && best_theirs <= 2 * best_ours)) && exit
done
fail "one is more than twice as fast as the other"
