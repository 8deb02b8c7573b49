# SPDX-License-Identifier: MIT
# What strace saw becomes a trace: sound, and repeated without a difference, whatever program it was.
. "$TEST_LIB/functions.sh"
requires strace -f -o /dev/null true
requires jq --version
here=$PWD

# imported NAME COMMAND...: strace it in dir/, import, check, replay twice
imported()
{
	local name=$1
	shift
	(cd dir && strace -f ${yy--yy} -ttt -T -o "../$name.txt" "$@" >/dev/null 2>&1) || fail "$name: $*"
	expect 0 "$FSREEL" import "$name.txt" --root "$here/dir" -o "$name.reel"
	expect 0 "$FSREEL" check "$name.reel"
	expect_text '^good: ' "$out"
	mkdir target
	expect 0 "$FSREEL" replay "$name.reel" --on "dir:$here/target" -o "$name.json"
	[ "$(jq '[.runs[].divergences] | add' "$name.json")" = 0 ] || fail "$name: divergences"
	rm -rf target
}

# counted NAME CALLS OPERATION: as many lines of strace as events
counted()
{
	local lines events
	lines=$(grep -cE "(^| )($2)\([0-9]+<$here/dir.* = [0-9]+ <" "$1.txt" || true)
	events=$("$FSREEL" stat --json "$1.reel" | jq ".ops.$3.count // 0")
	[ "$lines" = "$events" ] || fail "$1: $lines calls of $2, $events events"
	[ "$lines" != 0 ] || fail "$1: no $2"
}

mkdir dir
if command -v sqlite3 >/dev/null; then
	sql="PRAGMA journal_mode=WAL; CREATE TABLE t(a, b); BEGIN;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
			INSERT INTO t SELECT i, randomblob(100) FROM n; COMMIT;
		CREATE INDEX i ON t(b); UPDATE t SET a = -a WHERE a % 7 = 0; DELETE FROM t WHERE a % 3 = 0; VACUUM"
	imported wal sqlite3 x.db "$sql"
	counted wal 'pwrite64' write
	imported again sqlite3 x.db 'SELECT sum(a) FROM t; INSERT INTO t SELECT * FROM t LIMIT 10;
		PRAGMA journal_mode=DELETE; UPDATE t SET a = 1 WHERE a < 100'
	counted again 'pread64|read' read
	yy='' imported without sqlite3 x.db 'SELECT sum(a) FROM t; UPDATE t SET a = a + 1 WHERE a < 50'
	# The database was there, as large as what was read of it.
	expect 0 "$FSREEL" dump --tree again.reel
	expect_text "^-rw-r--r-- .* x.db" "$out"
fi

# A tree with links, holes, attributes of time; then copied and packed.
mkdir -p dir/tree/sub/deep
seq 20000 >dir/tree/numbers
ln dir/tree/numbers dir/tree/sub/again
ln -s ../numbers dir/tree/sub/link
ln -s nowhere dir/tree/dangling
truncate -s 1M dir/tree/hole
printf 'odd' >"dir/tree/$(printf 'new\nline \377"<x>')"
imported cp cp -a tree copy
imported tar tar -cf tree.tar tree
imported untar tar -xf tree.tar -C copy
imported mv sh -c 'mv copy moved; cat moved/numbers >>moved/more; rm -r moved/tree; ls -lR . >/dev/null'
imported pipes sh -c 'for i in 1 2 3; do (echo $i; exec >>log; echo b) | cat >>log & done; wait; exec 3<>log; cat <&3 >/dev/null; truncate -s 2 log'

if command -v git >/dev/null; then
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	export GIT_CONFIG_NOSYSTEM=1 HOME=$here
	git init -q dir/repository
	cp -r dir/tree dir/repository/
	imported add git -C repository add tree/numbers tree/sub
	imported commit git -C repository commit -qm first
	imported gc git -C repository gc -q
fi

# What is not understood is counted and said, and the rest is there.
{
	head -20 cp.txt
	echo '4711 1700000000.5 something else'
	tail -n +21 cp.txt
} >broken.txt
expect 1 "$FSREEL" import broken.txt --root "$here/dir" -o broken.reel
expect_text '^line 21: not a line of strace: 4711 1700000000.5 something' "$err"
expect_text '^not understood: 1 of [0-9]+ lines' "$err"
expect 0 "$FSREEL" check broken.reel

# Cut anywhere, it is still a trace.
head -c $(($(wc -c <cp.txt) * 2 / 3)) cp.txt >cut.txt
"$FSREEL" import cut.txt --root "$here/dir" -o cut.reel 2>/dev/null || [ $? = 1 ] || fail "a list that is cut"
expect 0 "$FSREEL" check cut.reel

strace -f -o untimed.txt true
expect 2 "$FSREEL" import untimed.txt --root "$here" -o x.reel
expect_text 'untimed.txt: there are no time stamps in it; run strace with -f -yy -ttt -T' "$err"
[ ! -e x.reel ] || fail "a trace is left"
expect 2 "$FSREEL" import cp.txt -o x.reel
expect_text '^fsreel import: --root is missing' "$err"
expect 2 "$FSREEL" import cp.txt --root dir -o x.reel
expect_text "'dir' is not an absolute path" "$err"
expect 2 "$FSREEL" import nowhere.txt --root / -o x.reel
expect_text 'nowhere.txt: No such file' "$err"
