#!/bin/bash
# SPDX-License-Identifier: MIT
# Shell scripts, known by their first line or their suffix, pass shellcheck. Cases get `set -e` and
# $out, $err from functions.sh, which it does not see.
. "${0%/*}/files.sh"
needs shellcheck
{
	sources '*.sh'
	sources '*' | xargs grep -lIE --max-count=1 '^#!/bin/(ba)?sh' || true
} | sort -u | xargs shellcheck --shell=bash --severity=warning --exclude=SC1090,SC1091,SC2154,SC2164
