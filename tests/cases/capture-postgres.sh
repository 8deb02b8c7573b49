# SPDX-License-Identifier: MIT
# timeout: 300
# PostgreSQL runs on the mount as the user it insists on, and its data are sound afterwards.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
bin=$(find /usr/lib/postgresql -path '*/bin' 2>/dev/null | sort -V | tail -n 1)
requires test -x "$bin/initdb"
requires test -x "$bin/pgbench"
install -d -o 65534 -g 65534 pg

cat >bank.sh <<'EOF'
set -e
export LC_ALL=C PGHOST=$1 PGUSER=postgres PGDATABASE=postgres
cd "$1"
initdb -k -A trust -D data -U postgres
pg_ctl -D data -l log -w start -o "-c listen_addresses= -c unix_socket_directories='$1' -c shared_buffers=4MB"
pgbench -i -s 1 -q
pgbench -c 4 -j 2 -t 100
psql -Atc "select 'sums ' || (sum(abalance) = (select sum(delta) from pgbench_history)
	and (select count(*) = 400 from pgbench_history)) from pgbench_accounts"
pg_ctl -D data -w -m fast stop
pg_checksums --check -D data
EOF
export PATH=$bin:$PATH
expect 0 "$FSREEL" capture -o t.reel --dir pg -- \
	setpriv --reuid 65534 --regid 65534 --clear-groups bash bank.sh "$PWD/pg"
expect_text 'sums true' "$out"
expect_text 'Bad checksums: +0' "$out"
expect 0 "$FSREEL" check t.reel
expect 0 "$FSREEL" stat --json t.reel
expect_text '"fdatasync"' "$out"
[ "$(stat -c %u pg/data/PG_VERSION)" = 65534 ] || fail "the files are not the user's"
