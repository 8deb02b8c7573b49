/* SPDX-License-Identifier: MIT */
/*
 * SIGINT, SIGTERM and SIGHUP as a question that long work asks itself.
 *
 * interrupt_catch() installs handlers (without SA_RESTART, so blocking calls return EINTR) once per
 * process; work then polls interrupted() and unwinds normally, so that everything is undone in the
 * one place that undoes it on success too.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "base.h"

/*
 * A SIGHUP that is ignored stays so: that is what nohup(1) is for. SIGINT is caught even then, because
 * shells ignore it for whatever they start in the background, and kill -INT must end that too.
 */
void interrupt_catch(void);
/* The default actions again: for a child between fork() and exec(). */
void interrupt_release(void);
/* The signal that arrived, or 0. */
int interrupted(void);

#endif
