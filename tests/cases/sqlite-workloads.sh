# SPDX-License-Identifier: MIT
# The SQLite workloads are sound on every file system here, in every journal mode, with several clients.
. "$TEST_LIB/functions.sh"
requires_root

on=()
for type in ext4 xfs btrfs tmpfs; do
	grep -qw $type /proc/filesystems || continue
	command -v mkfs.$type >/dev/null || [ $type = tmpfs ] || continue
	on+=(--on "$type")
done

for mode in wal delete truncate persist memory off; do
	for clients in 1 4; do
		expect 0 "$FSREEL" run --size 400M "${on[@]}" --workload \
			"sqlite-tpcb:clients=$clients,transactions=20,accounts=200,journal_mode=$mode"
	done
done
for synchronous in off normal full extra; do
	expect 0 "$FSREEL" run --size 400M "${on[@]}" --workload \
		"sqlite-tpcb:transactions=20,accounts=200,synchronous=$synchronous,mmap_size=4M"
done
for checkpoint in passive restart truncate; do
	expect 0 "$FSREEL" run --size 400M "${on[@]}" --workload \
		"sqlite-tpcb:clients=4,transactions=50,accounts=200,wal_autocheckpoint=20,checkpoint=$checkpoint"
done
expect 0 "$FSREEL" run --size 400M "${on[@]}" --workload sqlite-bulk:rows=5000,batch=500,updates=2000
expect 0 "$FSREEL" run --size 400M "${on[@]}" \
	--workload sqlite-bulk:rows=5000,batch=0,journal_mode=delete,page_size=65536

expect 0 "$FSREEL" workloads
names=$(awk '/^sqlite-/ { print $1 }' <<<"$out")
for name in $names; do
	expect 0 "$FSREEL" workloads "$name"
	expect_text '^KEY +DEFAULT' "$out"
done
expect 2 "$FSREEL" workloads sqlite-tpcp
expect_text "did you mean 'sqlite-tpcb'" "$err"
