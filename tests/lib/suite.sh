# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests/suites, after functions.sh: the tests of others, once in a directory of a file system and
# once in the same place through the pass-through. What fails alike below is no fault of the mount, so
# the results are compared test by test.
#
#   suite_given VARIABLE FILE WHERE  skip unless $VARIABLE is a directory with FILE in it, which is the
#                                    suite, built; WHERE says where to get it
#   suite_limit PATTERN REASON       differences in tests whose names match (extended regular expression)
#                                    are known: counted and shown, but no failure
#   suite_compare FUNCTION           make the comparison on each file system
#
# FUNCTION runs the suite in the directory in which it is called, as often as it is called, and prints
# a line "NAME RESULT" for each test; RESULT begins with "ok" if it passed, and is "timeout" if it was
# too slow to say: then it is not compared. It must be exported, with all it calls (export -f). Its messages
# go to stderr and are shown when something differs.
#
#   SUITE_FS       file systems; default "ext4 xfs"
#   SUITE_KEEP     a directory for results, messages and traces
#   SUITE_REPLAY   0: do not replay the trace; default: replay it on a fresh file system of the same type
#   SUITE_CAPTURE  more options of fsreel capture
#   suite_set KEY VALUE    size: of the file system (4G); racy: 1 = its threads race for the same names,
#                          so divergences of the replay are shown, but no failure; replay: 0 = none
#
# The mounts are in a namespace of the script's own: copies of them in other namespaces would keep the
# file systems busy.
if [ "$(id -u)" = 0 ] && [ -z "${SUITE_ALONE:-}" ]; then
	export SUITE_ALONE=1
	exec unshare -m --propagation private bash "$0"
fi

suite_size=4G
suite_racy=
suite_replay=1
suite_patterns=()
suite_reasons=()
suite_failed=0

suite_given()
{
	local dir=${!1:-}

	[ -n "$dir" ] || skip "needs $1=DIR: $3"
	[ -e "$dir/$2" ] || fail "$1=$dir: there is no $2 in it"
	declare -gx "$1=$(realpath "$dir")"
}

suite_set()
{
	declare -g "suite_$1=$2"
}

suite_limit()
{
	suite_patterns+=("$1")
	suite_reasons+=("$2")
}

# suite_fresh TYPE: an empty ./TYPE/dir on a new file system
suite_fresh()
{
	mkdir -p "$1"
	mountpoint -q "$1" && umount "$1"
	rm -f "$1.img"
	truncate -s "$suite_size" "$1.img"
	"mkfs.$1" -q "$1.img"
	mount -o loop "$1.img" "$1"
	mkdir -m 777 "$1/dir"
}

# Servers that a suite leaves behind take a moment to end.
suite_unmount()
{
	local i

	for ((i = 0; i < 100; i++)); do
		umount "$1" 2>/dev/null && return
		sleep 0.1
	done
	fail "$1 is busy after the run"
}

# suite_run TYPE SIDE FUNCTION: results to TYPE.SIDE, messages to TYPE.SIDE.log
suite_run()
{
	local start=$SECONDS run=() options status=0

	suite_fresh "$1"
	if [ "$2" = mount ]; then
		read -ra options <<<"${SUITE_CAPTURE:-}"
		run=("$FSREEL" capture -q -o "$1.reel" --dir "$1/dir" "${options[@]}" --)
	fi
	"${run[@]}" bash -c "cd '$PWD/$1/dir' && $3" >"$1.$2.raw" 2>"$1.$2.log" || status=$?
	suite_unmount "$1"
	LC_ALL=C sort -u "$1.$2.raw" | awk '
		$1 == name { printf ", %s", substr($0, length(name) + 2); next }
		{ printf "%s%s", (NR > 1 ? "\n" : ""), $0; name = $1 }
		END { print "" }' >"$1.$2"
	grep -q '^[^ ]* ok' "$1.$2" ||
		fail "nothing passes on $1 $2, status $status: $(tail -5 "$1.$2.log")"
	echo "$1 $2: $(wc -l <"$1.$2") results, $(grep -c '^[^ ]* ok' "$1.$2") ok, in $((SECONDS - start)) s"
}

# The reason for a difference in test $1, if it is known.
suite_reason()
{
	local i

	for ((i = 0; i < ${#suite_patterns[@]}; i++)); do
		[[ $1 =~ ^(${suite_patterns[i]})$ ]] || continue
		echo "${suite_reasons[i]}"
		return
	done
}

# suite_differences TYPE: "NAME<TAB>RESULT BELOW<TAB>RESULT ON THE MOUNT", a test without a result has "none"
suite_differences()
{
	awk '{ name = $1; $1 = ""; sub(/^ /, "") }
		FILENAME == ARGV[1] { below[name] = $0; next }
		below[name] == "timeout" || $0 == "timeout" { delete below[name]; next }
		{ if (below[name] != $0) print name "\t" (name in below ? below[name] : "none") "\t" $0
		  delete below[name] }
		END { for (name in below) print name "\t" below[name] "\tnone" }' \
		"$1.below" "$1.mount" | LC_ALL=C sort
}

suite_report()
{
	local name below mount reason total differ=0 known=0

	total=$(cut -d' ' -f1 "$1.below" "$1.mount" | sort -u | wc -l)
	while IFS=$'\t' read -r name below mount; do
		reason=$(suite_reason "$name")
		differ=$((differ + 1))
		[ -z "$reason" ] || known=$((known + 1))
		echo "$1: $name: below '$below', on the mount '$mount'${reason:+; known: $reason}"
	done < <(suite_differences "$1")
	echo "$1: $((total - differ)) same, $differ differ, $known of these known"
	[ $differ = $known ] || suite_failed=1
}

suite_replay_trace()
{
	local status=0

	[ "${SUITE_REPLAY:-1}${suite_replay}" = 11 ] || return 0
	"$FSREEL" replay "$1.reel" --on "$1" --size "$suite_size" --verify-state --json \
		>"$1.json" 2>"$1.replay.log" || status=$?
	[ $status -lt 2 ] || fail "replay on $1: $(<"$1.replay.log")"
	python3 - "$1" "$1.json" <<'END' || [ -n "$suite_racy" ] || suite_failed=1
import json, sys
runs = json.load(open(sys.argv[2], encoding="utf-8"))["runs"]
wrong = sum(run["divergences"] for run in runs)
print(f"{sys.argv[1]}: replayed: {runs[0]['operations']} calls, {wrong} diverged")
for run in runs:
    for kind in run["divergence"]:
        print(f"  {kind['op']}: {kind['count']}, first {kind['first']}")
    if run["failure"]:
        wrong += 1
        print(f"  {run['failure']}")
sys.exit(wrong > 0)
END
}

suite_keep()
{
	[ -n "${SUITE_KEEP:-}" ] || return 0
	mkdir -p "$SUITE_KEEP"
	cp -- *.below *.mount *.log *.reel *.json "$SUITE_KEEP" 2>/dev/null || true
}

suite_compare()
{
	local type ran=0

	requires_fuse
	requires_root
	cleanup_fn suite_keep
	for type in ${SUITE_FS:-ext4 xfs}; do
		command -v "mkfs.$type" >/dev/null || continue
		cleanup_fn eval "mountpoint -q '$PWD/$type' && umount -l '$PWD/$type'"
		suite_run "$type" below "$1"
		suite_run "$type" mount "$1"
		suite_report "$type"
		suite_replay_trace "$type"
		rm -f "$type.img"
		ran=1
	done
	[ $ran = 1 ] || skip "needs mkfs of one of ${SUITE_FS:-ext4 xfs}"
	[ $suite_failed = 0 ] || fail "the mount differs from the file system below"
}
