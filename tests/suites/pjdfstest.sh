# SPDX-License-Identifier: MIT
# timeout: 14400
# pjdfstest: POSIX semantics of names, modes, owners and errors, about 8,800 checks, as root.
#
#   PJDFSTEST=DIR         the tree, built: autoreconf -ifs && ./configure && make
#   PJDFSTEST_ONLY=WORD   only tests whose path has it, such as chmod/
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
suite_given PJDFSTEST pjdfstest "https://github.com/pjd/pjdfstest, built in place"
requires command -v perl

# Each check is one line of TAP; its number within its file is its name.
one_file()
{
	bash "$1" 2>&1 | awk -v file="${1#"$PJDFSTEST/tests/"}" '
		/^ok|^not ok/ { n = $1 == "ok" ? $2 : $3; print file ":" n, $1 == "ok" ? "ok" : "failed"; next }
		{ print file ": " $0 > "/dev/stderr" }'
}

run()
{
	local file

	for file in $(cd "$PJDFSTEST/tests" && find . -name '*.t' | sed 's|^\./||' | sort); do
		[[ $file == *${PJDFSTEST_ONLY:-}* ]] || continue
		one_file "$PJDFSTEST/tests/$file"
	done
}
export -f run one_file
suite_limit 'rename/22\.t:.*' "the suite runs it only on file systems that it knows by name, and FUSE is none"
suite_set size 1G
suite_compare run
