# SPDX-License-Identifier: MIT
# Where the time of threads went: who waited for whom, adding up, and exact CPU times for the replay.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires_probe
mkdir db

# A reader waits for a writer that computes, sleeps and syncs by turns.
cat >pair.sh <<'EOF2'
cd db && mkfifo pipe
exec 9<>pipe
(for i in 1 2 3 4 5 6 7 8; do read -r line <&9 || exit; done) &
for i in 1 2 3 4 5 6 7 8; do
	dd if=/dev/zero of=file bs=1M count=4 conv=fsync status=none
	sleep 0.02
	echo go >&9
done
wait
EOF2
expect 0 "$FSREEL" capture --probe=yes -o a.reel --dir db -- bash pair.sh
expect 0 "$FSREEL" check a.reel
expect 0 "$FSREEL" stat --gaps a.reel
expect_text '^bash +[0-9]' "$out"
expect_text 'sleep +clock_nanosleep +8 ' "$out"
"$FSREEL" dump --waits a.reel >waits
[ "$(grep -c 'clock_nanosleep: timer' waits)" = 8 ] || fail "sleeps: $(cat waits)"
grep -q ': thread bash/' waits || fail "nobody waited for bash: $(cat waits)"
"$FSREEL" stat --gaps --json a.reel >gaps.json
python3 "$TEST_LIB/reel.py" a.reel >other || fail "a second reader"
[ "$(wc -l <other)" = "$("$FSREEL" dump a.reel | wc -l)" ] || fail "a second reader counts otherwise"
python3 - gaps.json <<'EOF2'
import json, sys
gaps = json.load(open(sys.argv[1]))
for row in gaps["threads"]:
    assert sum(row["parts_ns"].values()) == row["total_ns"], row
timer = sum(row["parts_ns"]["timer"] for row in gaps["threads"])
assert 160e6 <= timer, timer
calls = {row["name"]: row["parts_ns"]["calls"] for row in gaps["threads"]}
assert calls["dd"] > 0, calls
unknown = sum(row["parts_ns"]["unknown"] for row in gaps["threads"])
total = sum(row["total_ns"] for row in gaps["threads"])
assert unknown <= total / 50, (unknown, total)
EOF2

# A name of any bytes has its rows in JSON too, and sums of a part of the trace are said to be that.
sleeper=$(printf 'sl\377p')
cp "$(command -v sleep)" "$sleeper"
expect 0 "$FSREEL" capture --probe=yes -o name.reel --dir db -- "./$sleeper" 0.1
expect 0 "$FSREEL" stat --gaps --json name.reel
jq -e '.complete and any(.threads[]; .name == "sl?p") and any(.waits[]; .threads == "sl?p")' <<<"$out" >/dev/null ||
	fail "a thread of an odd name is missing: $out"
head -c $(($(stat -c %s a.reel) - 100)) a.reel >torn.reel
expect 1 "$FSREEL" stat --gaps torn.reel
expect_text '^torn: whole up to byte' "$err"

# Without a probe there is nothing to say.
expect 0 "$FSREEL" capture --probe=no -o b.reel --dir db -- ls db
expect 2 "$FSREEL" stat --gaps b.reel
expect_text 'no probe ran' "$err"

# The CPU time between calls is the application's own: less than with the pass-through's share in it,
# and a paced replay takes it.
mkdir sqlite
for probe in yes no; do
	rm -rf sqlite/*
	expect 0 "$FSREEL" capture --probe=$probe -o $probe.reel --dir sqlite --workload sqlite-tpcb:transactions=500
done
cpu_us()
{
	"$FSREEL" dump --json "$1" | jq -s '[.[].cpu_ns] | add / 1000 | floor'
}
exact=$(cpu_us yes.reel)
all=$(cpu_us no.reel)
echo "CPU time between calls: $exact us of the application, $all us with the capture's share"
[ "$exact" -lt "$all" ] || fail "the probe's clock counts what the capture costs"
expect 0 "$FSREEL" replay yes.reel --mode paced --on tmpfs --size 512M
