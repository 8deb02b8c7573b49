# SPDX-License-Identifier: MIT
# Marks that a program sets by asking for .fsreel-phase:NAME divide a trace, and order its replay.
. "$TEST_LIB/functions.sh"
requires_fuse
mkdir db

cat >load.sh <<'END'
cd db
echo before >a
test -e .fsreel-phase:load
for i in 1 2 3; do
	head -c 8192 /dev/zero >"$i" &
done
wait
test -e .fsreel-phase:drop
rm 1 2 3
sync a
END
expect 0 "$FSREEL" capture -q -o t.reel --dir db -- sh load.sh
[ "$(ls -A db)" = a ] || fail "the marks left something: $(ls -A db)"
expect 0 "$FSREEL" stat --json t.reel
[ "$(jq -r '.phases[] | .name' <<<"$out" | tr '\n' ' ')" = " load drop " ] || fail "phases: $out"
[ "$(jq '.phases[] | select(.name == "load") | .written_bytes' <<<"$out")" = 24576 ] ||
	fail "not all that was written lies in the phase: $out"
[ "$(jq '.phases[] | select(.name == "drop") | .syncs' <<<"$out")" = 1 ] || fail "syncs: $out"
expect 0 "$FSREEL" stat t.reel
expect_text '^load +[0-9]+ ' "$out"

mkdir target
for order in thread resource strict; do
	expect 0 "$FSREEL" replay t.reel --on "dir:$PWD/target" --order "$order" --verify-state
done

# A replay times each phase, and they add up to no more than the run.
expect 0 "$FSREEL" replay t.reel --on "dir:$PWD/target" -o r.json
[ "$(jq -r '.runs[0].steps[].name' r.json | tr '\n' ' ')" = "load drop " ] || fail "$(jq .runs[0].steps r.json)"
jq -e '.runs[0] | (.steps | map(.elapsed_ns) | add) <= .elapsed_ns' r.json >/dev/null ||
	fail "phases take longer than the run: $(jq .runs[0].steps r.json)"
