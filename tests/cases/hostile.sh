# SPDX-License-Identifier: MIT
# timeout: 240
# A program that wants out of the directory, into the recorder or everybody's descriptors gets no
# further on the mount than below it, also while directories are carried off behind its back.
. "$TEST_LIB/functions.sh"
requires_root
requires_fuse
requires setpriv --version
requires python3 -c ''

chmod 755 .
install -m 755 "$HOSTILE_CASES" cases
as_nobody="exec setpriv --reuid 65534 --regid 65534 --clear-groups"
($as_nobody "./cases" none 2>/dev/null) || [ $? = 1 ] || skip "nobody cannot reach $PWD"
echo secret >secret
chmod 600 secret
mkdir -m 777 away

jail()
{
	mkdir -m 777 "$1"
	install -d -o 65534 -g 65534 "$1/ferry"
	touch "$1/marked"
	python3 -c 'import os, sys
os.setxattr(sys.argv[1], "trusted.a", b"1")
os.setxattr(sys.argv[1], "user.b", b"1")' "$1/marked" 2>/dev/null || rm "$1/marked"
	chmod 666 "$1"/marked 2>/dev/null || :
}

# carry DIR: its directory "ferry" off and back, until it is enough
carry()
{
	while [ ! -e enough ]; do
		mv "$1/ferry" away/ && mv away/ferry "$1/"
	done 2>/dev/null
}

outside_untouched()
{
	[ "$(cat secret)" = secret ] && [ "$(stat -c '%a %u %h' secret)" = "600 0 1" ] || fail "the secret was changed"
	[ -z "$(ls away)" ] || fail "made outside: $(ls away)"
}

jail below
(cd below && OUTSIDE=$(dirname "$PWD") $as_nobody ../cases) >out 2>err || fail "below: $(cat err)"
[ ! -e away/stray-1 ] || rm away/*

for options in "-o t.reel" "--no-log --strict-meta"; do
	jail mounted
	carry mounted &
	carrier=$!
	cleanup_fn touch "$PWD/enough"
	# shellcheck disable=SC2086
	expect 0 "$FSREEL" capture $options --dir mounted -- sh -c \
		"cd mounted && RECORDER=\$PPID OUTSIDE='$PWD' $as_nobody ../cases"
	! grep -q skipped <<<"$out" || { [ ! -e mounted/marked ] && [ "$(grep -c skipped <<<"$out")" = 1 ]; } ||
		fail "not all were tried: $out"
	touch enough
	wait $carrier || :
	rm enough
	[ -d mounted/ferry ] || mv away/ferry mounted/
	outside_untouched
	! grep "$PWD" /proc/self/mountinfo || fail "still mounted"
	[ ! -e t.reel ] || expect 0 "$FSREEL" check t.reel
	rm -rf mounted t.reel
done
