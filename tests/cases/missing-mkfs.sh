# SPDX-License-Identifier: MIT
# A program or a kernel driver that is missing is named with the remedy; a mkfs that hangs is stopped.
. "$TEST_LIB/functions.sh"
requires_fs ext4
requires unshare -m true

spec=sqlite-tpcb:transactions=5,accounts=100
hidden='mount -t tmpfs none /usr/sbin && exec "$@"'

# shellcheck disable=SC2016 # $@ is for the inner shell
expect 2 unshare -m bash -c "$hidden" - "$FSREEL" run --workload "$spec" --on ext4
expect_text 'mkfs.ext4 is not installed .apt install e2fsprogs.' "$err"
expect 0 unshare -m bash -c "$hidden" - "$FSREEL" targets
expect_text '^ext4 +no .*apt install e2fsprogs' "$out"

for type in jfs reiserfs f2fs nilfs2; do
	grep -qw $type /proc/filesystems && continue
	modprobe -nq $type 2>/dev/null && continue
	expect 2 "$FSREEL" run --workload "$spec" --on $type
	expect_text "$type cannot be made here: .*CONFIG_" "$err"
done

# A stand-in that never ends, as mkfs on a failing disk.
mkdir bin
printf '#!/bin/sh\necho $$ >%s/mkfs.pid\nexec sleep 1000\n' "$PWD" >bin/mkfs.ext4
chmod +x bin/mkfs.ext4
PATH=$PWD/bin:$PATH "$FSREEL" run --workload "$spec" --on ext4 >out 2>err &
pid=$!
for _ in $(seq 100); do
	[ -s mkfs.pid ] && break
	sleep 0.05
done
[ -s mkfs.pid ] || fail "mkfs was not started: $(cat err)"
kill -TERM $pid
status=0
wait $pid || status=$?
[ "$status" = 143 ] || fail "status $status after SIGTERM"
expect_text 'interrupted' "$(cat err)"
! kill -0 "$(cat mkfs.pid)" 2>/dev/null || fail "mkfs goes on"
