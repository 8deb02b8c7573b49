/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "units.h"

#define BAR_WIDTH 24
#define ERASE     "\r\033[K"

/* One line, cut off where the terminal ends: a wrapped line could not be erased. */
struct line {
	char text[256];
	size_t size, room;
};

static bool quiet;

void progress_quiet(bool value)
{
	quiet = value;
}

void progress_note(const char *fmt, ...)
{
	va_list args;

	if (quiet)
		return;
	if (isatty(STDERR_FILENO))
		fputs(ERASE, stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void progress_start(struct progress *p, const char *phase, uint64_t total)
{
	*p = (struct progress){.phase = phase, .total = total, .started_ns = now_ns()};
	p->silent = quiet || !isatty(STDERR_FILENO);
	progress_update(p, 0);
}

static size_t terminal_room(void)
{
	struct winsize size;
	size_t room = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;

	return min_u64(room, sizeof(((struct line *)0)->text));
}

attr_printf(2, 3) static void add(struct line *l, const char *fmt, ...)
{
	va_list args;

	if (l->size >= l->room)
		return;
	va_start(args, fmt);
	int n = vsnprintf(l->text + l->size, l->room - l->size, fmt, args);
	va_end(args);
	l->size += n > 0 ? (size_t)n : 0;
}

static void add_bar(struct line *l, uint64_t done, uint64_t total)
{
	unsigned filled = (unsigned)((double)done / (double)total * BAR_WIDTH);
	char bar[BAR_WIDTH + 1];

	memset(bar, '#', filled);
	memset(bar + filled, '.', BAR_WIDTH - filled);
	bar[BAR_WIDTH] = '\0';
	add(l, " [%s] %3.0f%%", bar, 100 * (double)done / (double)total);
}

static void add_rate(struct line *l, const struct progress *p, uint64_t done, uint64_t now)
{
	double seconds = (double)(now - p->started_ns) / (double)NSEC_PER_SEC;
	struct unit_text text;

	if (!done || seconds <= 0)
		return;
	if (!p->total || p->total > 1)
		add(l, "  %s/s", format_count((uint64_t)((double)done / seconds), &text));
	if (p->total > 1)
		add(l, "  %s left",
			format_ns((uint64_t)(seconds * 1e9 * (double)(p->total - done) /
					     (double)done),
				&text));
}

void progress_update(struct progress *p, uint64_t done)
{
	struct line line = {.room = 0};
	struct unit_text count, total;
	uint64_t now;

	if (p->silent)
		return;
	now = now_ns();
	if (done && now - p->shown_ns < 100 * NSEC_PER_MSEC)
		return;
	p->shown_ns = now;
	line.room = terminal_room();
	done = p->total ? min_u64(done, p->total) : done;
	add(&line, "%s", p->phase);
	if (p->total > 1) {
		add(&line, " %s/%s", format_count(done, &count), format_count(p->total, &total));
		add_bar(&line, done, p->total);
	} else if (done) {
		add(&line, " %s", format_count(done, &count));
	}
	add_rate(&line, p, done, now);
	fprintf(stderr, ERASE "%s", line.text);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (!p->silent)
		fputs(ERASE, stderr);
}
