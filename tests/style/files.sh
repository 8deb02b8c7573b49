# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the gates: `sources '*.c' '*.h'` lists the files of the repository, one a line, in $1.
set -euo pipefail
cd "${1:?the source directory}"

sources()
{
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@"
	else
		local name args=()
		for name in "$@"; do
			args+=(-o -name "$name")
		done
		find . -path './build*' -prune -o -type f \( "${args[@]:1}" \) -print
	fi | sort
}

needs()
{
	command -v "$1" >/dev/null || { echo "skip: needs $1"; exit 77; }
}
