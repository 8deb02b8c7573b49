#!/bin/bash
# SPDX-License-Identifier: MIT
# What the probe adds to a capture: transactions per second with it and without, in pairs by turns, and
# the median of the pairs' ratios, for PostgreSQL with ten clients and for SQLite.
#
#   bench-probe.sh [ROUNDS [DIR]]      FSREEL names the binary
set -euo pipefail
rounds=${1:-7}
dir=$(mktemp -d "${2:-/var/tmp}/bench-probe-XXXXXX")
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"

# rate PROBE WORKLOAD: transactions per second
rate()
{
	rm -rf "$dir/db"
	mkdir "$dir/db"
	"$FSREEL" capture --probe="$1" -o "$dir/t.reel" --dir "$dir/db" --workload "$2" 2>&1 |
		sed -n 's/.*: \([0-9.]*\) transactions.s,.*/\1/p'
}

compare() # NAME WORKLOAD
{
	local with without
	for ((i = 0; i < rounds; i++)); do
		if ((i % 2)); then
			with=$(rate yes "$2") without=$(rate no "$2")
		else
			without=$(rate no "$2") with=$(rate yes "$2")
		fi
		echo "$without $with"
	done | awk '{ print $1 / $2 }' | sort -n | awk -v name="$1" '{ ratio[NR] = $1 }
		END { printf "%s: without : with %.3f (%.3f to %.3f, %d pairs)\n", name,
			(ratio[int((NR + 1) / 2)] + ratio[int(NR / 2) + 1]) / 2, ratio[1], ratio[NR], NR }'
}

compare "PostgreSQL, 10 clients" pg-tpcb:clients=10,transactions=300
compare "SQLite, WAL" sqlite-tpcb:transactions=2000
