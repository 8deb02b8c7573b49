# SPDX-License-Identifier: MIT
# A run that is interrupted, terminated or killed leaves no process, mount, loop device or file.
. "$TEST_LIB/functions.sh"

requires_fs ext4
spec=sqlite-tpcb:clients=2,transactions=1000000

# start COMMAND...: in the background, until its clients are at work
start()
{
	setsid "$@" >out 2>err </dev/null &
	pid=$!
	cleanup_fn eval "kill -KILL $pid 2>/dev/null"
	for _ in $(seq 200); do
		[ "$(pgrep -c -g "$pid")" -ge 3 ] && return
		kill -0 "$pid" 2>/dev/null || fail "it ended by itself: $(cat err)"
		sleep 0.05
	done
	fail "its clients never started"
}

# ends_by SIGNAL
ends_by()
{
	kill "-$1" "$pid"
	for _ in $(seq 200); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	! kill -0 "$pid" 2>/dev/null || fail "it goes on after SIG$1"
	local status=0
	wait "$pid" 2>/dev/null || status=$?
	[ "$status" != 0 ] || fail "status 0 after SIG$1"
	for _ in $(seq 60); do
		pgrep -g "$pid" >/dev/null || break
		sleep 0.05
	done
	! pgrep -g "$pid" >/dev/null || fail "a process is left after SIG$1"
	for _ in $(seq 60); do
		grep -qs "$TMPDIR" /sys/block/loop*/loop/backing_file || break
		sleep 0.05
	done
	! grep -s "$TMPDIR" /sys/block/loop*/loop/backing_file || fail "a loop device is left after SIG$1"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left in TMPDIR after SIG$1: $(ls "$TMPDIR")"
}

mkdir here
for signal in INT TERM KILL; do
	start "$FSREEL" run --workload "$spec" --on ext4
	ends_by $signal
	start "$FSREEL" run --workload "$spec" --on "dir:$PWD/here"
	ends_by $signal
	# What lies in the user's directory can only stay when nothing can be done any more.
	[ $signal = KILL ] || [ -z "$(ls -A here)" ] || fail "left in dir: after SIG$signal: $(ls here)"
done

# What SIGKILL left there the next run clears away, but nothing of a living one, nor what only looks so.
[ -n "$(ls -A here)" ] || fail "nothing was left by SIGKILL: what is this test for?"
mkdir here/fsreel-abcdef here/fsreel-live00
exec 8>here/fsreel-live00.lock
flock 8
expect 0 "$FSREEL" run --workload sqlite-tpcb:transactions=20,accounts=100 --on "dir:$PWD/here"
[ "$(ls here | tr '\n' ' ')" = "fsreel-abcdef fsreel-live00 fsreel-live00.lock " ] || fail "left: $(ls here)"
exec 8>&-
rm -r here/*

# The runs that ended are kept, and say that there are more.
"$FSREEL" run --workload sqlite-tpcb:transactions=20,accounts=100 --on "dir:$PWD/here" --repeat 5000 \
	-o some.json >out 2>err &
for _ in $(seq 200); do
	[ -e some.json ] && break
	sleep 0.05
done
kill -INT $!
status=0
wait $! || status=$?
[ "$status" = 130 ] || fail "status $status after SIGINT: $(cat err)"
expect 0 "$FSREEL" report some.json
expect_text '^ unfinished: interrupted after [0-9]+ of 5000 runs' "$out"
