# SPDX-License-Identifier: MIT
# What FUSE is not asked for is in the trace exactly once, and what matters to a file system is replayed.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires_probe
mkdir db
cleanup_fn rm -rf db

expect 0 "$FSREEL" capture --probe=yes -o a.reel --dir db -- "$HIDDEN" db
expect 0 "$FSREEL" check a.reel
"$FSREEL" dump a.reel >events

# CALLS PATTERN: so many lines match
calls()
{
	[ "$(grep -cE "$2" events)" = "$1" ] || fail "not $1 times $2: $(cat events)"
}
calls 1 ' sync_file_range\(a, h1, offset=4096, size=100, flags=0x2\) = 0'
calls 1 ' fadvise\(a, h1, offset=0, size=4096, mode=3\) = 0'
calls 1 ' fadvise\(a, h1, offset=0, size=0, mode=4\) = 0'
calls 1 ' readahead\(a, h1, offset=0, size=8192\) = 0'
calls 1 ' syncfs\(a, h1\) = 0'
calls 1 ' sync\(\.\) = 0'
calls 1 ' mmap\(a, h1, offset=0, size=8192, mode=3, flags=0x1\) = 0'
calls 1 ' msync\(a, h1, size=8192, flags=0x4\) = 0'
calls 1 ' madvise\(a, h1, size=8192, mode=1\) = 0'
calls 1 ' munmap\(a, h1, size=8192\) = 0'
calls 1 ' rwf\(a, h1, offset=0, size=512, mode=1, flags=0x2\) = 512'
calls 1 ' write\(a, h1, offset=0, size=512, flags=0x9002,'
calls 1 ' request\(a, h1, offset=0, size=10, mode=0, command=23, flags=0x4\) = 10'
calls 1 ' request\(a, h1, .*mode=0, command=3, '
calls 1 ' request\(a, h1, offset=0, size=10, mode=1, command=1, '
calls 1 ' batch\(size=1, mode=1, '
calls 1 ' batch\(size=2, mode=0, .*\) = 2'
calls 1 ' exec\(value="hidden"\)'
calls 1 ' fork\(owner='
calls 2 ' exit\(value="hidden"\)'
for i in {0..19}; do
	name=$(printf "\\x$(printf %x $((98 + i)))")
	calls 1 " fadvise\\($name, h$((i + 2)), offset=$i, size=1, mode=0\\) = 0"
done
[ "$("$FSREEL" stat --json a.reel | jq -r '.meta.probe, .meta.cpu_clock' | xargs)" = "true exact" ] || fail META

# Done again without a difference; the notes are not.
for type in ext4 xfs btrfs; do
	expect 0 "$FSREEL" replay a.reel --on "$type" --size 512M --mode full -o "$type.json"
done

# Without the probe the capture goes on, and the trace and the summary say so.
expect 0 "$FSREEL" capture --probe=no -o b.reel --dir db -- true
[ "$("$FSREEL" stat --json b.reel | jq -r .meta.probe.off)" = "not wanted (--probe=no)" ] || fail "META without"
# An ordinary user may not load it.
chmod 777 . db
if id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	expect 2 setpriv --reuid nobody --clear-groups "$FSREEL" capture --probe=yes -o "$PWD/c.reel" --dir db -- true
	expect_text 'BPF is not allowed here|cannot mount' "$err"
fi
