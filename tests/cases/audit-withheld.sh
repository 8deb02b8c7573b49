# SPDX-License-Identifier: MIT
# An audit finds each event that is left out of a trace, given twice, or changed.
. "$TEST_LIB/functions.sh"
requires_fuse
requires_root
mkdir below mount
"$FSREEL" capture --audit -q -o t.reel --dir below -- true >/dev/null 2>&1 || skip "needs the probe"
expect 0 "$AUDIT_WITHHELD" below mount t.reel
expect_text '[1-9][0-9]+ faults tried, 0 not noticed' "$out"
