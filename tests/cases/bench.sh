# SPDX-License-Identifier: MIT
# timeout: 300
# The main job on real file systems: no divergence, exact sums, a prediction that was written first.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_fs ext4
requires_fs xfs
requires python3 --version

spec=sqlite-tpcb:transactions=40,accounts=200
bench=("$FSREEL" bench --workload "$spec" --on ext4 --on xfs --repeat 2 --size 512M --scratch-dir .)

expect 0 "${bench[@]}" -o out
expect_text 'Against (ext4|xfs), by the critical path of the median paced replays' "$out"
expect_text 'The paced replays were off by' "$out"
expect_text 'captured on dir:.*: [0-9,]+ calls' "$err"
expect_text 'real runs, round 2 of 2: xfs .*, ext4 ' "$err"
[ "$out" = "$(<out/report.txt)" ] || fail "report.txt is not what was shown"
[ "$(echo out/*)" = "out/prediction.json out/report.txt out/results.json out/trace.reel" ] ||
	fail "unexpected files: $(echo out/*)"

python3 - out <<'END'
import hashlib, json, sys
d = sys.argv[1]
results = json.load(open(d + '/results.json'))
prediction = json.load(open(d + '/prediction.json'))
runs = results['runs']
assert len(runs) == 12, len(runs)
for run in runs:
    assert run['failure'] is None, run['failure']
    assert run['divergences'] == 0 and run['elapsed_ns'] > 0 and run['operations'] > 0, run
    assert run['device'], 'no device counters'
replays = [r for r in runs if r['kind'] == 'replay']
assert [(r['target'], r['mode']) for r in replays] == [
    ('ext4', 'paced'), ('xfs', 'paced'), ('ext4', 'full'), ('xfs', 'full'),
    ('xfs', 'paced'), ('ext4', 'paced'), ('xfs', 'full'), ('ext4', 'full')]
for run in replays:
    assert sum(c['critical_ns'] for c in run['classes']) == run['elapsed_ns'], run['target']
    assert run['operations'] == replays[0]['operations'] and run['syncs'] > 0
# What was predicted was written before anything was measured, and is what was compared.
assert all(r['kind'] == 'replay' for r in prediction['runs'])
assert all(p['measured_ns'] == 0 for p in prediction['prediction'])
key = lambda r: {(p['target'], p['mode']): p['predicted_ns'] for p in r['prediction']}
assert key(prediction) == key(results) and len(key(results)) == 4
assert all(p['measured_ns'] > 0 for p in results['prediction'])
assert results['trace']['sha256'] == hashlib.sha256(open(d + '/trace.reel', 'rb').read()).hexdigest()
assert {r['target'] for r in results['ranking']} == {'ext4', 'xfs'}
END

expect 0 "$FSREEL" report --json out/results.json
python3 -c '
import json, sys
a = json.load(sys.stdin)["attribution"]
assert len(a) == 1 and sum(c["ns"] for c in a[0]["classes"]) == a[0]["difference_ns"]
' <<<"$out"

# Errors come before the work.
expect 2 "${bench[@]}" -o out
expect_text 'out holds an earlier bench' "$err"
expect 2 "${bench[@]}" -o new --baseline zfs
expect_text "'zfs' is not one of the targets" "$err"
expect 2 "$FSREEL" bench --on ext4
expect_text 'which workload' "$err"
[ ! -e new ] || fail "a directory was left"
mkdir full
mount -t tmpfs -o size=8k none full
cleanup_fn umount full
mkdir full/mine
expect 2 "${bench[@]}" -o full/mine
expect_text 'No space left' "$err"
[ -d full/mine ] || fail "a directory of the user's was removed"

# Interrupted, it leaves nothing mounted (the runner looks) and keeps what it has.
"${bench[@]}" -o cut --repeat 50 >cut.out 2>cut.err &
until grep -q 'paced replays, round 1' cut.err; do
	kill -0 $! || fail "$(<cut.err)"
	sleep 0.1
done
kill -INT $!
status=0
wait $! || status=$?
[ "$status" = 130 ] || fail "status $status after SIGINT"
expect_text 'unfinished \(what there is lies in cut\): (.*: )?interrupted' "$(<cut.err)"
[ "$(sed -n '3s/[0-9]* of/N of/p' cut.out)" = " unfinished: interrupted after N of 300 runs" ] ||
	fail "the report does not say that it is unfinished: $(head -4 cut.out)"
expect_text '^ unfinished: interrupted after' "$(<cut/report.txt)"
expect 0 "$FSREEL" report cut/results.json
expect_text '^ unfinished: interrupted after' "$out"
expect 0 "$FSREEL" report --json cut/results.json
expect_text '"unfinished": "interrupted after' "$out"

# A workload that fails is told from bad usage, as 'run' tells it.
expect 1 "$FSREEL" bench -o failed --repeat 1 --on dir:. --workload 'command:run=false'
expect_text '^fsreel bench: capture: ' "$err"
[ ! -e failed ] || fail "a directory was left"
