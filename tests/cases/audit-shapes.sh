# SPDX-License-Identifier: MIT
# Calls of rare shapes are accounted for: vectors, flags, mappings, pipes, links, io_uring, threads that
# end or run programs. What the kernel asks for on their way is not taken for calls of the program.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
mkdir warm
"$FSREEL" capture --audit -q -o t.reel --dir warm -- true >/dev/null 2>&1 || skip "needs the probe"

for option in --quiet --strict-meta --strip-direct; do
	mkdir -p db/shapes
	expect 0 "$FSREEL" capture --audit --json -q $option -o t.reel --dir db -- \
		sh -c 'cd db/shapes && exec "$AUDIT_SHAPES"'
	python3 - "$out" $option <<'EOF2'
import json, sys
audit = json.loads(sys.argv[1])
calls = {row["call"]: row for row in audit["calls"]}
events = {row["event"]: row for row in audit["events"]}
assert audit["unaccounted"] == audit["lost"] == 0, audit["cases"]
assert calls["pwrite64"]["merged"] >= 3 and calls["io_uring write"]["pieces"] == 1, calls
assert calls["rename"]["nothing"] == 2 and calls["fadvise64"]["unseen"] >= 1, calls
assert events["readlink"]["derived"] and not events["readlink"]["called"], events["readlink"]
assert sys.argv[2] == "--strict-meta" or not events["getattr"]["beside"], events["getattr"]
EOF2
	expect 0 "$FSREEL" check t.reel
	rm -rf db
done
