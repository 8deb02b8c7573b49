# SPDX-License-Identifier: MIT
# Bad usage gets one clear line on stderr, nothing on stdout, and status 2.
. "$TEST_LIB/functions.sh"

expect 0 "$FSREEL" --version
expect_text '^fsreel [0-9]+\.[0-9]+' "$out"
expect 0 "$FSREEL" --help
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' <<<"$out")
[ -n "$commands" ] || fail "no commands in --help"

for command in $commands; do
	expect 0 "$FSREEL" "$command" --help
	expect_text "^usage: fsreel $command" "$out"
	[ -z "$err" ] || fail "$command --help writes to stderr: $err"
	help=$out
	expect 0 "$FSREEL" help "$command"
	[ "$out" = "$help" ] || fail "help $command is not $command --help: $out"
	expect 2 "$FSREEL" "$command" --no-such-option
	expect_text '--no-such-option' "$err"
	[ "$(wc -l <<<"$err")" = 1 ] || fail "$command: not one line: $err"
	[ -z "$out" ] || fail "$command: bad usage writes to stdout: $out"
done

expect 2 "$FSREEL"
expect 2 "$FSREEL" opsy
expect_text "did you mean 'ops'" "$err"
expect 2 "$FSREEL" help opsy
expect_text "did you mean 'ops'" "$err"

# Output that does not arrive is an error, be it full or closed.
for command in ops workloads targets --help --version; do
	expect 2 bash -c '"$FSREEL" "$1" >/dev/full' - "$command"
	expect_text 'standard output' "$err"
	expect 2 bash -c '"$FSREEL" "$1" >&-' - "$command"
	expect_text 'standard output' "$err"
done

# Also with options before it that had been taken.
for command in replay run bench; do
	expect 2 "$FSREEL" "$command" --on ext4 --label a --size much
	expect_text "^fsreel $command: --size: 'much' is not a size" "$err"
done
