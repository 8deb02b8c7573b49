/* SPDX-License-Identifier: MIT */
/*
 * Any shell command as a workload. It is run in the directory; so are one that prepares data and
 * one that judges it afterwards, where they are given.
 *
 * Whether it does the same work each time is up to the command.
 */

#include "all.h"
#include "spawn.h"

struct command {
	uint64_t times;
	char prepare[1024], check[1024], run[4096];
};

static const struct param params[] = {
	{"times", PARAM_NUMBER, offsetof(struct command, times), "1", 1, 0, NULL,
		"how often it is run, one after the other"},
	{"prepare", PARAM_TEXT, offsetof(struct command, prepare), "", 0, 1024, NULL,
		"shell command that makes the data; without commas"},
	{"check", PARAM_TEXT, offsetof(struct command, check), "", 0, 1024, NULL,
		"shell command that fails if the data is wrong; without commas"},
	{"run", PARAM_REST, offsetof(struct command, run),
		"seq 100000 >numbers && sync numbers && sort -rn numbers >sorted && rm numbers", 1,
		4096, NULL, "the shell command; commas belong to it, so it comes last"},
};

/* What it prints is kept for the error text: stdout is ours. */
static int run_in(const char *dir, const char *command, struct error *err)
{
	const char *const argv[] = {
		"sh", "-c", "cd -- \"$1\" && exec sh -c \"$2\"", "sh", dir, command, NULL};
	int r = spawn_run(argv, NULL, err);

	return r ? error_wrap(err, "'%s'", command) : 0;
}

static int command_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct command *s = settings;

	return *s->prepare ? run_in(dir, s->prepare, err) : 0;
}

static int command_run(
	const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct command *s = settings;
	uint64_t start_ns = now_ns();
	int r = 0;

	*ret = (struct outcome){
		.planned = s->times,
		.metric_name = "runs",
		.metric_unit = "runs/s",
	};
	while (!r && ret->operations < s->times) {
		uint64_t run_ns = now_ns();
		r = run_in(dir, s->run, err);
		hist_add(&ret->latency, now_ns() - run_ns);
		ret->operations += !r;
	}
	ret->elapsed_ns = now_ns() - start_ns;
	outcome_rate(ret);
	return r;
}

static int command_check(const void *settings, const char *dir, struct error *err)
{
	const struct command *s = settings;

	return *s->check ? run_in(dir, s->check, err) : 0;
}

const struct workload workload_command = {
	.name = "command",
	.summary = "any shell command, run in the directory",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct command),
	.prepare = command_prepare,
	.run = command_run,
	.check = command_check,
};
