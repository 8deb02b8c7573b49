# SPDX-License-Identifier: MIT
# timeout: 1800
# A minute of each load, with 51,200 files alive at once, and thirty kills.
# shellcheck source=tests/cases/capture-load.sh
SECONDS_OF_LOAD=60 KEEP=800 KILLS=30
. "$TEST_LIB/../cases/capture-load.sh"
