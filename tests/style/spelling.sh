#!/bin/bash
# SPDX-License-Identifier: MIT
# No known misspelling anywhere.
. "${0%/*}/files.sh"
needs codespell
sources '*' | grep -vE '\.(reel|bin|png|svg)$|^tests/(fuzz/corpus|bad|golden)/' |
	xargs codespell --ignore-words "${0%/*}/spelling-ignore"
