# SPDX-License-Identifier: MIT
# timeout: 300
# PostgreSQL is killed on the mount in the middle of its work, and recovers there.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
bin=$(find /usr/lib/postgresql -path '*/bin' 2>/dev/null | sort -V | tail -n 1)
requires test -x "$bin/initdb"
requires test -x "$bin/pgbench"
install -d -o 65534 -g 65534 pg

cat >crash.sh <<'EOS'
set -e
export LC_ALL=C PGHOST=$1 PGUSER=postgres PGDATABASE=postgres
cd "$1"
initdb -k -A trust -D data -U postgres
start()
{
	pg_ctl -D data -l log -w start -o "-c listen_addresses= -c unix_socket_directories='$1' -c shared_buffers=1MB"
}
start "$1"
pgbench -i -s 1 -q
pgbench -c 4 -j 2 -t 1000000 >bench.out 2>&1 &
until [ "$(psql -Atc 'select count(*) from pgbench_history')" -gt 100 ]; do
	sleep 0.1
done
kill -9 "$(head -n 1 data/postmaster.pid)"
wait $! || true
until start "$1"; do # its orphans may need a moment
	sleep 0.2
done
psql -Atc "select 'sums ' || (sum(abalance) = (select sum(delta) from pgbench_history)
	and (select count(*) > 100 from pgbench_history)) from pgbench_accounts"
pg_ctl -D data -w -m fast stop
grep 'automatic recovery in progress' log
pg_checksums --check -D data
EOS
export PATH=$bin:$PATH
expect 0 "$FSREEL" capture -o t.reel --dir pg -- \
	setpriv --reuid 65534 --regid 65534 --clear-groups bash crash.sh "$PWD/pg"
expect_text 'sums true' "$out"
expect_text 'recovery in progress' "$out"
expect_text 'Bad checksums: +0' "$out"
expect 0 "$FSREEL" check t.reel
expect 0 "$FSREEL" replay -q t.reel --on tmpfs --size 700M
