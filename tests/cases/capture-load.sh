# SPDX-License-Identifier: MIT
# timeout: 240
# Many threads, more files than descriptors, a recorder that dies at any moment, memory that is short:
# the trace has what the program counted, up to the second before a death.
#
# SECONDS_OF_LOAD, KEEP (files alive per thread) and KILLS make it longer, as in the long suite.
. "$TEST_LIB/functions.sh"
requires_fuse
requires python3 -c ''
for_seconds=${SECONDS_OF_LOAD:-2} keep=${KEEP:-40} kills=${KILLS:-3}

# captured WHAT LOAD-ARGUMENT...: all is in the trace, and nothing of the files is left
captured()
{
	rm -rf db counts && mkdir db
	expect 0 "$FSREEL" capture -o t.reel --dir db -- sh -c "cd db && exec '$LOAD' ../counts ${*:2}"
	"$LOAD" counts >made
	"$TEST_LIB/compare-counts" t.reel made 2>err || fail "$1: $(cat err)"
	expect 0 "$FSREEL" check t.reel
	[ -z "$(find db -name '[fm]*' -type f)" ] || fail "$1: files are left"
}

captured "64 threads of data" "$for_seconds" 4 16 0 0 data
captured "64 threads of files" "$for_seconds" 8 8 "$keep" 0 files
(
	ulimit -n 1000
	captured "2,500 files alive with 1,000 descriptors" 0 8 8 40 60 files
) || exit 1

# The recorder dies at a moment of its choice. What had ended a good second before is in the trace.
for _ in $(seq "$kills"); do
	rm -rf db counts && mkdir db
	"$FSREEL" capture -o t.reel --dir db -- sh -c "cd db && exec '$LOAD' ../counts 60 4 8 20 0" 2>err &
	capture=$!
	until [ -s counts ]; do sleep 0.02; done
	sleep "1.$((RANDOM % 10))"
	"$LOAD" counts >before
	sleep "1.$((RANDOM % 5 + 3))"
	kill -KILL "$(pgrep -P $capture | head -n 1)"
	status=0
	wait $capture || status=$?
	[ $status = 2 ] || fail "status $status after a death: $(cat err)"
	"$LOAD" counts >after || : # what failed in its last moment
	cp counts still
	sleep 0.2
	cmp -s counts still || fail "the program goes on without its recorder"
	"$TEST_LIB/compare-counts" t.reel before after 2>err || fail "killed: $(cat err)"
	expect 1 "$FSREEL" check t.reel
	expect_text 'unfinished: no valid end after [0-9,]+ events' "$out"
	! grep "$PWD" /proc/self/mountinfo || fail "a mount stays"
done

# Memory that is short makes it serve with fewer threads. (Sanitizers need more than there is.)
if (ulimit -v 400000 && "$FSREEL" --version) >/dev/null 2>&1; then
	(
		ulimit -v 400000
		captured "a limit on memory" 1 16 4 10 0
	) || exit 1
fi

# The kernel's out-of-memory killer is a death like any other.
group=/sys/fs/cgroup/memory/fsreel-case-$$
[ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null || exit 0
cleanup_fn rmdir "$group"
echo 6000000 >"$group/memory.limit_in_bytes"
rm -rf db counts && mkdir db
"$FSREEL" capture -o t.reel --dir db -- sh -c "cd db && exec '$LOAD' ../counts 60 8 8 10 0" 2>err &
capture=$!
until [ -s counts ]; do sleep 0.02; done
sleep 1.5
pgrep -P $capture | head -n 1 >"$group/cgroup.procs"
status=0
wait $capture || status=$?
[ $status = 2 ] || fail "status $status without memory: $(cat err)"
expect_text 'the recorder was ended by signal 9' "$(cat err)"
expect 1 "$FSREEL" check t.reel
expect_text 'unfinished: no valid end after [0-9,]+ events' "$out"
! grep "$PWD" /proc/self/mountinfo || fail "a mount stays"
