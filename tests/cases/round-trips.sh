# SPDX-License-Identifier: MIT
# timeout: 900
# Every row of `fsreel workloads` through capture, replay on ext4, xfs and btrfs, and the real run there,
# without a divergence. A workload without a small form here fails the case.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires jq --version
for type in ext4 xfs btrfs; do
	requires command -v "mkfs.$type"
done

declare -A small=(
	[sqlite-tpcb]="accounts=1000,transactions=50"
	[sqlite-bulk]="rows=2000"
	[fsmark]="files=50"
	[fileserver]="files=30,loops=20,size=16k"
	[varmail]="files=30,loops=20"
	[fileio]="total=4M,requests=100"
	[stream]="size=4M,files=20"
	[treecopy]="files=100"
	[command]='run=echo x >f && sync f && mv f g && cat g'
	[pg-tpcb]="transactions=50"
	[pg-tpch]="scale=0.001,queries=1,6"
	[my-oltp]="rows=500,transactions=20,innodb_log_file_size=4M,innodb_buffer_pool_size=8M"
	[my-restore]="rows=500,innodb_log_file_size=4M,innodb_buffer_pool_size=8M"
	[my-sqlbench]="size=tiny,test=create,innodb_log_file_size=4M,innodb_buffer_pool_size=8M"
	[bdb-kv]="transactions=50"
)

expect 0 "$FSREEL" workloads --json
mapfile -t names < <(jq -r '.[] | .workload' <<<"$out")
[ ${#names[@]} -ge 10 ] || fail "the workloads: $out"
expect 0 "$FSREEL" workloads
missing=$(awk '/built without/ { print $1 }' <<<"$out")
for name in "${names[@]}"; do
	[ -n "${small[$name]:-}" ] || fail "no small form of $name here"
	if grep -qx "$name" <<<"$missing"; then
		echo "$name: not built"
		continue
	fi
	expect 0 "$FSREEL" bench -q --workload "$name:${small[$name]}" --on ext4,xfs,btrfs --size 1G --repeat 1 --mode paced -o "$name"
	jq -e '[.runs[] | select(.kind == "replay")] | length >= 3 and all(.divergences == 0 and .failure == null)' \
		"$name/results.json" >/dev/null || fail "$name: $(jq -c '.runs[] | [.kind, .target, .divergences, .failure]' "$name/results.json")"
	[ "$(jq '[.runs[] | select(.kind == "real" and .failure == null) | .target] | unique | length' "$name/results.json")" = 3 ] ||
		fail "$name: not three real runs"
	rm -r "$name"
done
