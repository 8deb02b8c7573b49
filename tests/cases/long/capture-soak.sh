# SPDX-License-Identifier: MIT
# timeout: 1200
# Ten minutes of mixed load.
# shellcheck source=tests/cases/capture-soak.sh
SOAK_SECONDS=600
. "$TEST_LIB/../cases/capture-soak.sh"
