#!/bin/bash
# SPDX-License-Identifier: MIT
# The sources are as clang-format would write them.
. "${0%/*}/files.sh"
needs clang-format
sources '*.c' '*.h' | xargs clang-format --dry-run -Werror
