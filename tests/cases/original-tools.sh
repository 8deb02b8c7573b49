# SPDX-License-Identifier: MIT
# timeout: 200
# fs_mark, sysbench, fio and bonnie++ make the calls that our workloads of their kind make, within
# 5 %, and replay without a divergence; those that say how fast they were are as fast as ours. Each
# part runs where its tool is installed.
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

# as_fast NAME SPEC COMMAND...: COMMAND prints operations per second; one side may be up to twice as
# fast. The best of some tries counts, because a machine is noisy.
as_fast()
{
	local name=$1 spec=$2 theirs=0 ours=0 now
	shift 2
	[ "$(stat -f -c %T .)" != tmpfs ] || return 0 # where it takes less time than to start processes
	for _ in {1..6}; do
		now=$("$@") theirs=$((now > theirs ? now : theirs))
		rm -rf fast && mkdir fast
		expect 0 "$FSREEL" run -q --on dir:fast --workload "$spec" -o fast.json
		now=$(jq '.runs[0].metric.value | floor' fast.json) ours=$((now > ours ? now : ours))
		((theirs <= 2 * ours && ours <= 2 * theirs)) && break
	done
	echo "$name: $theirs/s, ours $ours/s"
	((theirs <= 2 * ours && ours <= 2 * theirs)) || fail "$name: $theirs/s, ours $ours/s"
}

# parts TRACE: reads, writes and fsyncs of the first thread that makes a file, a line for each time
# that it makes or opens one.
parts()
{
	"$FSREEL" dump "$1.reel" | awk '
		{ call = $3; sub(/\(.*/, "", call) }
		call == "create" && !thread { thread = $2 }
		$2 != thread { next }
		call == "create" || call == "open" { part++ }
		{ count[part, call]++ }
		END {
			for (i = 1; i <= part; i++)
				print count[i, "read"] + 0, count[i, "write"] + 0, count[i, "fsync"] + 0
		}'
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
	files_per_second()
	{
		rm -rf fm && fs_mark -d fm -s 16384 -n 100 -t 1 -S 1 -l "$PWD/log" | awk 'NF == 5 { n = $4 } END { print int(n) }'
	}
	as_fast fs_mark fsmark:files=100,size=16k files_per_second
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
	requests_per_second()
	{
		sh -c "$run --events=1000 run" | awk '/(reads|writes)\/s:/ { n += $2 } END { print int(n) }'
	}
	as_fast sysbench fileio:total=4M,requests=872 requests_per_second
fi

if command -v fio >/dev/null; then
	options=(--name=t --directory=fio --rw=randrw --rwmixread=60 --bs=16k --direct=1 --nrfiles=16 --filesize=256k
		--ioengine=psync --file_service_type=random --norandommap --randseed=1 --number_ios=1000 --io_size=16M
		--end_fsync=1 --output-format=json)
	mkdir fio
	expect 0 fio "${options[@]}" --create_only=1
	capture fio -- fio "${options[@]}"
	capture fileio-rw --workload fileio:total=4M,fsync_every=0
	same fio fileio-rw open read write fsync
	ios_per_second()
	{
		fio "${options[@]}" | sed -n '/^{/,$p' | jq '.jobs[0] | .read.iops + .write.iops | floor'
	}
	as_fast fio fileio:total=4M,fsync_every=0 ios_per_second
fi

if command -v bonnie++ >/dev/null; then
	capture bonnie -- bonnie++ -q -d bonnie -s 0 -n 1:4096:0:4 -u "$(id -un)" -z 1
	files=stream:phases=files,files=1024,file_size=4k,dirs=4
	capture sequential --workload "$files"
	capture random --workload "$files,order=random"
	same bonnie "sequential random" create write open read unlink

	# Its first file is a trial; a read ends with a sync, too.
	capture bonnie-data -- bonnie++ -q -d bonnie-data -s 2m -r 1 -n 0 -f -u "$(id -un)" -z 1
	capture data --workload stream:phases=data,size=2M
	diff <(parts bonnie-data | sed -n '2,3p; 4s/ [^ ]*$//p') <(parts data | sed '3s/ [^ ]*$//') ||
		fail "write, rewrite, read: other calls (reads, writes, fsyncs) than bonnie++ (<)"
	expect 0 "$FSREEL" replay -q bonnie-data.reel --on dir:"$PWD"
fi

[ ${#compared[@]} -gt 0 ] || skip "needs fs_mark, sysbench, fio or bonnie++"
