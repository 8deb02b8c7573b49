# SPDX-License-Identifier: MIT
# The Berkeley DB workload: captured, replayed on each file system without a divergence, and run
# there for real with its data checked.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
expect 0 "$FSREEL" workloads
grep -q '^bdb-kv.*built without' <<<"$out" && skip "built without Berkeley DB"

on=tmpfs
for type in ext4 xfs btrfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && on+=,$type
done
where=(--on "$on" --size 400M --scratch-dir .)
small=bdb-kv:records=500,transactions=40,checkpoint=30

for keys in sync=sync clients=4,sync=dsync,page_size=512 regions=file,sync=write-nosync,clients=2; do
	mkdir data
	expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$small,$keys"
	expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
	expect 0 "$FSREEL" run -q --workload "$small,$keys" "${where[@]}"
	rm -rf data
done
