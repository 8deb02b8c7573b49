# SPDX-License-Identifier: MIT
# timeout: 300
# An ordinary user captures too, where /dev/fuse is open to him: here one in a place of our own.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires setpriv --version
[ -n "${INSIDE:-}" ] || INSIDE=1 exec unshare -m --propagation private bash "$0"

mknod -m 666 fuse c 10 229
mount --bind fuse /dev/fuse
requires sh -c ': </dev/fuse'
install -d -o 65534 -g 65534 home home/db home/point
cd home || exit
as_user()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

expect 0 as_user "$FSREEL" capture -o a.reel --dir db -- sh -c "cd '$PWD/db' && exec '$MOUNT_CASES'"
expect_text 'a.reel: [0-9,]+ events' "$err"
expect 0 as_user "$FSREEL" capture -o a.reel --dir db --mount point -- sh -c 'cat point/log | wc -c'
[ "$out" = 32000 ] || fail "read through the named mount point: $out"
! grep "$PWD" /proc/self/mountinfo || fail "still mounted"

# Without handles, files whose descriptor was given up are found again by name.
install -d -o 65534 -g 65534 many
ulimit -n 500
expect 0 as_user "$FSREEL" capture -o b.reel --dir many -- sh -c 'cd many && mkdir a b && for i in $(seq 1500); do
	echo $i >a/$i; done && mv a c && for i in $(seq 1500); do mv c/$i b/x$i; done && mv c/../b d &&
	for i in $(seq 1500); do read -r n <d/x$i && [ $n = $i ] || exit 1; done && rm -r c d'
[ -z "$(ls many)" ] || fail "not all could be removed"
