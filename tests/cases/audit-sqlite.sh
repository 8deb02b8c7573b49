# SPDX-License-Identifier: MIT
# Every call that SQLite makes is in the trace, or the audit knows why not; so with shell tools.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
mkdir db
"$FSREEL" capture --audit -q -o t.reel --dir db -- true >/dev/null 2>&1 || skip "needs the probe"

for mode in delete truncate persist wal; do
	mkdir "db-$mode"
	expect 0 "$FSREEL" capture --audit -q -o t.reel --dir "db-$mode" \
		--workload "sqlite-tpcb:clients=3,transactions=40,accounts=500,journal_mode=$mode"
	expect_text '^fdatasync +[1-9]' "$out"
	expect_text '^audit: [0-9,]+ calls on the mount, all accounted for$' "$out"
done

expect 0 "$FSREEL" capture --audit -q -o t.reel --dir db -- sh -c 'cd db && mkdir d e &&
	dd if=/dev/zero of=big bs=3M count=2 conv=fsync status=none && cp -a big d/copy &&
	ln d/copy e/hard && ln -s ../big e/soft && tar cf all.tar d e && cat e/soft >e/more &&
	mv e/more . && touch -d yesterday more && ls -lR . && rm -r d e && ! cat absent 2>/dev/null && ! stat .fsreel-phase:end 2>/dev/null'
expect_text '^audit: [0-9,]+ calls on the mount, all accounted for$' "$out"
expect_text '^write +[0-9]+ +[0-9]+ +[1-9]' "$out" # dd's writes arrive in pieces

# The same as JSON; the command's own status comes first.
expect 7 "$FSREEL" capture --audit --json -q -o t.reel --dir db -- sh -c 'echo x >db/y; exit 7'
python3 - "$out" <<'EOF2'
import json, sys
audit = json.loads(sys.argv[1])
calls = {row["call"]: row for row in audit["calls"]}
assert audit["unaccounted"] == audit["lost"] == 0 and audit["cases"] == []
assert calls["write"]["traced"] == 1 and calls["openat"]["traced"] == 1, calls
assert {row["event"] for row in audit["events"]} >= {"create", "write", "flush", "release"}
EOF2

# What cannot be audited is refused before anything runs.
expect 2 "$FSREEL" capture --audit --no-log --dir db -- true
expect 2 "$FSREEL" capture --json -o t.reel --dir db -- true

# Without room for the record of the calls there is no verdict.
mkdir small
cleanup_fn umount small
mount -t tmpfs -o size=300k none small
rm -rf db
mkdir db
expect 1 "$FSREEL" capture --audit -q -o small/t.reel --dir db \
	--workload sqlite-tpcb:transactions=2500,accounts=1000,synchronous=off
expect_text '^audit: not conclusive: .*No space left' "$out"
