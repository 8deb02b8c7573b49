/* SPDX-License-Identifier: MIT */
/* What the other end of a descriptor can show. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "base.h"

/* Is it a terminal that wants colour? Not if NO_COLOR (https://no-color.org) is set. */
bool terminal_color(int fd);

#endif
