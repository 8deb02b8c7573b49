# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For cases: . "$TEST_LIB/functions.sh"
#
#   requires COMMAND ARG...     skip unless it succeeds
#   requires_root               skip unless root
#   requires_fuse               skip unless FUSE mounts work here
#   requires_probe              skip unless BPF programs can watch processes
#   requires_fs TYPE            skip unless this kernel and its tools can make TYPE (root)
#   cleanup_fn COMMAND ARG...   run at the end, last one first, also on failure
#   expect STATUS COMMAND ...   run it; fail on another status; output in $out, messages in $err
#   expect_text PATTERN TEXT    fail unless TEXT has a match of the extended regular expression
#   fail WORD...                end with a message
# $FSREEL is the binary. The case starts in an empty directory of its own; $TMPDIR must be empty
# again at the end.
set -euo pipefail

: "${FSREEL:?must name the fsreel binary}"
cleanups=()

run_cleanups()
{
	local status=$? i
	set +e
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}"
	done
	exit "$status"
}
trap run_cleanups EXIT
trap 'exit 143' TERM INT

cleanup_fn()
{
	cleanups+=("${*@Q}")
}

skip()
{
	echo "skip: $*"
	exit 77
}

fail()
{
	echo "$(caller | sed 's/\([0-9]*\) \(.*\)/\2:\1/'): $*" >&2
	exit 1
}

requires()
{
	"$@" >/dev/null 2>&1 || skip "needs '$*'"
}

requires_root()
{
	[ "$(id -u)" = 0 ] || skip "needs root"
}

requires_fuse()
{
	[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "needs /dev/fuse"
	command -v fusermount3 >/dev/null || [ "$(id -u)" = 0 ] || skip "needs fusermount3"
}

# The probe is built in and the kernel lets it run.
requires_probe()
{
	"$FSREEL" doctor --json | grep -A1 '"check": "probe"' | grep -q '"state": "ok"' ||
		skip "needs the probe (see fsreel doctor)"
}

requires_fs()
{
	requires_root
	command -v "mkfs.$1" >/dev/null || [ "$1" = tmpfs ] || skip "needs mkfs.$1"
	modprobe -q "$1" 2>/dev/null || true
	grep -qw "$1" /proc/filesystems || skip "this kernel has no $1"
}

expect()
{
	local want=$1 got=0
	shift
	"$@" >"$PWD/.out" 2>"$PWD/.err" || got=$?
	out=$(<"$PWD/.out")
	err=$(<"$PWD/.err")
	rm -f "$PWD/.out" "$PWD/.err"
	[ "$got" = "$want" ] || fail "status $got instead of $want: $*
$out
$err"
}

expect_text()
{
	grep -qE -- "$1" <<<"$2" || fail "no match of '$1' in: $2"
}
