# SPDX-License-Identifier: MIT
# timeout: 14400
# SQLite's own TCL tests of what touches the file system: WAL, locks, mappings, journals, io.
#
#   SQLITE=DIR          source tree of SQLite, its program testfixture built in DIR/bld
#   SQLITE_ONLY=WORD    only files with it in their name
. "$TEST_LIB/functions.sh"
. "$TEST_LIB/suite.sh"
suite_given SQLITE bld/testfixture \
	"apt-get source sqlite3, then in it: mkdir bld; cd bld; ../configure; make testfixture"

# Those that make malloc(), or a file layer of SQLite's own, fail or crash take an hour and say nothing
# about files.
files()
{
	local name

	for name in "$SQLITE"/test/{wal,lock,mmap,io,journal,jrnlmode,exclusive,pager,shmlock,superlock,tempdb,delete_db,backup,atomic,sync,unixexcl,vacuum,symlink,nolock,oserror,rollback,sidedelete,multiplex}*.test; do
		name=$(basename "$name" .test)
		case $name in *fault* | *malloc* | *ioerr* | *crash* | walslow | vacuummem) continue ;; esac
		[[ $name != *${SQLITE_ONLY:-}* ]] || echo "$name"
	done
}

# Root may write where others may not, and some tests count on it: they run as nobody.
run()
{
	local name

	for name in $(files); do
		mkdir -m 777 "$name"
		(cd "$name" && HOME=$PWD exec timeout 900 setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$SQLITE/bld/testfixture" "$SQLITE/test/$name.test" 2>&1) | awk -v file="$name" '
			/^[^ ]+\.\.\. Ok$/ { sub(/\.\.\.$/, "", $1); print file ":" $1, "ok"; next }
			/^! [^ ]+ (expected|got)/ { if (!seen[$2]++) print file ":" $2, "failed" }
			/errors out of/ { print file, ($1 == "0" ? "ok" : "failed"), $0; next }
			{ print file ": " $0 > "/dev/stderr" }'
		rm -rf "$name"
	done
}
export -f run files
suite_compare run
