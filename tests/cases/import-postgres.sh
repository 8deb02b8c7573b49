# SPDX-License-Identifier: MIT
# PostgreSQL under strace: many processes, locks, shared descriptors; started, used and stopped.
. "$TEST_LIB/functions.sh"
requires_root
requires strace -f -o /dev/null true
requires jq --version
requires id postgres
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
[ -n "$bin" ] || skip "needs a PostgreSQL server"
mkdir pg
chmod a+rx . "$(dirname "$PWD")"
chown postgres pg
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
as "$bin/initdb" -D "$PWD/pg/data" -A trust --no-sync >/dev/null
cat >pg/session <<-END
	"$bin/pg_ctl" -D "$PWD/pg/data" -o "-k '$PWD/pg' -h ''" -l "$PWD/pg/log" -w start
	"$bin/psql" -h "$PWD/pg" -c 'CREATE TABLE t AS SELECT i, md5(i::text) FROM generate_series(1, 5000) i' postgres
	for i in 1 2 3; do "$bin/psql" -h "$PWD/pg" -c 'UPDATE t SET i = -i WHERE i % 9 = 0' postgres & done
	wait
	"$bin/pg_ctl" -D "$PWD/pg/data" -w stop
END
(cd pg && as strace -f -yy -ttt -T -o s.txt bash session >/dev/null 2>&1) || fail "postgres under strace"
expect 0 "$FSREEL" import pg/s.txt --root "$PWD/pg/data" -o pg.reel
expect 0 "$FSREEL" check pg.reel
expect 0 "$FSREEL" replay pg.reel --on tmpfs -o pg.json
[ "$(jq '.runs[0].operations > 1000 and .runs[0].divergences == 0' pg.json)" = true ] || fail "postgres"
