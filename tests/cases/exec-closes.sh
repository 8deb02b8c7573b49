# SPDX-License-Identifier: MIT
# A process whose first request is the flush of a file that execve() closes: the kernel holds a lock
# then which much of /proc/PID waits for, and the pass-through must not.
. "$TEST_LIB/functions.sh"
requires_fuse
mkdir db

cat >many.py <<'END'
import os
fd = os.open("db/file", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
for i in range(300):
    os.write(fd, b"x")
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
END
expect 0 timeout -k 1 60 "$FSREEL" capture -q -o t.reel --dir db -- python3 many.py
expect 0 "$FSREEL" stat --json t.reel
[ "$(jq .ops.write.count <<<"$out")" = 300 ] || fail "writes: $(jq .ops.write <<<"$out")"
[ "$(jq .ops.flush.count <<<"$out")" -ge 300 ] || fail "flushes: $(jq .ops.flush <<<"$out")"
