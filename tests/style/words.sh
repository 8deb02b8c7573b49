#!/bin/bash
# SPDX-License-Identifier: MIT
# No path of the machine it was written on, no leftover marker, no banned function.
. "${0%/*}/files.sh"
status=0

refuse() # WHY PATTERN FILES...
{
	local why=$1 pattern=$2
	shift 2
	if sources "$@" | xargs grep -nIE -- "$pattern"; then
		echo "^ $why"
		status=1
	fi
}

refuse "a path of somebody's machine" '(^|[^a-z.])/(wor[k]|hom[e])/[a-z]' '*'
refuse "a marker of unfinished work" '\b(FIXM[E]|XX[X]|TOD[O])\b' '*.[ch]' '*.md' '*.sh' '*.build'
refuse "use snprintf, xasprintf or xstrdup" '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok)[(]' '*.[ch]'
exit $status
