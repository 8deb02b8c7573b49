# SPDX-License-Identifier: MIT
# timeout: 300
# Programs find on the mount what they find on the file system below, cached or not, logged or not.
. "$TEST_LIB/functions.sh"
requires_fuse

# on DIR OPTION...: all cases in DIR, on a mount
on()
{
	mkdir "$1"
	expect 0 "$FSREEL" capture --dir "$1" "${@:2}" -- sh -c "cd '$PWD/$1' && exec '$MOUNT_CASES'"
	[ -z "$(grep "$PWD" /proc/self/mountinfo)" ] || fail "still mounted: $1"
}

mkdir below
expect 0 sh -c "cd below && exec '$MOUNT_CASES'"
on plain --no-log
on logged -o logged.reel
on strict -o strict.reel --strict-meta
[ "$(ls below)" = "$(ls logged)" ] || fail "different files are left"
