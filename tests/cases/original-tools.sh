# SPDX-License-Identifier: MIT
# timeout: 200
# fs_mark, sysbench and bonnie++ make the calls that our workloads of their kind make, within 5 %,
# and replay without a divergence. Each part runs where its tool is installed.
. "$TEST_LIB/functions.sh"
requires_fuse
requires jq --version
compared=()

# capture NAME COMMAND...: below ./NAME, which the command gets as its directory; trace NAME.reel
capture()
{
	local name=$1
	shift
	mkdir -p "$name"
	expect 0 "$FSREEL" capture -q -o "$name.reel" --dir "$name" "$@"
}

count()
{
	"$FSREEL" stat --json "$1.reel" | jq ".ops.$2.count // 0"
}

# same THEIRS OURS OPERATION...: THEIRS may hold several traces' worth of OURS, OURS are names
same()
{
	local theirs=$1 ours=$2 op a b n
	shift 2
	for op; do
		a=$(count "$theirs" "$op") b=0
		for n in $ours; do
			b=$((b + $(count "$n" "$op")))
		done
		echo "$theirs: $op $a, ours $b"
		[ "$a" -gt 0 ] || fail "$theirs made no $op"
		((100 * (a > b ? a - b : b - a) <= 5 * a)) || fail "$op: $theirs $a, ours $b"
	done
	expect 0 "$FSREEL" replay -q "$theirs.reel" --on dir:"$PWD"
	compared+=("$theirs")
}

if command -v fs_mark >/dev/null; then
	while read -r number name; do
		capture "fs_mark$number" -- \
			fs_mark -d "fs_mark$number/d" -s 40000 -n 20 -t 3 -S "$number" -l "$PWD/log"
		capture "fsmark$number" --workload "fsmark:threads=3,files=20,size=40000,sync=$name"
		if [ "$number" = 0 ]; then
			same fs_mark0 fsmark0 create write
		else
			same "fs_mark$number" "fsmark$number" create write fsync
		fi
	done <<-'END'
		0 none
		1 each
		3 reverse
		5 forward
	END
fi

if command -v sysbench >/dev/null; then
	options=(--file-num=16 --file-total-size=4M --file-block-size=16384 --file-test-mode=rndrw
		--file-extra-flags=direct --threads=1)
	mkdir sysbench
	(cd sysbench && sysbench fileio "${options[@]}" prepare >/dev/null)
	run="cd sysbench && exec sysbench fileio ${options[*]} --rand-seed=1 --time=0"
	capture sysbench -- sh -c "$run --events=1000 run"
	# Of its 1000 events 872 are reads and writes, the others are fsyncs.
	capture fileio --workload fileio:total=4M,requests=872
	same sysbench fileio open read write fsync
fi

if command -v bonnie++ >/dev/null; then
	capture bonnie -- bonnie++ -q -d bonnie -s 0 -n 1:4096:0:4 -u "$(id -un)" -z 1
	files=stream:phases=files,files=1024,file_size=4k,dirs=4
	capture sequential --workload "$files"
	capture random --workload "$files,order=random"
	same bonnie "sequential random" create write open read unlink
fi

[ ${#compared[@]} -gt 0 ] || skip "needs fs_mark, sysbench or bonnie++"
