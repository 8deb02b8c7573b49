# SPDX-License-Identifier: MIT
# Somebody takes the mount away under a running command, or sends the recorder signals that are none
# of its business: it neither hangs nor dies, and says what is not in the trace.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
mkdir db point

# writes PLACE: a line each 20 ms for 2 s
writes="i=0; while [ \$i -lt 100 ]; do echo \$i >>log; i=\$((i + 1)); sleep 0.02; done"

wait_for_log()
{
	until [ -s db/log ] && [ "$(wc -l <db/log)" -gt 10 ]; do sleep 0.02; done
}

# ends STATUS: of the capture in the background; nothing is left, and the trace is sound
ends()
{
	local status=0
	wait "$capture" || status=$?
	[ "$status" = "$1" ] || fail "status $status instead of $1: $(cat err)"
	! grep "$PWD" /proc/self/mountinfo || fail "a mount stays"
	expect 0 "$FSREEL" check t.reel
}

# A process in the mount is served on after umount -l; who comes by the path is not.
timeout 30 "$FSREEL" capture -o t.reel --dir db --mount point -- sh -c "cd '$PWD/point' && $writes" 2>err &
capture=$!
wait_for_log
umount -l point
ends 1
expect_text 'not complete: the mount was taken away' "$(cat err)"
[ "$(wc -l <db/log)" = 100 ] || fail "a process that was in the mount was not served"
[ -z "$(ls point)" ] || fail "written into the empty mount point"

# What is busy cannot be unmounted the usual way, by nobody.
rm db/log
"$FSREEL" capture -o t.reel --dir db --mount point -- sh -c "cd '$PWD/point' && $writes" 2>err &
capture=$!
wait_for_log
! fusermount3 -u point 2>refused || fail "unmounted though busy"
! umount point 2>refused || fail "unmounted though busy"
ends 0

# The command itself takes it away: it sees the directory below then.
expect 1 "$FSREEL" capture -o t.reel --dir db -- sh -c "echo a >'$PWD/db/seen' && umount -l '$PWD/db' &&
	echo b >'$PWD/db/unseen'"
expect_text 'the mount was taken away' "$err"
expect 0 "$FSREEL" dump t.reel
expect_text 'create\(.*"seen"' "$out"
! grep unseen <<<"$out" || fail "how did that come into the trace?"

# Signals that programs send to their parent, or that follow from a limit.
expect 0 "$FSREEL" capture -o t.reel --dir db -- sh -c 'cd db && for s in USR1 PIPE ALRM VTALRM PROF IO XCPU XFSZ; do
	kill -s $s $PPID && echo $s >after-$s || exit 1; done'
[ "$(ls db/after-* | wc -l)" = 8 ] || fail "the mount went with a signal"

# A limit on the size of files is the command's and the trace's; nobody dies of it but the command.
(ulimit -f 100 && exec "$FSREEL" capture -o t.reel --dir db -- sh -c 'head -c 200000 /dev/zero >db/big') 2>err &&
	fail "no limit"
[ "$(stat -c %s db/big)" = 102400 ] || fail "the limit was not the command's"
expect 0 "$FSREEL" check t.reel

# Without a terminal: what nohup started goes on when the terminal goes, and what it runs too.
rm db/log
nohup "$FSREEL" capture -o t.reel --dir db -- sh -c "cd db && $writes" >out 2>err &
capture=$!
wait_for_log
kill -HUP $capture "$(pgrep -P $capture)"
ends 0
[ "$(wc -l <db/log)" = 100 ] || fail "the command was ended by a signal that nohup keeps away"
