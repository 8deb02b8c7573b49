# SPDX-License-Identifier: MIT
# The runner of these cases sees what a case leaves behind.
. "$TEST_LIB/functions.sh"

mkdir cases
export FSREEL_TEST_DIR=$PWD/cases

# case_gives STATUS PATTERN: the script on stdin, run as a case
case_gives()
{
	cat >case.sh
	expect "$1" "$TEST_LIB/run-case" case.sh
	expect_text "$2" "$err"
	[ -z "$(ls cases)" ] || fail "private directory left: $(ls cases)"
}

case_gives 0 '^$' <<<'test "$PWD" != / && [ -z "$(ls -A)" ] && touch "$TMPDIR/x" && rm "$TMPDIR/x"'
case_gives 77 '^$' <<<'. "$TEST_LIB/functions.sh"; requires false'
case_gives 1 'status 3' <<<'exit 3'
case_gives 1 'case.sh:1: reason' <<<'. "$TEST_LIB/functions.sh"; fail reason'
case_gives 1 'again: .*case.sh' <<<'exit 1'
case_gives 1 'temporary file left' <<<'touch "$TMPDIR/left"'
case_gives 1 'process .*sleep 1000' <<<'setsid sleep 1000 </dev/null & disown'
case_gives 1 'no end within 1 s' <<<'# timeout: 1
sleep 1001'
case_gives 0 '^$' <<<'. "$TEST_LIB/functions.sh"
cleanup_fn rm "$TMPDIR/a b"
cleanup_fn touch "$TMPDIR/a b"'
! pgrep -fx 'sleep 100[01]' >/dev/null || fail "a process survived"

[ "$(id -u)" = 0 ] || exit 0
case_gives 1 'mount .*/cwd/m' <<<'mkdir m; mount -t tmpfs none m'
case_gives 1 'loop device' <<<'truncate -s 1M f; losetup -f f'
! losetup -a | grep "$PWD" || fail "a loop device survived"
! grep "$PWD" /proc/self/mountinfo || fail "a mount survived"
