/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "units.h"

#define BAR_WIDTH 24

static bool quiet;

void progress_quiet(bool value)
{
	quiet = value;
}

void progress_start(struct progress *p, const char *phase, uint64_t total)
{
	*p = (struct progress){.phase = phase, .total = total, .started_ns = now_ns()};
	p->silent = quiet || !isatty(STDERR_FILENO);
	progress_update(p, 0);
}

static void draw_bar(const struct progress *p, uint64_t done, uint64_t elapsed_ns)
{
	char bar[BAR_WIDTH + 1];
	unsigned filled = (unsigned)(min_u64(done, p->total) * BAR_WIDTH / p->total);
	struct unit_text left;

	for (unsigned i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[BAR_WIDTH] = '\0';
	uint64_t eta =
		done ? (uint64_t)((double)elapsed_ns *
				  (double)(p->total - min_u64(done, p->total)) / (double)done)
		     : 0;
	fprintf(stderr, " [%s] %3u%%", bar, (unsigned)(min_u64(done, p->total) * 100 / p->total));
	if (done)
		fprintf(stderr, "  %s left", format_ns(eta, &left));
}

void progress_update(struct progress *p, uint64_t done)
{
	uint64_t now = now_ns();
	struct unit_text count, total;

	if (p->silent || (done && now - p->shown_ns < 100 * NSEC_PER_MSEC))
		return;
	p->shown_ns = now;
	fprintf(stderr, "\r\033[K%s", p->phase);
	if (p->total > 1)
		fprintf(stderr, " %s/%s", format_count(done, &count),
			format_count(p->total, &total));
	else if (done)
		fprintf(stderr, " %s", format_count(done, &count));
	if (p->total > 1)
		draw_bar(p, done, now - p->started_ns);
	else if (done && now > p->started_ns)
		fprintf(stderr, "  %.0f/s",
			(double)done * (double)NSEC_PER_SEC / (double)(now - p->started_ns));
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (!p->silent)
		fputs("\r\033[K", stderr);
}
