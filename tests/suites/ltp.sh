# SPDX-License-Identifier: MIT
# timeout: 14400
# The Linux Test Project: its tests of files, direct I/O, aio and locks, and those of the system calls
# that reach a file system.
#
#   LTP=DIR            where LTP is installed (testcases/bin and runtest in it); what is not there is left out
#   LTP_LISTS=...      default "fs dio fcntl-locktests ltp-aiodio.part2 ltp-aiodio.part4 fs_perms_simple syscalls"
#   LTP_ONLY=REGEX     only tests that begin so
#   LTP_TIMEOUT=N      seconds for each (default 30)
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
suite_given LTP testcases/bin "https://github.com/linux-test-project/ltp, installed there: ./configure --prefix=DIR; make install"

calls='access|chdir|chmod|chown|close|copy_file_range|creat|dup|execve|faccessat|fadvise|posix_fadvise|fallocate|fanotify|fchdir|fchmod|fchown|fcntl|fdatasync|fgetxattr|file_attr|flistxattr|flock|fremovexattr|fsetxattr|fstat|fsync|ftruncate|futimesat|getcwd|getdents|getxattr|inotify|io_submit|io_uring|ioctl_f|lchown|lgetxattr|link|listxattr|llistxattr|llseek|lremovexattr|lseek|lstat|mincore|mkdir|mknod|mmap|mremap|msync|munmap|name_to_handle_at|open|pathconf|pread|pwrite|read|realpath|removexattr|rename|rmdir|sendfile|setxattr|splice|stat|symlink|sync|truncate|umask|unlink|utime|write'
# About other things than the directory they run in, or hours long.
never='fs_di|proc01|read_all_.*|quota_remount_test01|isofs|fs_fill|binfmt_misc.*|squashfs01|fs_racer|gf1[56789]|statvfs02|pipe.*|readahead02|fanotify(1[0-9]|2[0-9])|inotify09|open_tree.*|syncfs01|mmap1[89]|mincore0[34]|close_range.*'
export calls never

list()
{
	local file

	for file in ${LTP_LISTS:-fs dio fcntl-locktests ltp-aiodio.part2 ltp-aiodio.part4 fs_perms_simple syscalls}; do
		awk -v list="$file" '!/^#/ && NF > 1 { print list, $0 }' "$LTP/runtest/$file"
	done | sed -E 's/-L [0-9]+/-L 1/; s/-i (60|120)s/-i 2s/' |
		awk -v calls="^($calls)" -v never="^($never)\$" -v only="^(${LTP_ONLY:-.})" '
			$2 ~ never || $2 !~ only || ($1 == "syscalls" && $2 !~ calls) || seen[$2]++ { next }
			{ sub(/^[^ ]+ /, ""); print }'
}

# "ok", and how many of its checks passed, failed, broke and could not be made.
run()
{
	local name command status verdict

	export LTPROOT=$LTP PATH=$LTP/testcases/bin:$PATH TMPDIR=$PWD/tmp LTP_COLORIZE_OUTPUT=n
	export LTP_SINGLE_FS_TYPE=tmpfs LTP_TIMEOUT_MUL=1
	while read -r name command; do
		command -v "$(sed 's/^export LTPROOT; *//' <<<"$command" | awk '{ print $1 }')" >/dev/null || continue
		mkdir -m 1777 tmp
		status=0
		timeout -k 5 "${LTP_TIMEOUT:-30}" bash -c "cd tmp; $command" </dev/null >out 2>&1 || status=$?
		verdict="$(grep -c TPASS out) passed $(grep -c TFAIL out) failed $(grep -c TBROK out) broken $(grep -c TCONF out) cannot"
		case $status in
		0) echo "$name ok $verdict" ;;
		124) echo "$name timeout" ;;
		*) echo "$name status $status, $verdict" ;;
		esac
		[ $status = 0 ] || sed "s/^/$name: /" out | tail -100 >&2
		rm -rf tmp out
	done < <(list)
}
export -f run list
suite_limit 'copy_file_range02' "no swap files on FUSE, two checks are left out"
suite_limit 'dio(04|10)' "it expects of FUSE that O_DIRECT takes any buffer, and leaves two checks out"
suite_set racy 1
suite_compare run
