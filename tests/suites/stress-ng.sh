# SPDX-License-Identifier: MIT
# timeout: 3600
# stress-ng: each of its file system stressors for a moment, with what it can verify itself.
#
#   STRESS_SECONDS=N    for each stressor (default 3)
#   STRESS_ONLY=...     only these stressors
#   SUITE_SMALL=1       only a handful, on one file system: some seconds in all
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
requires command -v stress-ng

# Without those that concern something else than the directory they run in.
stressors()
{
	if [ -n "${STRESS_ONLY:-}" ]; then
		echo "$STRESS_ONLY"
	elif [ -n "${SUITE_SMALL:-}" ]; then
		echo flock rename link dentry
	else
		{ stress-ng --class 'filesystem?'; stress-ng --class 'io?'; } | sed 's/.*: //' | tr ' ' '\n' |
			sort -u | grep -vxE 'bind-mount|binderfs|procfs|eventfd|ioprio|rawdev'
	fi
}

# Status 3 and 4: it cannot run here.
run()
{
	local name status verdict
	declare -A words=([0]=ok [2]=failed [3]=cannot [4]=cannot)

	for name in $(stressors); do
		status=0
		mkdir "$name"
		timeout 120 stress-ng --"$name" 2 -t "${STRESS_SECONDS:-3}" --verify --temp-path "$PWD/$name" \
			--hdd-bytes 64M --iomix-bytes 16M --aiol-requests 16 --no-rand-seed \
			>"$name.out" 2>&1 || status=$?
		verdict=${words[$status]:-status $status}
		echo "$name $verdict"
		[ "$verdict" = ok ] || sed "s/^/$name: /" "$name.out" >&2
		rm -rf "$name" "$name.out"
	done
}
export -f run stressors
[ -z "${SUITE_SMALL:-}" ] || { SUITE_FS=${SUITE_FS:-ext4}; STRESS_SECONDS=1; }
export STRESS_SECONDS
suite_set racy 1
suite_compare run
