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

# A process left behind holds nothing up and reaches nothing any more.
expect 0 "$FSREEL" capture -o t.reel --dir db -- sh -c 'said=$PWD/late && cd db
	(sleep 0.6; echo late >late; echo $? >"$said") >/dev/null 2>&1 & touch started'
expect 0 "$FSREEL" check t.reel
for _ in $(seq 50); do
	[ -s late ] || sleep 0.1
done
[ ! -e db/late ] && [ "$(cat late)" != 0 ] || fail "written past the trace"

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
