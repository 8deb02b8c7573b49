# SPDX-License-Identifier: MIT
# timeout: 300
# Every call that PostgreSQL makes is in the trace, or the audit knows why not: initdb and a load of
# transactions by several clients.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
expect 0 "$FSREEL" workloads
grep -q '^pg-tpcb.*built without' <<<"$out" && skip "built without libpq"
bin=$(find /usr/lib/postgresql -path '*/bin' 2>/dev/null | sort -V | tail -n 1)
requires test -x "$bin/initdb"
mkdir db
"$FSREEL" capture --audit -q -o t.reel --dir db -- true >/dev/null 2>&1 || skip "needs the probe"

expect 0 "$FSREEL" capture --audit -q -o t.reel --dir db \
	--workload pg-tpcb:clients=4,transactions=40,accounts=2000
expect_text '^fdatasync +[1-9]' "$out"
expect_text '^audit: [0-9,]+ calls on the mount, all accounted for$' "$out"
install -d -o 65534 -g 65534 pg
expect 0 "$FSREEL" capture --audit -q -o t.reel --dir pg -- \
	setpriv --reuid 65534 --regid 65534 --clear-groups "$bin/initdb" -D pg/data -A trust
expect_text '^audit: [0-9,]+ calls on the mount, all accounted for$' "$out"
