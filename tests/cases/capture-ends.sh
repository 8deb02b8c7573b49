# SPDX-License-Identifier: MIT
# The ways in which a capture ends before its time, or not.
. "$TEST_LIB/functions.sh"
requires_fuse
mkdir db

# ^C is the command's, which may see to its affairs; the trace is whole.
cat >careful.sh <<'EOF'
cd "$1"
trap 'echo saved >state; exit 3' INT
touch up
while :; do sleep 0.05; done
EOF
for signal in INT TERM; do
	rm -f db/up
	"$FSREEL" capture -o t.reel --dir db -- bash careful.sh "$PWD/db" 2>err &
	until [ -e db/up ]; do sleep 0.05; done
	kill -s "$signal" $!
	status=0
	wait $! || status=$?
	case $signal in
	INT) [ "$status" = 3 ] && [ "$(cat db/state)" = saved ] || fail "after INT: $status" ;;
	TERM) [ "$status" = 143 ] || fail "after TERM: $status" ;;
	esac
	expect 0 "$FSREEL" check t.reel
done

# What the command leaves running keeps its directory, and is captured to its end.
rm -rf left && mkdir left
expect 0 "$FSREEL" capture -o left.reel --dir left -- \
	sh -c 'cd left && { (sleep 1; echo late >late) & }'
expect_text 'sh has ended, but processes still use .*left' "$err"
[ "$(cat left/late)" = late ] || fail "what came late did not arrive"
expect 0 "$FSREEL" dump left.reel
expect_text 'write\(late' "$out"

# Unless ^C ends the capture: then the process reaches nothing any more.
rm -f left/late
"$FSREEL" capture -o left.reel --dir left -- sh -c 'said=$PWD/said && cd left
	(sleep 1; echo late >late; echo $? >"$said") >/dev/null 2>&1 & touch started' 2>err &
until grep -q 'still use' err; do sleep 0.05; done
kill -s TERM $!
wait $! || true
expect 0 "$FSREEL" check left.reel
for _ in $(seq 50); do
	[ -s said ] || sleep 0.1
done
[ ! -e left/late ] && [ "$(cat said)" != 0 ] || fail "written past the trace"

# Links out of the directory are said.
ln -s /etc/hostname db/out
expect 0 "$FSREEL" capture -o t.reel --dir db -- cat db/out
expect_text 'symbolic link led out' "$err"

# No room for the trace: the command goes on and the loss is said, or it is ended.
[ "$(id -u)" = 0 ] || exit 0
mkdir small
mount -t tmpfs -o size=1m none small
cleanup_fn umount small
writes='import os
fd = os.open("db/data", os.O_CREAT | os.O_RDWR)
for i in range(400000):
    os.pwrite(fd, os.urandom(20 + i % 97), hash((i, 7)) % 999983)
    if i == 300000:
        print("on", flush=True)'
expect 1 "$FSREEL" capture -o small/t.reel --dir db -- python3 -c "$writes"
[ "$out" = on ] || fail "the command did not go on"
expect_text 'events were lost because' "$err"
expect 143 "$FSREEL" capture -o small/t.reel --on-full abort --dir db -- python3 -c "$writes"
expect_text 'events were lost because' "$err"

# No room at all: refused, and no empty trace is left.
rm -f small/t.reel
dd if=/dev/zero of=small/fill bs=4k 2>/dev/null || :
expect 2 "$FSREEL" capture -o small/t.reel --dir db -- true
expect_text 'small/t.reel: No space left' "$err"
[ ! -e small/t.reel ] || fail "an empty trace was left"
