# SPDX-License-Identifier: MIT
# Whichever process of a capture is killed: the trace can be read, no mount stays, and nothing is
# written past it.
. "$TEST_LIB/functions.sh"
requires_fuse
requires "$FSREEL" stat --help
mkdir db point

# start OPTION...: a command that writes into the mount for ever, in the background
start()
{
	rm -f t.reel db/log
	"$FSREEL" capture -o t.reel --dir db "$@" -- sh -c "cd '$place' && i=0; while echo \$i >>log; do
		i=\$((i + 1)); sleep 0.01; done" 2>/dev/null &
	capture=$!
	for _ in $(seq 100); do
		[ ! -s db/log ] || [ "$(wc -l <db/log)" -lt 150 ] || return 0
		sleep 0.05
	done
	fail "the command does not come on"
}

# The process that serves the mount is the only child of the one started.
recorder()
{
	pgrep -P "$capture" | head -n 1
}

# The mount dies with its recorder; so does everything the command started, in whatever session: it
# would go on in the empty mount point.
"$FSREEL" capture -o t.reel --dir db --mount point -- sh -c "setsid sh -c '(while :; do
	echo more >>$PWD/point/far; sleep 0.01; done) & wait' & sleep 0.5; kill -KILL \$PPID; sleep 9" 2>err &&
	fail "success without a recorder"
grep -q 'the recorder was ended by signal 9; what ran on its mount was killed' err || fail "$(cat err)"
sleep 0.2
[ -z "$(ls point)" ] || fail "a process went on in the empty mount point"
[ -s db/far ] || fail "it never came on"

# check_end WHAT STATUS: of stat, 1 for a trace without its end
check_end()
{
	wait "$capture" || true
	for _ in $(seq 100); do
		grep -q "$PWD" /proc/self/mountinfo || break
		sleep 0.05
	done
	! grep "$PWD" /proc/self/mountinfo || fail "a mount stays ($1)"
	local size
	size=$(stat -c %s db/log)
	sleep 0.2
	[ "$size" = "$(stat -c %s db/log)" ] || fail "the command still writes ($1)"
	expect "$2" "$FSREEL" stat --json t.reel
	expect_text '"events": [1-9][0-9]{2}' "$out"
	[ -z "$(ls point)" ] || fail "files in the mount point ($1)"
}

place=$PWD/db
for options in "" "--mount $PWD/point"; do
	[ -z "$options" ] || place=$PWD/point
	# shellcheck disable=SC2086
	for signal in KILL TERM; do
		start $options
		kill -s "$signal" "$capture"
		check_end "$signal, caller, $options" 0
		start $options
		sleep 1.2 # a frame is at most a second old
		kill -s "$signal" "$(recorder)"
		check_end "$signal, recorder, $options" "$([ "$signal" = KILL ] && echo 1 || echo 0)"
	done
done
