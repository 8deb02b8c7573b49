/* SPDX-License-Identifier: MIT */
/* Any bytes as a trace that is sliced and made anonymous: that ends with an answer. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "io.h"
#include "slice.h"
#include "vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is asked for follows from the bytes, so that a fuzzer can vary it. */
static void choose(struct slice_options *o, const uint8_t *data, size_t size)
{
	uint8_t choice = size ? data[size - 1] : 0;

	o->from_ns = choice & 1 ? 1000000 : 0;
	o->to_ns = choice & 2 ? 50000000 : UINT64_MAX;
	o->ops[OP_read] = o->ops[OP_unlink] = choice & 4;
}

static void slice_file(const char *path, const uint8_t *data, size_t size)
{
	static struct anonymizer *anonymizer;
	static const char *globs[] = {"*.db", "dir"};
	struct opt_list paths = {.at = globs, .count = size && data[size - 1] & 8 ? 2 : 0};
	struct opt_list threads = {0};
	struct slice_options o = {.paths = &paths, .threads = &threads};
	struct trace_reader *r = NULL;
	struct slice_stats stats;
	struct error err;
	char out[64];

	if (!anonymizer && anonymizer_new(&anonymizer, NULL, &err) < 0)
		return;
	o.anonymizer = anonymizer;
	choose(&o, data, size);
	if (trace_reader_open(&r, path, &err) < 0)
		return;
	snprintf(out, sizeof(out), "/dev/shm/fuzz-slice-%d.reel", (int)getpid());
	slice_write(r, out, &o, &stats, &err);
	unlink(out);
	trace_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_close int fd = memfd_create("fuzz", MFD_CLOEXEC);
	auto_free char *path = xasprintf("/proc/self/fd/%d", fd);

	if (write_all(fd, data, size) == 0)
		slice_file(path, data, size);
	return 0;
}
