# SPDX-License-Identifier: MIT
# timeout: 300
# TPC-H on PostgreSQL: captured, replayed on each file system without a divergence, run there for
# real; its answers are the same everywhere, and those that SQLite gives to the same rows.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
requires jq --version
expect 0 "$FSREEL" workloads
grep -q '^pg-tpch.*built without' <<<"$out" && skip "built without libpq"
find /usr/lib/postgresql -name initdb 2>/dev/null | grep -q . || skip "needs PostgreSQL"

where=(--size 700M --scratch-dir .)
for type in ext4 xfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && where+=(--on "$type")
done
[ ${#where[@]} -gt 4 ] || where+=(--on tmpfs)
small=pg-tpch:scale=0.001,set=min_wal_size=32MB

mkdir data
expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$small"
rm -rf data
expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
expect 0 "$FSREEL" run -q --workload "$small" -o r.json "${where[@]}"
expect 0 "$FSREEL" report --score average r.json
expect_text '^  average of 22 steps \(less is better\): ' "$out"
expect_text '^  q22 ' "$out"
jq -e '.runs | all(.failure == null and (.steps | length) == 37)' r.json >/dev/null || fail "steps: $(<r.json)"

answers()
{
	jq -r ".runs[$2].steps[] | select(.checksum != \"\") | \"\(.name) \(.rows) \(.checksum)\"" "$1"
}
"$TPCH_ANSWERS" 1 1 validation >sqlite.txt
for ((i = 0; i < $(jq '.runs | length' r.json); i++)); do
	diff sqlite.txt <(answers r.json $i) || fail "PostgreSQL's answers (>) on $(jq ".runs[$i].target" r.json)"
done

# Drawn parameters; a few queries, in a database that was prepared.
mkdir data
drawn=pg-tpch:scale=0.002,seed=3,part=queries,parameters=drawn,queries=1,3,5-22
expect 0 "$FSREEL" run -q --on dir:data --workload "$drawn" -o r.json
diff <("$TPCH_ANSWERS" 2 3 drawn | sed '/^q[24] /d') <(answers r.json 0) || fail "drawn parameters"

# A query that takes too long is given up, and said so; the others go on.
expect 0 "$FSREEL" run -q --on dir:data -o r.json --workload pg-tpch:scale=0.001,queries=1,18,timeout=0.001
[ "$(jq -c '.runs[0].steps | map(select(.plan != "") | .unfinished)' r.json)" = '["timeout after 0.001 s","timeout after 0.001 s"]' ] ||
	fail "no timeout: $(jq -c '.runs[0].steps' r.json)"
expect 2 "$FSREEL" run -q --on dir:data --workload pg-tpch:scale=0.0001
expect_text 'three decimals' "$err"
expect 2 "$FSREEL" run -q --on dir:data --workload pg-tpch:queries=23
expect_text 'not between 1 and 22' "$err"
