# SPDX-License-Identifier: MIT
# timeout: 300
# An ordinary user captures too, where /dev/fuse is open to him.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires setpriv --version
[ "$(stat -c %a /dev/fuse)" = 666 ] || skip "needs /dev/fuse open to users"

install -d -o 65534 -g 65534 home home/db home/point
cd home
as_user()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

expect 0 as_user "$FSREEL" capture -o a.reel --dir db -- sh -c "cd '$PWD/db' && exec '$MOUNT_CASES'"
expect_text 'a.reel: [0-9,]+ events' "$err"
expect 0 as_user "$FSREEL" capture -o a.reel --dir db --mount point -- sh -c 'cat point/log | wc -c'
[ "$out" = 32000 ] || fail "read through the named mount point: $out"
[ -z "$(grep "$PWD" /proc/self/mountinfo)" ] || fail "still mounted"
