# SPDX-License-Identifier: MIT
# timeout: 300
# Every file-system workload: captured, replayed on each file system without a divergence, and run
# there for real, its data checked.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root

on=tmpfs
for type in ext4 xfs btrfs; do
	command -v mkfs.$type >/dev/null && grep -qw $type /proc/filesystems && on+=,$type
done

round_trip()
{
	local where=(--on "$on" --size 512M --scratch-dir .)
	mkdir data
	expect 0 "$FSREEL" capture -q -o t.reel --dir data --workload "$1"
	expect 0 "$FSREEL" replay -q t.reel --verify-state "${where[@]}"
	expect 0 "$FSREEL" run -q --workload "$1" "${where[@]}"
	rm -rf data t.reel
}

round_trip fsmark:threads=8,files=5,size=20000,dirs=3,subdirs=2,per_subdir=2
round_trip fsmark:threads=2,files=10,size=4k,sync=syncfs-reverse
round_trip fileserver:threads=4,files=20,loops=10,width=4
round_trip varmail:threads=4,files=20,loops=10
round_trip fileio:threads=4,files=4,total=2M,requests=50,fsync_every=20
round_trip fileio:threads=2,files=100,total=1600k,requests=50,fsync_every=0,fsync_at_end=no
round_trip stream:size=2M,files=100,file_size=4k,dirs=3,order=random
round_trip stream:phases=rewrite,size=2M,cache=direct
round_trip treecopy:files=100,threads=4
round_trip treecopy:files=30,method=copy_file_range
mkdir -p own/sub
seq 9999 >own/sub/numbers
ln -s sub/numbers own/link
chmod 640 own/sub/numbers
round_trip "treecopy:source=$PWD/own"
round_trip command
round_trip 'command:times=2,prepare=mkdir d,check=test -e d/b/1,run=cp -a d e && rm -r e
	mkdir -p d/b && for i in 1 2; do echo a,b >>d/b/$i; done && mv d/b/2 d && sync d/2'
