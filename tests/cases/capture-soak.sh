# SPDX-License-Identifier: MIT
# timeout: 120
# A mixed load for SOAK_SECONDS (ten minutes in the long suite): the recorder's memory and descriptors
# stay what they were, and in the end the trace has what the program counted.
. "$TEST_LIB/functions.sh"
requires_fuse
requires python3 -c ''
for_seconds=${SOAK_SECONDS:-12}
mkdir db

"$FSREEL" capture -o t.reel --dir db -- sh -c "cd db && exec '$LOAD' ../counts $for_seconds 4 8 100 0" 2>err &
capture=$!
until [ -s counts ]; do sleep 0.05; done
recorder=$(pgrep -P $capture | head -n 1)

# memory: kB in use; descriptors
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$recorder/status"; }
descriptors() { find "/proc/$recorder/fd" -mindepth 1 2>/dev/null | wc -l; }

# A third to warm up, then a tenth, and what threads that had little to do have not yet used of their
# buffers: 64 times 256 KiB.
sleep "$((for_seconds / 3))"
memory_then=$(memory) descriptors_then=$(descriptors)
sleep "$((for_seconds / 2))"
memory_now=$(memory) descriptors_now=$(descriptors)
[ "$memory_now" -le $((memory_then + memory_then / 10 + 16384)) ] ||
	fail "memory grew from $memory_then to $memory_now kB"
[ "$descriptors_now" -le $((descriptors_then + descriptors_then / 5 + 200)) ] ||
	fail "descriptors grew from $descriptors_then to $descriptors_now"
wait $capture || fail "the capture failed: $(cat err)"
"$LOAD" counts >made
"$TEST_LIB/compare-counts" t.reel made
expect 0 "$FSREEL" check t.reel
echo "memory $memory_then kB, $memory_now kB; descriptors $descriptors_then, $descriptors_now; $(cat made)"
