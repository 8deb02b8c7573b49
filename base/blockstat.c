/* SPDX-License-Identifier: MIT */
#include "blockstat.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "vec.h"

#define SECTOR 512

/* "/dev/loop3" -> "loop3": the name under which /sys and /proc know the device. */
static char *kernel_name(dev_t dev)
{
	auto_free char *path = xasprintf("/sys/dev/block/%u:%u", major(dev), minor(dev));
	char target[256];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = '\0';
	const char *slash = strrchr(target, '/');
	return xstrdup(slash ? slash + 1 : target);
}

/* First number of /proc/fs/jbd2/NAME-INODE/info: transactions since the mount. */
static uint64_t jbd2_commits(const char *name)
{
	auto_free char *path = xasprintf("/proc/fs/jbd2/%s-8/info", name);
	auto_free char *text = read_text(path);

	return text ? strtoull(text, NULL, 10) : 0;
}

/* /sys/fs/btrfs/UUID/commit_stats of the file system that lists `name` among its devices. */
static uint64_t btrfs_commits(const char *name)
{
	auto_closedir DIR *all = opendir("/sys/fs/btrfs");
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		auto_free char *device =
			xasprintf("/sys/fs/btrfs/%s/devices/%s", entry->d_name, name);
		if (access(device, F_OK))
			continue;
		auto_free char *path = xasprintf("/sys/fs/btrfs/%s/commit_stats", entry->d_name);
		auto_free char *text = read_text(path);
		uint64_t commits = 0;
		if (text && sscanf(text, "commits %" SCNu64, &commits) == 1)
			return commits;
	}
	return 0;
}

void blockstat_read(dev_t dev, struct blockstat *ret)
{
	*ret = (struct blockstat){0};
	auto_free char *name = kernel_name(dev);
	if (!name)
		return;
	auto_free char *path = xasprintf("/sys/dev/block/%u:%u/stat", major(dev), minor(dev));
	auto_free char *text = read_text(path);
	uint64_t f[17] = {0};
	char *at = text;
	size_t n = 0;
	while (at && n < ARRAY_SIZE(f)) {
		char *end;
		f[n] = strtoull(at, &end, 10);
		if (end == at)
			break;
		at = end;
		n++;
	}
	if (n < 11)
		return;
	*ret = (struct blockstat){
		.valid = true,
		.reads = f[0],
		.read_bytes = f[2] * SECTOR,
		.writes = f[4],
		.write_bytes = f[6] * SECTOR,
		.busy_ns = f[9] * NSEC_PER_MSEC,
		.flushes = f[15],
		.commits = jbd2_commits(name),
	};
	if (!ret->commits)
		ret->commits = btrfs_commits(name);
}

struct blockstat blockstat_since(const struct blockstat *now, const struct blockstat *before)
{
	if (!now->valid || !before->valid)
		return (struct blockstat){0};
	return (struct blockstat){
		.valid = true,
		.reads = now->reads - before->reads,
		.read_bytes = now->read_bytes - before->read_bytes,
		.writes = now->writes - before->writes,
		.write_bytes = now->write_bytes - before->write_bytes,
		.flushes = now->flushes - before->flushes,
		.busy_ns = now->busy_ns - before->busy_ns,
		.commits = now->commits - before->commits,
	};
}
