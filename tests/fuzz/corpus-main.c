/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer, so that every compiler checks it: each file of the corpus
 * as it is, cut short, and with a few bytes changed, the same way in every run.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "cleanup.h"
#include "io.h"
#include "rng.h"
#include "vec.h"

enum { CUTS = 64, CHANGES = 256, LARGEST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* On a block of exactly this size, so that ASan and valgrind see a read past its end. */
static void run(const uint8_t *data, size_t size)
{
	auto_free uint8_t *copy = xmalloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
}

static void run_variants(uint8_t *data, size_t size)
{
	struct rng rng;

	rng_init(&rng, size);
	run(data, size);
	for (int i = 0; i < CUTS && size; i++)
		run(data, rng_below(&rng, size));
	for (int i = 0; i < CHANGES && size; i++) {
		size_t at = rng_below(&rng, size);
		uint8_t before = data[at];
		data[at] = (uint8_t)rng_next(&rng);
		run(data, size);
		data[at] = before;
	}
}

static int run_file(const char *path)
{
	auto_free uint8_t *data = xmalloc(LARGEST);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read_full(fd, data, LARGEST);

	if (size < 0) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 1;
	}
	run_variants(data, (size_t)size);
	return 0;
}

int main(int argc, char **argv)
{
	auto_closedir DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	struct dirent *entry;
	int files = 0, bad = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		auto_free char *path = xasprintf("%s/%s", argv[1], entry->d_name);
		bad += run_file(path);
		files++;
	}
	printf("%d files\n", files);
	return bad || !files;
}
