# SPDX-License-Identifier: MIT
# timeout: 240
# The engines do the same: no divergence on any file system, and the ring gathers as many syncs into
# one journal commit as the threads do. It leaves nothing behind that would keep a mount busy.
. "$TEST_LIB/functions.sh"
requires_fs ext4
requires_fs tmpfs
requires python3 --version
requires jq --version

types=tmpfs,ext4
for type in xfs btrfs; do
	if command -v mkfs.$type >/dev/null; then types+=,$type; fi
done

"$MAKE_TRACE" mixed 24 6 mixed.reel
for engine in ring lanes auto; do
	expect 0 "$FSREEL" replay mixed.reel --on "$types" --engine $engine --verify-state --size 512M
done

# The disk decides how long a commit takes; where it is memory, none is long enough to gather much.
"$MAKE_TRACE" appends 64 30 appends.reel
commits()
{
	expect 0 "$FSREEL" replay appends.reel --on ext4 --engine "$1" --size 512M --json
	jq -r '.runs[0] | "\(.device.commits) \(.syncs) \(.engine)"' <<<"$out"
}
ring=0 lanes=0
for _ in 1 2 3; do
	read -r n syncs engine <<<"$(commits ring)"
	[ "$syncs $engine" = "1920 ring" ] || fail "$syncs syncs in the engine $engine"
	ring=$((ring + n))
	read -r n syncs engine <<<"$(commits lanes)"
	[ "$syncs $engine" = "1920 lanes" ] || fail "$syncs syncs in the engine $engine"
	lanes=$((lanes + n))
done
echo "commits of 5,760 syncs: ring $ring, lanes $lanes"
[ $((10 * ring)) -ge $((7 * lanes)) ] && [ $((10 * ring)) -le $((15 * lanes)) ] ||
	fail "commits per sync differ: ring $ring, lanes $lanes"

# Auto: threads that block are lanes, calls that overlap in a thread are the ring, on all targets.
"$MAKE_TRACE" direct 1 3000 direct.reel
expect 0 "$FSREEL" replay direct.reel --on "$types" --size 512M --json
[ "$(jq -r '[.runs[].engine] | unique | join(" ")' <<<"$out")" = auto:ring ] ||
	fail "auto chose $(jq -c '[.runs[].engine]' <<<"$out")"
expect 0 "$FSREEL" replay appends.reel --on tmpfs --json
[ "$(jq -r '.runs[0].engine' <<<"$out")" = auto:lanes ] || fail "auto chose $(jq -r '.runs[0].engine' <<<"$out")"
[ "$(jq -r '[.runs[0].calibration[].op] | sort | join(" ")' <<<"$out")" = "create fdatasync write" ] ||
	fail "calibrated: $(jq -c '.runs[0].calibration' <<<"$out")"

truncate -s 512M image
mkfs.ext4 -q image
mkdir mnt
for engine in ring auto; do
	for _ in 1 2 3 4 5; do
		mount -o loop image mnt
		rm -rf mnt/*
		mkdir mnt/root
		expect 0 "$FSREEL" replay direct.reel --on dir:mnt/root --engine $engine
		umount mnt || fail "the mount is busy after $engine"
	done
done
