#!/bin/bash
# SPDX-License-Identifier: MIT
# Every operation of tracer/ops.def has a heading in docs/format.md, and every heading an operation.
. "${0%/*}/files.sh"
[ -e docs/format.md ] || { echo "skip: no docs/format.md"; exit 77; }
diff <(sed -n 's/^OP( *\([0-9]*\), *\([a-z_]*\),.*/\1 \2/p' tracer/ops.def | sort -n) \
	<(sed -n 's/^###* *`*\([0-9][0-9]*\)[.)]* *`*\([a-z_]*\)`*.*/\1 \2/p' docs/format.md | sort -n) ||
	{ echo "docs/format.md: headings '### NUMBER NAME' differ from tracer/ops.def (<)"; exit 1; }
