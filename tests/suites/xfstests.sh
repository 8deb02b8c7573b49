# SPDX-License-Identifier: MIT
# timeout: 14400
# xfstests, its generic tests: directly on two file systems, and with FSTYP=fuse on pass-throughs of the
# same. Many can only run on a block device; those that say so on the mount are not compared.
#
#   XFSTESTS=DIR          the tree, built
#   XFSTESTS_TESTS=...    numbers of generic tests, or "-g GROUP"; default: those below
#   XFSTESTS_LOG=1        capture with a log; default: plain pass-through, as the many mounts are
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
suite_given XFSTESTS ltp/fsx "https://github.com/kdave/xfstests, built in place"
requires command -v unshare
requires test -x /sbin/mount.fuse
requires_fuse
requires_root

# Quick ones that need no block device.
tests=${XFSTESTS_TESTS:-"001 002 004 005 006 008 009 010 011 012 013 015 020 021 022 023 024 025 028 029 030 035 036 037 053
	058 060 061 063 064 075 078 080 081 084 086 087 088 091 092 094 098 103 105 109 110 118 120 123 124
	125 126 128 129 131 132 134 135 136 141 142 143 169 170 184 198 207 209 210 211 212 214 215 219 221
	223 225 228 236 237 239 240 241 245 246 247 248 255 257 258 286 294 306 308 309 313 314 316 336 337
	340 344 345 346 347 354 355 360 375 377 389 391 392 393 394 401 403 404 406 412 420 422 423 426 428
	430 431 432 433 434 436 437 439 443 445 446 448 450 451 452 460 463 465 466 467 468 469 471 472 478
	484 486 488 490 504 522 523 524 525 528 533 539 564 565 567 568 571 584 591 597 598 609 611 615
	618 630 631 632 637 638 639 647 678 679 680 683 684 685 686 687 688 691 696 697 706 708 728 729
	732 736 749 753"}

# As users and helpers that xfstests expects of the system, in a mount namespace of its own.
cat >inside.sh <<'END'
side=$1 type=$2 work=$3
shift 3
mkdir -p "$work"/{sbin,etc,up-sbin,up-etc,wk-sbin,wk-etc,test,scratch,results}
mount -t overlay -o "lowerdir=/usr/sbin,upperdir=$work/up-sbin,workdir=$work/wk-sbin" overlay /usr/sbin
mount -t overlay -o "lowerdir=/etc,upperdir=$work/up-etc,workdir=$work/wk-etc" overlay /etc
for user in fsgqa fsgqa2 123456-fsgqa; do
	id "$user" >/dev/null 2>&1 || useradd --badname --home-dir / --no-create-home --shell /bin/bash "$user"
done
cat >/usr/sbin/mount.fuse.fsreel <<'INNER'
#!/bin/bash
# mount.fuse.fsreel DIR MOUNTPOINT [-o OPTIONS]: until somebody unmounts it. The command of the capture
# says when the mount is ready, and waits.
log=(--no-log)
[ -z "$XFSTESTS_LOG" ] || log=(-o "$XFSTESTS_LOG/$$.reel")
ready=$(mktemp -u)
setsid "$FSREEL" capture -q "${log[@]}" --dir "$1" --mount "$2" -- bash -c 'cd /; touch "$1"
	while grep -q " $2 .* fuse.fsreel " /proc/self/mountinfo; do sleep 0.1; done' wait "$ready" "$2" \
	</dev/null >>/tmp/fsreel-mount.log 2>&1 &
pid=$!
until [ -e "$ready" ]; do
	kill -0 $pid 2>/dev/null || exit 1
	sleep 0.02
done
rm "$ready"
echo $pid >"/run/fsreel-xfstests${2//\//_}"
INNER
# xfstests unmounts by the source, mounts again at once, and wants to read the type without the subtype.
cat >/usr/sbin/umount <<'INNER'
#!/bin/bash
for arg; do
	target=
	[[ $arg != /* ]] || target=$(findmnt -rn -t fuse.fsreel -S "$arg" -o TARGET | tail -1)
	args+=("${target:-$arg}")
done
/usr/bin/umount "${args[@]}" || exit
while [ -n "$target" ] && kill -0 "$(<"/run/fsreel-xfstests${target//\//_}")" 2>/dev/null; do
	sleep 0.05
done
exit 0
INNER
mount -t tmpfs tmpfs /run
cat >/usr/sbin/df <<'INNER'
#!/bin/bash
/usr/bin/df "$@" | sed 's/fuse\.fsreel/fuse/'
INNER
chmod 755 /usr/sbin/{mount.fuse.fsreel,umount,df}
cat >"$work/config" <<INNER
export TEST_DIR=$work/test SCRATCH_MNT=$work/scratch RESULT_BASE=$work/results
INNER
if [ "$side" = below ]; then
	echo "export FSTYP=$type TEST_DEV=$1 SCRATCH_DEV=$2" >>"$work/config"
else
	mkdir -p "$work/fs-test" "$work/fs-scratch"
	mount "$1" "$work/fs-test"
	mount "$2" "$work/fs-scratch"
	mkdir -p "$work/fs-test/dir" "$work/fs-scratch/dir"
	echo "export FSTYP=fuse FUSE_SUBTYP=.fsreel TEST_DEV=$work/fs-test/dir SCRATCH_DEV=$work/fs-scratch/dir" >>"$work/config"
fi
export HOST_OPTIONS=$work/config
cd "$XFSTESTS" || exit
for number in $tests; do
	[[ $number == [0-9]* ]] && number=generic/$number
	list+=("$number")
done
timeout 7200 ./check "${list[@]}"
umount "$work/test"
umount "$work/scratch"
sleep 1
END
export tests

# check says "generic/001 12s ... 11s", "[not run] why", "[failed, exit status 1]", "- output mismatch".
results()
{
	sed -nE "s/^(generic\/[0-9]+) .*\[not run\].*/\1 not-run/p; s/^(generic\/[0-9]+) .*(failed|mismatch).*/\1 failed/p;
		s/^(generic\/[0-9]+)( +[0-9]+s \.\.\.)? +[0-9]+s *$/\1 ok/p" | LC_ALL=C sort -u
}

one_side()
{
	local type=$1 side=$2 device devices=()

	for device in test scratch; do
		rm -f "$device.img"
		truncate -s "$suite_size" "$device.img"
		"mkfs.$type" -q "$device.img"
		devices+=("$(losetup -f --show "$device.img")")
	done
	mkdir "$type.$side.work"
	unshare -m --propagation private bash "$PWD/inside.sh" "$side" "$type" "$PWD/$type.$side.work" "${devices[@]}" \
		>"$type.$side.log" 2>&1 || true
	losetup -d "${devices[@]}"
	results <"$type.$side.log" >"$type.$side"
	find "$type.$side.work/results" -name '*.out.bad' -exec tail -n 30 {} + >>"$type.$side.log" 2>/dev/null || true
	rm -rf "$type.$side.work" test.img scratch.img
	echo "$type $side: $(grep -c ' ok$' "$type.$side") ok, $(grep -c ' failed$' "$type.$side") failed, $(grep -c ' not-run$' "$type.$side") not run"
	grep -q ' ok$' "$type.$side" || fail "nothing passes on $type $side: $(tail -20 "$type.$side.log")"
}

# Only what both sides could run.
both()
{
	local ran

	ran=$(join <(grep -v not-run "$1.below") <(grep -v not-run "$1.mount") | cut -d' ' -f1)
	for side in below mount; do
		join <(echo "$ran") "$1.$side" >"$1.$side.both"
		mv "$1.$side.both" "$1.$side"
	done
}

suite_limit 'generic/(294|306)' "the mount helper of this script cannot remount"
suite_limit 'generic/344' "stores through a mapping and write() to one page at the same moment"
suite_limit 'generic/375' "libfuse does not pass on that an ACL takes the set-gid bit"
suite_limit 'generic/(426|467)' "no handles of files that the kernel has forgotten"
suite_limit 'generic/68[345]' "set-gid without group-execute stays: below, it is root who changes the file"
suite_limit 'generic/504' "the locks are not in /proc/locks"
cleanup_fn suite_keep
for type in ${SUITE_FS:-ext4 xfs}; do
	one_side "$type" below
	one_side "$type" mount
	both "$type"
	suite_report "$type"
done
[ $suite_failed = 0 ] || fail "the mount differs from the file system below"
