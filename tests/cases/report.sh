# SPDX-License-Identifier: MIT
# fsreel report: one file, several, and files that are none.
. "$TEST_LIB/functions.sh"

# run KIND TARGET MODE ELAPSED_NS SYNC_NS
run()
{
	printf '{"kind":"%s","target":"%s","mode":"%s","elapsed_ns":%s,"classes":[' "$1" "$2" "$3" "$4"
	[ "$1" = real ] || printf '{"op":"fsync","file_class":"wal","count":9,"critical_ns":%s}' "$5"
	printf ']}'
}

# results WORKLOAD RUN...
results()
{
	local IFS=,
	printf '{"fsreel_results":1,"workload":"%s","environment":{"kernel":"6.1"},"runs":[%s]}' \
		"$1" "${*:2}"
}

ext4=() btrfs=()
for i in 1 2 3 4; do
	ext4+=("$(run real ext4 '' 100000000$i)" "$(run replay ext4 paced 90000000$i 500000000)")
	btrfs+=("$(run real btrfs '' 300000000$i)" "$(run replay btrfs paced 290000000$i 2500000000)")
done
results w "${ext4[@]}" >ext4.json
results w "${btrfs[@]}" >btrfs.json

expect 0 "$FSREEL" report ext4.json btrfs.json
expect_text 'ext4 is fastest: 1.00 s, the median of 4 real runs. That is certain' "$out"
expect_text 'btrfs +2.00 s slower: fsync on the WAL \+2.00 s \(100 %\)' "$out"
! grep -q $'\033' <<<"$out" || fail "colour without a terminal"
! awk 'length > 80' <<<"$out" | grep . || fail "lines longer than 80 columns"

expect 0 "$FSREEL" report --baseline btrfs btrfs.json ext4.json
expect_text 'ext4 +2.00 s faster: fsync on the WAL -2.00 s \(100 %\)' "$out"

expect 0 "$FSREEL" report --json ext4.json btrfs.json
for name in trace environment runs prediction ranking attribution kind target repeat mode order \
	engine elapsed_ns operations divergences metric classes op file_class count total_ns \
	critical_ns predicted_ns measured_ns error median_ns low_ns high_ns; do
	expect_text "\"$name\":" "$out"
done

# Several workloads: one table before the reports.
results other "${ext4[@]}" "${btrfs[@]}" >other.json
expect 0 "$FSREEL" report ext4.json btrfs.json other.json
expect_text '^  w +1.00 s \* +3.00 s $' "$(sed 's/ *$/ /' <<<"$out")"
expect_text '^  score by sums +200.0 +66.7 $' "$(sed 's/ *$/ /' <<<"$out")"
expect_text '^  m-score +2.00 +0.67 $' "$(sed 's/ *$/ /' <<<"$out")"
! awk 'length > 80' <<<"$out" | grep . || fail "lines longer than 80 columns"

# Every name is explained.
expect 0 "$FSREEL" report --json ext4.json btrfs.json
for name in $(grep -oE '"[a-z0-9_]+":' <<<"$out" | tr -d '":' | sort -u); do
	grep -qE "\`$name(\\[\\])?\`" "$TEST_LIB/../../docs/results.md" || fail "docs/results.md does not name $name"
done

expect 2 "$FSREEL" report ext4.json --baseline zfs
expect_text "no target 'zfs' in these results; they have ext4" "$err"
sed 's/"runs"/"trace":{"sha256":"11"},&/' ext4.json >a.json
sed 's/"runs"/"trace":{"sha256":"22"},&/' btrfs.json >b.json
expect 2 "$FSREEL" report a.json b.json
expect_text 'b.json holds replays of another trace' "$err"
expect 2 "$FSREEL" report none.json
expect_text 'cannot open none.json: No such file' "$err"
expect 2 "$FSREEL" report .
expect_text 'the directory . holds no results.json' "$err"
mkdir bench
cp ext4.json bench/results.json
expect 0 "$FSREEL" report bench
expect_text 'ext4 takes 1.00 s' "$out"
expect 2 "$FSREEL" report "$FSREEL"
expect_text 'is not a results file of fsreel' "$err"
sed 's/"count":9/"count":-9/' ext4.json >bad.json
expect 2 "$FSREEL" report bad.json
expect_text 'bad.json: runs\[1\].classes\[0\].count: not between' "$err"
[ -z "$out" ] || fail "a bad file gives a report"

# What failed or diverged is said and makes the status 1.
sed 's/"mode":"paced"/"mode":"paced","divergences":2/' ext4.json >diverged.json
expect 1 "$FSREEL" report diverged.json
expect_text 'other answers than the capture' "$out"

# The same runs twice would be taken for repeats that agree.
expect 2 "$FSREEL" report ext4.json btrfs.json ext4.json
expect_text 'ext4.json holds runs on ext4 that the files before it hold too' "$err"
