/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include "cleanup.h"
#include "io.h"
#include "result-text.h"

const char *const run_kind_names[] = {[RUN_REPLAY] = "replay", [RUN_REAL] = "real", NULL};

void result_run_done(struct result_run *run)
{
	free(run->target);
	free(run->options);
	free(run->unsafe);
	free(run->failure);
	vec_each (d, &run->divergence)
		free(d->first);
	vec_each (step, &run->steps) {
		free(step->unfinished);
		free(step->note);
	}
	vec_free(&run->steps);
	vec_free(&run->classes);
	vec_free(&run->calibration);
	vec_free(&run->divergence);
}

struct result_class *result_run_class(
	struct result_run *run, const char *op, const char *file_class)
{
	vec_each (c, &run->classes)
		if (!strcmp(c->op, op) && !strcmp(c->file_class, file_class))
			return c;
	vec_push(&run->classes, (struct result_class){0});
	struct result_class *c = &run->classes.at[run->classes.count - 1];
	snprintf(c->op, sizeof(c->op), "%s", op);
	snprintf(c->file_class, sizeof(c->file_class), "%s", file_class);
	return c;
}

static const struct result_step *step_by_name(const struct result_run *run, const char *name)
{
	vec_each (step, &run->steps)
		if (!strcmp(step->name, name))
			return step;
	return NULL;
}

static bool differs(const struct result_step *a, const struct result_step *b)
{
	return a && *a->checksum && *b->checksum &&
	       (a->rows != b->rows || strcmp(a->checksum, b->checksum) != 0);
}

bool results_conflict(const struct results *r, struct result_conflict *ret)
{
	const struct result_run *first = NULL;

	vec_each (run, &r->runs) {
		if (run->failure || run->kind != RUN_REAL || !run->steps.count)
			continue;
		first = first ? first : run;
		vec_each (step, &run->steps)
			if (differs(step_by_name(first, step->name), step)) {
				*ret = (struct result_conflict){first, run, step};
				return true;
			}
	}
	return false;
}

bool results_wrong(const struct results *r)
{
	struct result_conflict conflict;

	vec_each (run, &r->runs)
		if (run->failure || run->divergences)
			return true;
	return results_conflict(r, &conflict);
}

void results_free(struct results *r)
{
	if (!r)
		return;
	free(r->trace_path);
	free(r->trace_sha256);
	free(r->workload);
	free(r->unfinished);
	json_decref(r->environment);
	vec_each (run, &r->runs)
		result_run_done(run);
	vec_each (p, &r->predictions)
		free(p->target);
	vec_each (rank, &r->ranking)
		free(rank->target);
	vec_free(&r->runs);
	vec_free(&r->predictions);
	vec_free(&r->ranking);
	free(r);
}

static json_t *processor_name(void)
{
	auto_free char *info = read_text("/proc/cpuinfo");
	char *name = info ? strstr(info, "model name") : NULL;

	name = name ? strchr(name, ':') : NULL;
	if (!name)
		return json_null();
	name += 1 + strspn(name + 1, " \t");
	name[strcspn(name, "\n")] = '\0';
	return json_text(name);
}

static json_t *date_now(void)
{
	char text[32];
	time_t now = time(NULL);
	struct tm utc;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	return json_string(text);
}

struct results *results_new(void)
{
	struct results *r = ALLOC(struct results);
	struct utsname name = {0};
	struct sysinfo info = {0};

	uname(&name);
	sysinfo(&info);
	r->environment = json_object();
	json_object_set_new(r->environment, "fsreel", json_string(FSREEL_VERSION));
	json_object_set_new(r->environment, "date", date_now());
	json_object_set_new(r->environment, "host", json_text(name.nodename));
	json_object_set_new(r->environment, "kernel", json_text(name.release));
	json_object_set_new(r->environment, "machine", json_text(name.machine));
	json_object_set_new(r->environment, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(r->environment, "processor", processor_name());
	json_object_set_new(r->environment, "memory",
		json_integer((json_int_t)((uint64_t)info.totalram * info.mem_unit)));
	return r;
}

void results_command(struct results *r, int argc, char **argv)
{
	char *line = xstrdup("fsreel");

	for (int i = 0; i < argc; i++) {
		auto_free char *word = shell_word(argv[i]);
		char *longer = xasprintf("%s %s", line, word);
		free(line);
		line = longer;
	}
	json_object_set_new(r->environment, "command", json_text(line));
	free(line);
}

void results_unfinished(struct results *r, const char *why, size_t planned)
{
	free(r->unfinished);
	r->unfinished = xasprintf("%s after %zu of %zu runs", why, r->runs.count, planned);
}
