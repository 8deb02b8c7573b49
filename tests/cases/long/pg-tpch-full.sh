# SPDX-License-Identifier: MIT
# timeout: 3600
# TPC-H at scale 0.1 through capture, replay and real run on three file systems, with one answer to
# each query on all of them.
. "$TEST_LIB/functions.sh"
requires_fuse
for type in ext4 xfs btrfs; do
	requires_fs $type
done
requires jq --version
expect 0 "$FSREEL" workloads
grep -q '^pg-tpch.*built without' <<<"$out" && skip "built without libpq"
find /usr/lib/postgresql -name initdb 2>/dev/null | grep -q . || skip "needs PostgreSQL"

expect 0 "$FSREEL" bench -q --workload pg-tpch:scale=0.1 --on ext4,xfs,btrfs --repeat 1 --size 3G \
	--scratch-dir . -o d
expect 0 "$FSREEL" report d
expect_text '^STEP BY STEP' "$out"
expect_text '^  m-time ' "$out"
"$TPCH_ANSWERS" 100 1 validation >sqlite.txt
jq -r 'first(.runs[] | select(.kind == "real")).steps[] | select(.checksum != "") |
	"\(.name) \(.rows) \(.checksum)"' d/results.json | diff sqlite.txt - || fail "PostgreSQL's answers (>)"
