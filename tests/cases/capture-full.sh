# SPDX-License-Identifier: MIT
# A disk below that is full, or fails: the program sees on the mount what it sees below it.
. "$TEST_LIB/functions.sh"
requires_fs ext4
requires_fuse
requires setpriv --version

cat >fill.sh <<'EOS'
cd "$1" || exit
try() { "$@" 2>&1 | sed 's/^[^:]*: //'; }
try dd if=/dev/zero of=big bs=64k status=none
stat -c 'big %s' big
try dd if=/dev/zero of=more bs=4k count=1 status=none conv=fsync
stat -c 'more %s' more
try fallocate -l 1M more
try truncate -s 1T more
rm -f big
try dd if=/dev/zero of=again bs=64k count=4 status=none conv=fsync
stat -c 'again %s' again
rm -f more again
EOS

cat >fail.sh <<'EOS'
cd "$1" || exit
dd if=/dev/urandom of=big bs=64k count=640 conv=fsync status=none 2>/dev/null
echo "big $?"
EOS

# fresh SIZE: an ext4 of that size on "disk", mounted on "on", a directory for everyone in it
fresh()
{
	truncate -s 0 "$disk"
	truncate -s "$1" "$disk"
	mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0 "$disk"
	mount -o loop "$disk" on
	mkdir -m 777 on/d
}

# same SCRIPT WHO...: below and on the mount
same()
{
	fresh "$size"
	("${@:2}" sh "$PWD/$1" "$PWD/on/d") >below
	umount on
	fresh "$size"
	"$FSREEL" capture -q -o t.reel --dir on/d -- "${@:2}" sh "$PWD/$1" "$PWD/on/d" >mounted
	umount on
	diff below mounted >differ || fail "$*: $(cat differ)"
	expect 0 "$FSREEL" check t.reel
	[ -s mounted ] || fail "nothing was tried"
}

chmod 755 .
chmod 644 fill.sh fail.sh
mkdir on store
cleanup_fn sh -c 'umount on 2>/dev/null'

# Full: also to the byte that ext4 keeps for root and an ordinary user must not get.
disk=store/disk size=48M
same fill.sh env
grep -q 'No space left' mounted || fail "it never was full: $(cat mounted)"
root_got=$(sed -n 's/^big //p' mounted)
same fill.sh setpriv --reuid 65534 --regid 65534 --clear-groups
[ "$(sed -n 's/^big //p' mounted)" -lt "$root_got" ] || fail "an ordinary user got what is kept for root"

# Broken: the disk is a file in a place that is too small for it, so writes fail with I/O errors.
mount -t tmpfs -o size=24m none store
cleanup_fn umount store
size=64M
same fail.sh env
[ "$(cat mounted)" = "big 1" ] || fail "no error was seen: $(cat mounted)"
