# SPDX-License-Identifier: MIT
# A workload that does not fit fails in one clear line; the other targets are still run.
. "$TEST_LIB/functions.sh"
requires_fs ext4

big=sqlite-bulk:rows=300000,synchronous=off
expect 1 "$FSREEL" run --workload $big --size 64M --on tmpfs --on ext4 --on "dir:$PWD" -o results.json
expect_text '^tmpfs +0 .*FAILED' "$out"
expect_text '^ext4 +0 .*FAILED' "$out"
expect_text '^ext4: run: .*(full|No space)' "$out"
expect_text '^dir:.* 1 ' "$out"
[ "$(grep -c '^ext4: ' <<<"$out")" = 1 ] || fail "not one line: $out"
grep -q '"failure": "run: ' results.json || fail "the results do not say so"

# The data set itself does not fit.
expect 1 "$FSREEL" run --workload sqlite-tpcb:scale=10,transactions=1 --size 64M --on ext4
expect_text '^ext4: prepare: .*(full|No space)' "$out"
