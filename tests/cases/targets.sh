# SPDX-License-Identifier: MIT
# Every file system that 'fsreel targets' says is here can be made, used and unmade; options take effect
# or are refused in the kernel's words; nothing is left mounted.
. "$TEST_LIB/functions.sh"
requires_root
# Where nobody else mounts anything meanwhile.
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -m --propagation private bash "$0"

spec=sqlite-tpcb:transactions=20,accounts=100

# run_on TARGET...: a small run; $out is its results
run_on()
{
	expect 0 "$FSREEL" run --workload "$spec" --size 400M --json "${@/#/--on=}"
}

# field NAME: of the first run
field()
{
	python3 -c 'import json, sys
run = json.load(sys.stdin)["runs"][0]
print(run[sys.argv[1]])' "$1" <<<"$out"
}

# refused PATTERN TARGET
refused()
{
	expect 2 "$FSREEL" run --workload "$spec" --size 400M --on "$2"
	expect_text "$1" "$err"
	[ "$(wc -l <<<"$err")" = 1 ] || fail "not one line: $err"
	[ -z "$out" ] || fail "output of a refused run: $out"
}

before=$(cat /proc/self/mountinfo)
expect 0 "$FSREEL" targets --json
mapfile -t here < <(python3 -c 'import json, sys
for row in json.load(sys.stdin):
    if row["available"] and ":" not in row["target"]: print(row["target"])' <<<"$out")
[ "${#here[@]}" -ge 2 ] || fail "only ${here[*]} here"
run_on "${here[@]}"
[ "$(grep -c '"kind": "real"' <<<"$out")" = "${#here[@]}" ] || fail "not all of ${here[*]}: $out"
[ "$(grep -c '"failure": null' <<<"$out")" = "${#here[@]}" ] || fail "failures: $out"

run_on ext4:noatime,barrier=0
expect_text 'noatime' "$(field options)"
expect_text 'nobarrier' "$(field options)"
expect_text 'barriers' "$(field unsafe)"
run_on 'ext3:data=journal:-J size=8'
expect_text 'data=journal' "$(field options)"
[ "$(field unsafe)" = None ] || fail "data=journal is not unsafe: $(field unsafe)"
run_on tmpfs
expect_text 'size=409600k' "$(field options)"
expect_text 'nothing survives' "$(field unsafe)"
run_on "dir:$PWD"

refused "Bad value for 'data'" ext4:data=nonsense
refused "Unknown parameter 'nobarriers'" ext4:nobarriers
refused 'mkfs.ext4 failed.*invalid option' 'ext4::--nonsense'
refused 'mkfs.ext3 failed.*journal.*too big' 'ext3::-J size=4000'
refused "did you mean 'ext4'" exf4
refused 'No such file' dir:/no/such/place
refused 'did you mean dir:/var/tmp\?' /var/tmp
refused 'each target its own --on' ext4,xfs:noatime
if [[ " ${here[*]} " = *' xfs '* ]]; then
	refused "Unknown parameter 'nobarrier'" xfs:nobarrier
	expect 2 "$FSREEL" run --workload "$spec" --size 64M --on xfs
	expect_text 'xfs needs 300 MiB, the scratch file has 64.0 MiB; give a larger --size' "$err"
fi
if [[ " ${here[*]} " = *' btrfs '* ]]; then
	run_on btrfs
	expect_text '(^|,)ssd(,|$)' "$(field options)"
	run_on btrfs:nossd,compress=zstd:1
	expect_text 'compress=zstd:1' "$(field options)"
	expect_text 'nossd' "$(field options)"
fi

expect 2 "$FSREEL" run --workload "$spec" --on ext4 --on ext4
expect_text 'two targets are called' "$err"
expect 0 "$FSREEL" run --workload "$spec" --size 64M ext4 --on ext4 --label a --label b
expect_text '^a .*1 ' "$out"
expect_text '^b .*1 ' "$out"
expect 2 "$FSREEL" run --workload "$spec" --size 100T --on ext4
expect_text 'has only .* free' "$err"
expect 2 "$FSREEL" run --workload "$spec" --scratch-dir /no/such/place --on ext4
expect_text 'cannot make a scratch file in /no/such/place: No such file' "$err"
expect 2 "$FSREEL" run --workload "$spec" --on ext4 -o /no/such/place/results.json
expect_text 'cannot create /no/such/place/results.json: No such file' "$err"
expect 2 "$FSREEL" run --workload "$spec" --on ext4 -o .
expect_text 'it is a directory' "$err"

[ "$(cat /proc/self/mountinfo)" = "$before" ] || fail "mounts are not as before"
