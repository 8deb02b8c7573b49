# SPDX-License-Identifier: MIT
# timeout: 3600
# fsx: random reads, writes, mappings, truncations, hole punches, copies of one file, each checked
# against what the file must hold. Forms: plain, through mappings or without them, O_DIRECT (with the
# file mapped besides), aio, io_uring, several seeds each.
#
#   FSX=DIR       with the program fsx: ltp/ of a built xfstests tree
#   FSX_OPS=N     operations of each run (default 1500)
#   FSX_SEEDS=... default "1 2 3"
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
suite_given FSX fsx "https://github.com/kdave/xfstests, ltp/ of it, built"

# What FUSE cannot do (collapse, insert and unshare ranges, clone, dedupe, exchange, atomic and uncached
# writes) is off on both sides: fsx would leave it out by itself on one side, and the random sequence
# would be another.
forms="plain:
nomap:-W -R
nomapwrite:-W
direct:-Z -r 4096 -w 4096 -t 4096
direct512:-Z -r 512 -w 512 -t 512
direct-nomap:-Z -r 4096 -w 4096 -t 4096 -W -R
aio:-A
aio-direct:-A -Z -r 4096 -w 4096 -t 4096
uring:-U
uring-direct:-U -Z -r 4096 -w 4096 -t 4096
closes:-c 20
flush:-f
small-steps:-r 1 -w 1 -t 1 -o 4096
big:-l 4194304 -o 2097152"
export forms

# Those of the options that this fsx knows.
options_off()
{
	local option

	for option in -a -u -B -0 -C -I -J -T; do
		"$FSX/fsx" -q -N 1 $option probe >/dev/null 2>&1 && echo $option
	done
	rm -f probe*
}

run()
{
	local name options seed off

	off=$(options_off)
	while IFS=: read -r name options; do
		for seed in ${FSX_SEEDS:-1 2 3}; do
			# shellcheck disable=SC2086
			if "$FSX/fsx" -q -N "${FSX_OPS:-1500}" -S "$seed" $off $options "$name.$seed" >"$name.$seed.out" 2>&1; then
				echo "$name-$seed ok $(cksum <"$name.$seed")"
			else
				echo "$name-$seed failed"
				tail -60 "$name.$seed.out" >&2
			fi
			rm -f "$name.$seed"*
		done
	done <<<"$forms"
}
export -f run options_off
suite_set size 1G
suite_compare run
