# SPDX-License-Identifier: MIT
# timeout: 14400
# MariaDB's own tests of InnoDB (Debian: mariadb-test), with the servers' data on the mount.
#
#   MTR_SUITE=...     default innodb
#   MTR_ONLY=REGEX    only tests that begin so; default: those about files, logs, recovery and space
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
mtr=/usr/share/mysql/mysql-test
requires test -x $mtr/mtr
requires id mysql
export mtr MTR_SUITE=${MTR_SUITE:-innodb}
export MTR_ONLY=${MTR_ONLY:-(alter_(copy|inplace|kill)|create|crash|data_types|doublewrite|drop|export|file|group_commit|ibuf|innodb-(alter|blob|get|index|page|trunc|trim|wl)|innodb_(buffer|force|page|stats_(create|drop))|import|insert_into|instant_alter|leaf|log_|lock|missing|monitor|open|page|purge|read_only|recovery|redo|rename|row_format|sys|table_|tablespace|temp|temporary|trunc|undo|update|xa_)}

# mtr says "SUITE.NAME 'VARIANT' [ pass ] 12" of each.
run()
{
	local work=$PWD tmp

	tmp=$(mktemp -d /tmp/suite-mtr.XXXX)
	chown mysql "$tmp"
	mkdir -m 777 var
	cd $mtr || return
	setpriv --reuid mysql --regid mysql --clear-groups env HOME="$work/var" MTR_MAX_SAVE_CORE=0 \
		./mtr --vardir="$work/var" --tmpdir="$tmp" --suite="$MTR_SUITE" --do-test="$MTR_ONLY" \
		--force --max-test-fail=0 --retry=0 --parallel=2 --nowarnings --testcase-timeout=5 >"$work/report" 2>&1
	cd "$work" || return
	sed -nE "s/^([a-z0-9_]+\.[^ ]+)( '([^']*)')? +w[0-9]+ +\[ ([a-z]+) \].*/\1:\3 \4/p" report |
		sed 's/ pass$/ ok/; s/ fail$/ failed/; s/ retry-.*//'
	cat report >&2
	rm -rf var "$tmp"
}
export -f run
suite_set racy 1
suite_compare run
