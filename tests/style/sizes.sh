#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions: at most 100 lines and 18 paths (McCabe, a switch counted once). Files: at most 1,000 lines.
. "${0%/*}/files.sh"
needs pmccabe
status=0
sources '*.c' '*.h' | xargs pmccabe | awk -F'\t' '
	$5 > 100 { printf "%s: %d lines, more than 100\n", $6, $5; bad = 1 }
	$1 > 18 { printf "%s: complexity %d, more than 18\n", $6, $1; bad = 1 }
	END { exit bad }' || status=1
sources '*.c' '*.h' '*.py' '*.sh' | xargs wc -l | awk '
	$2 != "total" && $1 > 1000 { printf "%s: %d lines, more than 1,000\n", $2, $1; bad = 1 }
	END { exit bad }' || status=1
exit $status
