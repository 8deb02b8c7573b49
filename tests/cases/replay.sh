# SPDX-License-Identifier: MIT
# What was captured replays without a divergence, into the captured state, on every file system, in
# every order and with every engine.
. "$TEST_LIB/functions.sh"
requires_root

on=()
for type in ext4 xfs btrfs tmpfs; do
	grep -qw $type /proc/filesystems || continue
	command -v mkfs.$type >/dev/null || [ $type = tmpfs ] || continue
	on+=(--on "$type")
done
[ ${#on[@]} -gt 0 ] || skip "no file system to replay on"

cat >mix.sh <<'EOF'
set -e
mkdir -p a/b/c
for i in 1 2 3 4 5 6 7 8 9; do echo "$i" >a/f$i; done
mv a/b a/moved
ln a/f1 a/link
ln -s f2 a/symlink
readlink a/symlink
chmod 600 a/f3
touch -d 2001-01-01 a/f4
truncate -s 100000 a/f5
sed -i s/7/8/ a/f7
cp -a a copy
tar cf t.tar a
tar xf t.tar -C a/moved
(for i in 1 2 3 4 5; do echo x >>log; done) &
(for i in 1 2 3 4 5; do echo y >>log; done) &
wait
mkfifo fifo
dd if=/dev/zero of=big bs=3M count=2 conv=fsync 2>/dev/null
fallocate -l 1M preallocated || :
ls -lR . >/dev/null
rm -r a/moved fifo
mv a z
long=$(printf %300s | tr ' ' n)
! touch "$long" 2>/dev/null || exit 1
! mv z "$long" 2>/dev/null || exit 1
EOF
mkdir mix
(cd mix && "$FSREEL" capture -q -o ../mix.reel -- sh ../mix.sh >/dev/null) || fail "capture of mix.sh"
mkdir wal rollback
"$FSREEL" capture -q -o wal.reel --dir wal --workload \
	sqlite-tpcb:clients=4,transactions=50,accounts=200 || fail "capture in WAL mode"
"$FSREEL" capture -q -o rollback.reel --dir rollback --workload \
	sqlite-tpcb:clients=2,transactions=20,accounts=200,journal_mode=delete || fail "capture"

for trace in mix rollback; do
	for engine in lanes ring auto; do
		expect 0 "$FSREEL" replay $trace.reel --size 400M "${on[@]}" --engine $engine --verify-state
	done
	for order in thread resource strict; do
		expect 0 "$FSREEL" replay $trace.reel --on dir:. --order $order --verify-state
	done
done
expect 0 "$FSREEL" replay wal.reel --size 400M "${on[@]}" --verify-state

expect 0 "$FSREEL" replay rollback.reel --on dir:. --mode paced -o results.json
expect_text '"mode": *"paced"' "$(cat results.json)"
expect 0 "$FSREEL" report results.json

expect 2 "$FSREEL" replay rollback.reel
expect_text "no target given" "$err"
expect 2 "$FSREEL" replay results.json --on dir:.
expect 2 "$FSREEL" replay missing.reel --on dir:.
expect_text "missing.reel" "$err"
expect 2 "$FSREEL" replay rollback.reel --on dir:. --order chaos
[ -z "$(find . -maxdepth 1 -name 'fsreel-*')" ] || fail "something was left behind"

# What cannot be replayed at all is said once, and nothing is said of an end that nobody looked for.
mkdir tiny
mount -t tmpfs -o size=64k none tiny
cleanup_fn umount tiny
expect 1 "$FSREEL" replay wal.reel --on dir:tiny
expect_text 'FAILED: .*No space left' "$out"
[ -z "$err" ] || fail "a complaint about a trace that is whole: $err"

# A command of one's own is what the report is about.
expect 0 "$FSREEL" replay mix.reel --on dir:. -o mine.json
expect 0 "$FSREEL" report mine.json
expect_text '^sh \.\./mix\.sh$' "$out"

# The trace is not overwritten by its results.
cp mix.reel own.reel
expect 2 "$FSREEL" replay own.reel --on dir:. -o ./own.reel
expect_text 'own.reel is the trace to be read' "$err"
cmp mix.reel own.reel || fail "the trace was overwritten"
