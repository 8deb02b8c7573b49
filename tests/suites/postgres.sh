# SPDX-License-Identifier: MIT
# timeout: 7200
# PostgreSQL's regression schedule, on a server whose data directory is on the mount.
#
#   PG_REGRESS=DIR    source tree of the installed PostgreSQL's version (apt-get source postgresql-15), with
#                     src/test/regress built in it
#   PG_SCHEDULE=FILE  in DIR/src/test/regress; default parallel_schedule
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
suite_given PG_REGRESS src/test/regress/pg_regress \
	"apt-get source postgresql-15, then in it: ./configure --without-icu; make -C src/test/regress"
PG_BIN=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
requires test -x "$PG_BIN/postgres"
requires id postgres
export PG_BIN PG_SCHEDULE=${PG_SCHEDULE:-parallel_schedule}

as_postgres()
{
	setpriv --reuid postgres --regid postgres --clear-groups env HOME="$PWD" LC_ALL=C "$@"
}

# pg_regress says "test NAME ... ok|FAILED 12 ms" of each, also of those it runs side by side.
run()
{
	local regress=$PG_REGRESS/src/test/regress sock

	sock=$(mktemp -d /tmp/suite-pg.XXXXXX)
	chmod 777 "$sock"
	mkdir -m 700 data
	mkdir -m 777 out
	chown postgres data
	as_postgres "$PG_BIN/initdb" -D data -A trust >&2
	as_postgres "$PG_BIN/pg_ctl" -D data -w -t 120 -l data/log \
		-o "-k $sock -c listen_addresses= -c max_connections=50" start >&2
	as_postgres "$regress/pg_regress" --inputdir="$regress" --outputdir="$PWD/out" --bindir="$PG_BIN" \
		--dlpath="$regress" --host="$sock" --user=postgres --max-concurrent-tests=20 \
		--schedule="$regress/$PG_SCHEDULE" >out/report 2>&1 || true
	sed -nE 's/^(test | +)([a-z0-9_]+) +\.\.\. (ok|FAILED).*/\2 \3/p' out/report
	cat out/report >&2
	[ ! -e out/regression.diffs ] || head -c 200000 out/regression.diffs >&2
	as_postgres "$PG_BIN/pg_ctl" -D data -w -m fast stop >&2
	rm -rf "$sock"
}
export -f run as_postgres
suite_set racy 1
suite_compare run
