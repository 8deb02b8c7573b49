# SPDX-License-Identifier: MIT
# dir: needs no privilege; what does is refused with the remedy.
. "$TEST_LIB/functions.sh"
requires_root
requires setpriv --version

as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$PWD/home" "$bin" "$@"
}

# The binary may lie where others cannot look.
chmod 755 .
bin=$PWD/fsreel
install -m 755 "$FSREEL" "$bin"
mkdir home
chown 65534:65534 home
as_nobody --version >/dev/null 2>&1 || skip "nobody cannot reach $PWD"

expect 0 as_nobody run --workload sqlite-tpcb:clients=2,transactions=20,accounts=100 --on "dir:$PWD/home"
expect_text '^dir:.* 1 ' "$out"
[ -z "$(ls -A home)" ] || fail "left: $(ls home)"
expect 2 as_nobody run --workload sqlite-tpcb --on ext4
expect_text 'needs root.*dir:PATH' "$err"

# Root in a container.
expect 2 setpriv --bounding-set=-sys_admin "$bin" run --workload sqlite-tpcb --on ext4
expect_text 'needs root with CAP_SYS_ADMIN' "$err"
expect 0 setpriv --bounding-set=-sys_admin "$bin" run --workload sqlite-tpcb:transactions=20,accounts=100 \
	--on "dir:$PWD/home"

mkdir mine
chmod 700 mine
expect 2 as_nobody run --workload sqlite-tpcb --on "dir:$PWD/mine"
expect_text 'cannot write there' "$err"
expect 0 as_nobody targets
expect_text '^ext4 +root .*run as root, or use dir:PATH' "$out"
expect 0 as_nobody workloads
as_nobody doctor >report || [ $? = 1 ] || fail "doctor"
expect_text 'privilege +limited' "$(cat report)"
! grep '^loop.*modprobe' report || fail "advice that only helps root"
