# SPDX-License-Identifier: MIT
# Thread numbers come round (after 32,768 where pid_max is small): another process under the number of
# one that has ended is another thread of the trace, also if it has used more CPU time.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
requires test -w /proc/sys/kernel/ns_last_pid
requires python3 -c ''
mkdir db

cat >reuse.py <<'EOF'
import os, sys, time

def child(name, busy):
    pid = os.fork()
    if pid:
        return pid
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)
    until = time.process_time() + busy
    while time.process_time() < until:
        pass
    os.mkdir(f"{sys.argv[1]}/{name}{os.getpid()}")
    os._exit(0)

first = child("first", 0)
os.waitpid(first, 0)
time.sleep(1.2)
# Others take numbers too: try until it is ours.
for attempt in range(200):
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(first - 1))
    second = child("second", 0.05)
    os.waitpid(second, 0)
    if second == first:
        sys.exit(0)
sys.exit(77)
EOF

status=0
"$FSREEL" capture -q -o t.reel --dir db -- python3 reuse.py "$PWD/db" || status=$?
[ "$status" != 77 ] || skip "others were always faster"
[ "$status" = 0 ] || fail "status $status"
expect 0 "$FSREEL" dump --op mkdir t.reel
expect_text 'first/([0-9]+) mkdir\(., "first\1"' "$out"
number=$(sed -n 's/.*"first\([0-9]*\)".*/\1/p' <<<"$out")
expect_text "second/$number mkdir\(., \"second$number\"" "$out"
