/* SPDX-License-Identifier: MIT */
/* The probe of a build without one: it says so. */
#include <errno.h>
#include <string.h>

#include "probe.h"

int probe_possible(struct error *err)
{
	return error_set(err, ENOSYS,
		"this fsreel was built without the probe; install clang, bpftool and libbpf-dev "
		"and build it again");
}

int probe_open(struct probe **ret, const struct probe_options *options, struct error *err)
{
	return probe_possible(err);
}

int probe_watch(struct probe *p, pid_t pid, struct error *err)
{
	return probe_possible(err);
}

void probe_stop(struct probe *p, struct probe_stats *ret)
{
	if (ret)
		*ret = probe_stats_now(p);
}

void probe_close(struct probe *p)
{
}

void probe_narrow(struct probe *p, uint32_t device)
{
}

uint64_t probe_clock_ns(struct probe *p, uint32_t tid)
{
	return 0;
}

long probe_call_of(const struct probe *p, uint32_t tid)
{
	return -1;
}

struct probe_stats probe_stats_now(const struct probe *p)
{
	return (struct probe_stats){0};
}
