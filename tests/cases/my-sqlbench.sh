# SPDX-License-Identifier: MIT
# timeout: 300
# The tests of my-sqlbench: captured, replayed on each file system without a divergence, run there for
# real; without a single sync where nothing is to be durable.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
requires command -v jq
expect 0 "$FSREEL" workloads
grep -q '^my-sqlbench.*built without' <<<"$out" && skip "built without libmysqlclient"
PATH=$PATH:/usr/sbin command -v mariadbd mysqld >/dev/null || skip "needs MariaDB"

on=
for type in ext4 xfs btrfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && on+=${on:+,}$type
done
where=(--on "${on:-tmpfs}" --size 700M --scratch-dir .)
small=my-sqlbench:size=tiny,innodb_log_file_size=4M,innodb_buffer_pool_size=8M

syncs()
{
	expect 0 "$FSREEL" stat --json t.reel
	jq '[.ops | to_entries[] | select(.key | test("sync")) | .value.count] | add // 0' <<<"$out"
}

for keys in engine=myisam,durable=no engine=aria,durable=no,test=insert test=create; do
	mkdir data
	expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$small,$keys"
	[[ $keys == *durable=no* ]] || [ "$(syncs)" -gt 100 ] || fail "$keys: $(syncs) syncs"
	[[ $keys != *durable=no* ]] || [ "$(syncs)" = 0 ] || fail "$keys: $(syncs) syncs"
	expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
	rm -rf data
done

# Each test is a step of its own.
expect 0 "$FSREEL" run -q --workload "$small,engine=myisam,durable=no" "${where[@]}" --repeat 1 -o r.json
names=$(jq -r '.runs[] | [.steps[].name] | join(" ")' r.json | sort -u)
[ "$names" = 'alter-table ATIS big-tables connect create insert select wisconsin' ] ||
	fail "the steps are: $names"
