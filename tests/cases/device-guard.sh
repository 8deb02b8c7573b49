# SPDX-License-Identifier: MIT
# --device: what is in use is never touched, what holds something only with --force, and the device is
# empty again afterwards.
. "$TEST_LIB/functions.sh"
requires_fs ext4
requires losetup --version
requires unshare -m true

run_on_device()
{
	"$FSREEL" run --workload sqlite-tpcb:transactions=5,accounts=100 --on ext4 --device "$dev" "$@"
}

truncate -s 64M image
dev=$(losetup --find --show image)
cleanup_fn losetup -d "$dev"

expect 0 run_on_device
[ -z "$(blkid -p "$dev")" ] || fail "not empty afterwards: $(blkid -p "$dev")"
expect 0 run_on_device

mkfs.ext4 -q -L precious "$dev"
sum=$(md5sum <image)
expect 2 run_on_device
expect_text "$dev holds something: ext4 .*precious.*--force" "$err"
[ "$(md5sum <image)" = "$sum" ] || fail "the refused device was written to"

# Mounted where no other process can copy the mount into a namespace of its own.
mkdir mnt
# shellcheck disable=SC2016 # $1 is for the inner shell
unshare -m bash -c 'mount "$1" mnt && touch mnt/mine && echo here >mounted && exec sleep 1000' - "$dev" &
holder=$!
cleanup_fn eval "kill $holder 2>/dev/null || true"
for _ in $(seq 100); do
	[ -s mounted ] && break
	sleep 0.05
done
expect 2 run_on_device
expect_text 'in use' "$err"
expect 2 run_on_device --force
expect_text 'in use.*not even with --force' "$err"
kill $holder
wait $holder || true
[ "$(debugfs -R 'ls -p /' "$dev" 2>/dev/null | grep -c /mine/)" = 1 ] || fail "the mounted file system is gone"
expect 0 run_on_device --force

# A partition table is enough.
printf '\x80\0\x02\0\x83\0\0\0\0\x08\0\0\0\x10\0\0' | dd of="$dev" bs=1 seek=446 conv=notrunc status=none
printf '\x55\xaa' | dd of="$dev" bs=1 seek=510 conv=notrunc status=none
expect 2 run_on_device
expect_text 'holds something: dos' "$err"

expect 2 run_on_device --force --size 1G
expect_text '--size is for scratch files' "$err"
dev=$PWD/image expect 2 run_on_device
expect_text 'not a block device' "$err"
dev=/no/such/device expect 2 run_on_device
expect_text '/no/such/device: No such file' "$err"
