/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <signal.h>

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t arrived;

static void on_signal(int number)
{
	arrived = number;
}

static bool stays_ignored(int number)
{
	struct sigaction now;

	return number == SIGHUP && !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

static void set_all(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		if (!stays_ignored(caught[i]))
			sigaction(caught[i], &action, NULL);
}

void interrupt_catch(void)
{
	set_all(on_signal);
}

void interrupt_release(void)
{
	set_all(SIG_DFL);
}

int interrupted(void)
{
	return arrived;
}
