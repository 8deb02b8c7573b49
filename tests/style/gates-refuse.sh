#!/bin/bash
# SPDX-License-Identifier: MIT
# Each gate refuses a tree with the fault that it is there for.
set -eu
gates=$(cd "${0%/*}" && pwd)
source=${1:?the source directory}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
status=0

# refuses GATE WHAT, after writing a faulty file
refuses()
{
	local got=0
	"$gates/$1" "$tree" >"$tree.out" 2>&1 || got=$?
	if [ "$got" = 0 ]; then
		echo "$1 accepts $2"
		status=1
	elif [ "$got" = 77 ]; then
		cat "$tree.out"
	fi
	rm -f "$tree.out"
	rm -rf "${tree:?}"/*
}

mkdir -p "$tree/base" "$tree/tracer" "$tree/docs"
cp "$source/docs/design.md" "$tree/docs/"
touch "$tree/tracer/op.h"
echo '#include "op.h"' >"$tree/base/low.c"
refuses includes.py "base seeing tracer"

mkdir -p "$tree/base" "$tree/docs"
cp "$source/docs/design.md" "$tree/docs/"
printf '#include "../x/y.h"\n' >"$tree/base/low.c"
refuses includes.py "a path in an include"

cp "$source/.clang-format" "$tree/.clang-format"
printf 'int  f(void){return 1;}\n' >"$tree/f.c"
refuses format.sh "a badly laid out file"

{ echo 'int f(int a) {'; yes 'a++;' | head -120; echo 'return a; }'; } >"$tree/f.c"
refuses sizes.sh "a function of 120 lines"

{ echo 'int f(int a) {'; yes 'if (a) a++;' | head -30; echo 'return a; }'; } >"$tree/f.c"
refuses sizes.sh "a function of 30 branches"

yes '/* */' | head -1200 >"$tree/f.c"
refuses sizes.sh "a file of 1,200 lines"

printf 'the file is %s\n' rec""ieved >"$tree/f.md"
refuses spelling.sh "a misspelling"

printf '#!/bin/bash\nrm -rf "$x/"*\n' >"$tree/f.sh"
refuses shell.sh "an unquoted rm"

printf 'see /%s/x\n' wo""rk >"$tree/f.md"
refuses words.sh "a path of somebody's machine"

printf 'strcpy%s\n' '(a, b);' >"$tree/f.c"
refuses words.sh "strcpy"

mkdir -p "$tree/tracer" "$tree/docs"
printf 'OP( 1, read, READ, ARG(file, FILE, USE),\n' >"$tree/tracer/ops.def"
printf '### 1 write\n' >"$tree/docs/format.md"
refuses operations.sh "an operation without a heading"
exit $status
