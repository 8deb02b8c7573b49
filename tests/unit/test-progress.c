/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int saved_stderr;

/* A terminal hands over what was written to it a moment later. */
static void read_until_silence(int fd, char *text, size_t size)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	size_t used = 0;
	ssize_t n = 1;

	while (n > 0 && used + 1 < size && poll(&ready, 1, 100) > 0 && ready.revents & POLLIN) {
		n = read(fd, text + used, size - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	text[used] = '\0';
}

/* What `body` writes to stderr, which is a terminal or a pipe meanwhile. */
static char *written(bool terminal, void (*body)(void))
{
	static char text[4096];
	int ends[2];

	if (terminal ? openpty(&ends[0], &ends[1], NULL, NULL, NULL) : pipe(ends))
		return NULL;
	saved_stderr = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	body();
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	read_until_silence(ends[0], text, sizeof(text));
	close(ends[0]);
	close(ends[1]);
	return text;
}

static void half_way(void)
{
	struct progress p;

	progress_start(&p, "replay", 2000);
	usleep(110000);
	progress_update(&p, 1000);
	progress_end(&p);
}

static void unknown_total(void)
{
	struct progress p;

	progress_start(&p, "capture", 0);
	usleep(110000);
	progress_update(&p, 1000);
	progress_end(&p);
}

static void thousand_updates(void)
{
	struct progress p;

	progress_start(&p, "replay", 1000);
	for (uint64_t i = 1; i <= 1000; i++)
		progress_update(&p, i);
	progress_end(&p);
}

TEST(a_terminal_gets_count_percent_and_time_left)
{
	const char *text = written(true, half_way);

	if (!CHECK(text != NULL))
		return;
	CHECK(strstr(text, "replay 1,000/2,000") != NULL);
	CHECK(strstr(text, " 50%") != NULL);
	CHECK(strstr(text, "left") != NULL);
	CHECK(strlen(text) > 4 && !strcmp(text + strlen(text) - 4, "\r\033[K"));
}

TEST(without_a_total_there_is_a_rate)
{
	const char *text = written(true, unknown_total);

	CHECK(text && strstr(text, "capture 1,000") && strstr(text, "/s"));
}

TEST(it_draws_at_most_ten_times_a_second)
{
	const char *text = written(true, thousand_updates);
	int lines = 0;

	for (const char *p = text; p && (p = strstr(p, "replay")); p++)
		lines++;
	CHECK(lines >= 1 && lines < 5);
}

static void note(void)
{
	progress_note("round %d of %d", 1, 5);
	progress_quiet(true);
	progress_note("not this");
	progress_quiet(false);
}

TEST(a_note_stays_also_without_a_terminal)
{
	CHECK_EQ(written(false, note), "round 1 of 5\n");
	CHECK_EQ(written(true, note), "\r\033[Kround 1 of 5\r\n");
}

TEST(silent_without_a_terminal_and_when_quiet)
{
	CHECK_EQ(written(false, half_way), "");
	progress_quiet(true);
	CHECK_EQ(written(true, half_way), "");
	progress_quiet(false);
}
