# SPDX-License-Identifier: MIT
# capture runs a command as if it were not there, and refuses what cannot work.
. "$TEST_LIB/functions.sh"
requires_fuse
mkdir db

# The command's place, status and files are its own.
expect 0 "$FSREEL" capture -o a.reel --dir db -- sh -c 'pwd; echo text >db/file; cat db/file'
[ "$out" = "$PWD
text" ] || fail "the command said: $out"
[ "$(cat db/file)" = text ] || fail "the file did not arrive below"
expect_text 'a.reel: [0-9,]+ events' "$err"
expect 7 "$FSREEL" capture -o a.reel --dir db -- sh -c 'exit 7'
expect 143 "$FSREEL" capture -o a.reel --dir db -- sh -c 'kill -TERM $$'
cd db || exit
expect 0 "$FSREEL" capture -o ../a.reel -- pwd
[ "$out" = "$PWD" ] || fail "the command ran in $out"
cd ..

# What is there at the start, in a tree of some depth, is in the way of nothing.
mkdir -p db/one/two/three db/other
touch db/one/two/three/deep db/other/file
expect 0 "$FSREEL" capture -o a.reel --dir db -- find db -type f
[ "$(wc -l <<<"$out")" = 3 ] || fail "found: $out"
rm -r db/one db/other

# A command that works elsewhere: the empty trace is said, also when remarks are not wanted.
expect 0 "$FSREEL" capture -q -o a.reel --dir db -- true
expect_text 'nothing was called below db' "$err"

# Seen by the command alone, unless a mount point is named.
expect 0 "$FSREEL" capture -o a.reel --dir db -- sh -c 'grep -c fsreel /proc/self/mountinfo'
mkdir point
"$FSREEL" capture -o a.reel --dir db --mount point -- sh -c 'touch "$1" && sleep 1' sh "$PWD/up" &
until [ -e up ]; do sleep 0.05; done
[ "$(cat point/file)" = text ] || fail "the named mount point is empty"
wait $!
rm up

# Refusals: one line, nothing left behind.
refuses()
{
	expect 2 "$FSREEL" capture "${@:2}"
	expect_text "$1" "$err"
	[ "$(wc -l <<<"$err")" = 1 ] || fail "more than one line: $err"
	[ ! -e b.reel ] || fail "a trace was left: $*"
}
mkdir db/inner
refuses 'would lie inside' -o db/b.reel --dir db -- true
refuses 'inside the directory' -o b.reel --dir db --mount db/inner -- true
refuses 'would hide' -o b.reel --dir db/inner --mount db -- true
refuses 'missing' -o b.reel --dir missing -- true
refuses 'no such program' -o b.reel --dir db -- no-such-program
refuses 'not a directory|Not a directory' -o b.reel --dir db --mount db/file -- true
refuses 'what to run' -o b.reel --dir db
refuses 'procfs' -o b.reel --dir /proc -- true
refuses 'procfs' -o b.reel --dir /proc/sys -- true
refuses 'procfs' -o b.reel --dir db --mount /proc/sys -- true
refuses 'name the trace' --dir db -- true
refuses 'exclude' -o b.reel --no-log --dir db -- true
refuses 'unknown workload|no workload' -o b.reel --dir db --workload nonsense

# Refused before the workload makes anything.
mkdir clean
refuses 'would lie inside' -o clean/b.reel --dir clean --workload sqlite-tpcb:transactions=1
refuses 'cannot write' -o missing/b.reel --dir clean --workload sqlite-tpcb:transactions=1
rmdir clean || fail "a refused capture left files in its directory"

# The same where FUSE is missing.
if [ "$(id -u)" = 0 ]; then
	mkdir clean
	expect 2 unshare -m sh -c 'mount -t tmpfs none /dev && exec "$@"' sh \
		"$FSREEL" capture -o b.reel --dir clean --workload sqlite-tpcb:transactions=1
	expect_text 'no /dev/fuse' "$err"
	rmdir clean || fail "without FUSE files were left in the directory"
fi
