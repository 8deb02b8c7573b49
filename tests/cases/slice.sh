# SPDX-License-Identifier: MIT
# timeout: 400
# Parts of traces of SQLite and PostgreSQL, by time, path, thread and operation: each is sound and
# replays without a difference. Anonymous ones keep the classes of files and no name.
. "$TEST_LIB/functions.sh"
requires_fuse

good_slice()
{
	expect 0 "$FSREEL" slice "$1" -o part.reel "${@:2}"
	expect 0 "$FSREEL" check part.reel
	mkdir root
	expect 0 "$FSREEL" replay part.reel --on dir:root --verify-state
	rm -r root
}

events()
{
	"$FSREEL" stat --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])'
}

# Seconds, at two thirds and so on of the trace.
at()
{
	"$FSREEL" stat --json "$1" | python3 -c "import json, sys; print(json.load(sys.stdin)['elapsed_ns'] / 1e9 * $2)"
}

slices()
{
	local tid
	tid=$("$FSREEL" dump --json --op write --limit 1 "$1" | python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["tid"])')
	good_slice "$1" --from "$(at "$1" 0.33)" --to "$(at "$1" 0.41)"
	good_slice "$1" --from "$(at "$1" 0.8)"
	good_slice "$1" --thread "$tid"
	good_slice "$1" --op write --op sync --from "$(at "$1" 0.5)"
}

mkdir work
expect 0 "$FSREEL" capture -o sqlite.reel --dir work --workload sqlite-tpcb:clients=2,transactions=60
slices sqlite.reel
good_slice sqlite.reel --path '*-wal'
[ "$(events part.reel)" -lt "$(events sqlite.reel)" ] || fail "--path leaves nothing out"

# Anonymous: nothing but the names changes, and none of them is there.
mkdir -p secret/customers
ln -s customers/ledger.sqlite secret/current
cp -r secret secret2
run_there='d=$1; echo x >$d/plans.txt; mv $d/plans.txt $d/customers/old-plans.txt
	python3 - $d/customers/ledger.sqlite <<END
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("pragma journal_mode=wal")
db.execute("create table t(a)")
for i in range(50):
    db.execute("insert into t values(?)", (i,))
    db.commit()
os.setxattr(sys.argv[1], "user.clearance", b"topmost")
END
	cat $d/current >/dev/null'
expect 0 "$FSREEL" capture -o plain.reel --dir secret -- sh -c "$run_there" sh secret
expect 0 "$FSREEL" capture --anonymize -o direct.reel --dir secret2 -- sh -c "$run_there" sh secret2
expect 0 "$FSREEL" slice plain.reel --anonymize -o sliced.reel
for trace in direct.reel sliced.reel; do
	# The host's name in quotes, as META has it: one of two letters may be part of a hash.
	for word in customers ledger plans clearance topmost secret current python "\"$(uname -n)\""; do
		"$FSREEL" dump --json --tree $trace >all.txt
		"$FSREEL" dump --json $trace >>all.txt
		"$FSREEL" dump --meta $trace >>all.txt
		strings -n 3 $trace >>all.txt
		! grep -q "$word" all.txt || fail "$trace still says '$word': $(grep -m1 "$word" all.txt)"
	done
	expect 0 "$FSREEL" check $trace
	mkdir root
	expect 0 "$FSREEL" replay $trace --on dir:root --verify-state
	rm -r root
done
classes()
{
	"$FSREEL" stat "$1" | sed -n '/^FILES/,$p' | awk '{print $1, $2, $4}'
}
[ "$(classes plain.reel)" = "$(classes sliced.reel)" ] || fail "classes: $(classes sliced.reel)"
expect_text '^wal [1-9-]' "$(classes sliced.reel)"
[ "$(events plain.reel)" = "$(events sliced.reel)" ] || fail "events are missing"
head -c 32 /dev/urandom >key
expect 0 "$FSREEL" slice plain.reel --anonymize --key key -o a.reel
expect 0 "$FSREEL" slice plain.reel --anonymize --key key -o b.reel
cmp <("$FSREEL" dump a.reel) <("$FSREEL" dump b.reel) || fail "--key"

# What is wrong with the input is said, and stays.
head -c $(($(stat -c %s plain.reel) - 200)) plain.reel >torn.reel
expect 1 "$FSREEL" slice torn.reel -o part.reel
expect_text 'torn.reel has no valid end' "$err"
expect 2 "$FSREEL" slice plain.reel -o plain.reel
expect_text 'is the trace to be read' "$err"
expect 2 "$FSREEL" slice plain.reel
expect_text 'name the slice with -o' "$err"
expect 2 "$FSREEL" slice plain.reel -o part.reel --from 2 --to 1
expect_text '[-]-to 1 is before --from 2' "$err"
expect 2 "$FSREEL" slice plain.reel -o part.reel --op nonsense
expect_text "no operation and no class 'nonsense'" "$err"
expect 2 "$FSREEL" slice plain.reel -o part.reel --key key
expect_text '[-]-key is for --anonymize' "$err"

# A server with processes of its own.
compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null || exit 0
[ "$(id -u)" = 0 ] || exit 0
chmod 755 .
mkdir -m 777 pg
expect 0 "$FSREEL" capture -o pg.reel --dir pg --workload pg-tpcb:clients=2,transactions=20
good_slice pg.reel --from "$(at pg.reel 0.33)" --to "$(at pg.reel 0.9)"
good_slice pg.reel --thread postgres --op write --op sync
good_slice pg.reel --path pg_wal --from "$(at pg.reel 0.2)"
