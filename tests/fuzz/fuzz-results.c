/* SPDX-License-Identifier: MIT */
/* A results file of a stranger: read, ranked and shown both ways. */
#include <stdio.h>
#include <sys/mman.h>

#include "cleanup.h"
#include "io.h"
#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(struct results *r)
{
	struct report_options options = {.color = true};
	auto_fclose FILE *out = fopen("/dev/null", "w");
	struct error err;

	report_conclude(r);
	report_text(r, &options, out, &err);
	json_decref(report_json(r, &options, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("results", MFD_CLOEXEC);
	struct results *r = NULL;
	struct error err;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!write_all(fd, data, size) && !results_read(&r, path, &err))
		show(r);
	results_free(r);
	return 0;
}
