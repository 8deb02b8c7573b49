# SPDX-License-Identifier: MIT
# stat, dump and check on good, torn, bad and foreign files; and a second reader agrees with dump.
. "$TEST_LIB/functions.sh"
good=$TEST_LIB/../golden/sample.reel
events=$(($("$FSREEL" ops --json | jq length) * 12)) # of each operation

expect 0 "$FSREEL" stat "$good"
expect_text 'OPERATION +COUNT' "$out"
expect_text '^write +12 ' "$out"
expect 0 "$FSREEL" stat --json "$good"
python3 - "$out" "$events" <<'END' || fail "the names of stat --json"
import json, sys
s = json.loads(sys.argv[1])
assert s["events"] == int(sys.argv[2]) and s["lost"] == 0 and s["threads"] == 2 and s["complete"], s
assert s["bytes_per_event"] > 1 and s["elapsed_ns"] > 0 and s["file_bytes"] > 1000, s
assert s["ops"]["write"]["count"] == 12 and s["ops"]["write"]["total_ns"] > 0, s
END

expect 0 "$FSREEL" dump --op rename --limit 2 "$good"
[ "$(wc -l <<<"$out")" = 2 ] || fail "dump --limit"
expect_text '^[0-9.]+ sqlite.*/4712 rename\(link, .* = 8 <0.000001296>$' "$out"
expect 0 "$FSREEL" dump --thread 4711 --from 0.002 --to 0.003 "$good"
[ "$(wc -l <<<"$out")" = 3 ] || fail "dump --thread --from --to: $out"
expect 0 "$FSREEL" dump --tree "$good"
expect_text 'data/bank.db \(3/8 random\) data=4196 in 2 user.color="red"' "$out"
expect 2 "$FSREEL" dump --op renam "$good"
expect_text "there is no operation 'renam'" "$err"
expect 2 "$FSREEL" dump --from soon "$good"

# Its events are made up, so they contradict each other; the bytes are in order.
expect 1 "$FSREEL" check "$good"
expect_text 'handles that were never opened' "$out"
expect_text "^bad: $events events, 7 entries" "$out"

# Cut off: all of the block is lost, and it is said.
head -c 3000 "$good" >torn.reel
expect 1 "$FSREEL" stat torn.reel
expect_text '^torn: whole up to byte [0-9]+' "$err"
expect 1 "$FSREEL" check torn.reel
expect_text '^torn: whole up to byte [0-9]+' "$out"

# One byte changed.
cp "$good" flipped.reel
printf '\xff' | dd of=flipped.reel bs=1 seek=4000 conv=notrunc status=none
expect 1 "$FSREEL" check flipped.reel
expect_text "flipped.reel: byte [0-9]+: the frame's checksum is wrong" "$out"
expect 2 "$FSREEL" stat flipped.reel
expect_text "flipped.reel: byte [0-9]+: the frame's checksum is wrong" "$err"

for command in stat dump check; do
	expect 2 "$FSREEL" "$command" "$FSREEL"
	expect_text 'is not a trace' "$err"
	expect 2 "$FSREEL" "$command" nowhere.reel
	expect_text 'nowhere.reel: No such file' "$err"
done

# Written from the description alone.
python3 "$TEST_LIB/reel.py" "$good" >second || fail "the second reader"
"$FSREEL" dump --json "$good" | python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    e["args"] = {k: v for k, v in e["args"].items() if not k.endswith("_path")}
    print(json.dumps(e, sort_keys=True))' >first
cmp first second || fail "two readers of the same trace differ: $(diff first second | head -2)"
