# SPDX-License-Identifier: MIT
# A directory is captured once at a time, and so is what lies in it and what it lies in; beside it there
# is room for others.
. "$TEST_LIB/functions.sh"
requires_fuse
mkdir -p top/db/sub top/beside

"$FSREEL" capture -o a.reel --dir top/db -- sh -c 'cd top/db && touch up && while [ ! -e stop ]; do sleep 0.05; done' \
	2>first &
until [ -e top/db/up ]; do sleep 0.02; done

expect 2 "$FSREEL" capture -o b.reel --dir top/db -- true
expect_text "top/db' is being captured already, .*by process [1-9]" "$err"
expect 2 "$FSREEL" capture -o b.reel --dir top/db/sub -- true
expect_text "top/db/sub' lies in one that is being captured already, by process [1-9]" "$err"
expect 2 "$FSREEL" capture -o b.reel --dir top -- true
expect_text "top' is being captured already, or one in it is, by process [1-9]" "$err"
ln -s db top/alias
expect 2 "$FSREEL" capture -o b.reel --dir top/alias -- true
# Before any data is prepared in it.
expect 2 "$FSREEL" capture -o b.reel --dir top/db --workload sqlite-tpcb:transactions=10
expect_text 'is being captured already' "$err"
[ "$(ls top/db)" = "sub
up" ] || fail "something was prepared: $(ls top/db)"
expect 0 "$FSREEL" capture -o b.reel --dir top/beside -- touch top/beside/x
[ ! -e top/db/x ] || fail "wrong place"

# A recorder that is killed gives it free at once.
kill -KILL "$(pgrep -P $! | head -n 1)"
wait $! && fail "success without a recorder"
expect 0 "$FSREEL" capture -o b.reel --dir top -- touch top/x

# Other programs' locks: on the directory itself they count, on those it lies in they do not.
expect 2 flock top/db "$FSREEL" capture -o b.reel --dir top/db -- true
expect_text "top/db' is locked \(flock\) by flock, process [1-9]" "$err"
expect 0 flock top "$FSREEL" capture -o b.reel --dir top/db -- true
