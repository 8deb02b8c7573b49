/* SPDX-License-Identifier: MIT */
/* fsreel doctor: what works on this machine, what does not, and what would help. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "cleanup.h"
#include "cmd.h"
#include "fuse-probe.h"
#include "io.h"
#include "probe.h"
#include "spawn.h"
#include "table.h"
#include "target.h"
#include "units.h"
#include "vec.h"

enum state { OK, LIMITED, MISSING };
static const char *const state_names[] = {"ok", "limited", "missing"};

struct text {
	char at[256];
};

attr_printf(3, 4) static enum state say(struct text *text, enum state state, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text->at, sizeof(text->at), fmt, args);
	va_end(args);
	return state;
}

static enum state check_kernel(struct text *text)
{
	struct utsname host;

	uname(&host);
	return say(text, OK, "%s %s %s", host.sysname, host.release, host.machine);
}

static enum state check_privilege(struct text *text)
{
	if (target_privileged())
		return say(text, OK, "file systems can be made and mounted");
	return say(text, LIMITED,
		"%s: targets are directories (dir:PATH) only, and their caches may stay warm",
		geteuid() ? "not root" : "root without CAP_SYS_ADMIN");
}

static enum state check_fuse(struct text *text)
{
	auto_free char *helper = find_program("fusermount3");
	auto_close int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return say(text, MISSING, "/dev/fuse: %s; %s; nothing can be captured",
			strerror(errno),
			errno == EACCES ? "run as root, or chmod 666 it, as udev does"
					: "try 'modprobe fuse'");
	if (!helper && geteuid())
		return say(text, MISSING,
			"fusermount3 is not installed (apt install fuse3); nothing can be "
			"captured");
	return say(text, OK, "/dev/fuse%s", helper ? ", fusermount3" : "");
}

static enum state check_fuse_features(struct text *text)
{
	struct fuse_probe probe = {0};
	struct error err = {0};

	if (fuse_probe(&probe, &err))
		return say(text, LIMITED, "could not be asked: %s", err.text);
	if (!(probe.flags & FUSE_PROBE_ALLOW_MMAP))
		return say(text, LIMITED,
			"FUSE %u.%u without ALLOW_MMAP (Linux 6.6): files that are mapped shared, "
			"as SQLite's *-shm, are captured through the page cache",
			probe.major, probe.minor);
	return say(text, OK, "FUSE %u.%u with ALLOW_MMAP", probe.major, probe.minor);
}

static enum state check_probe(struct text *text)
{
	struct error err = {0};

	if (probe_possible(&err))
		return say(text, LIMITED, "%s", err.text);
	return say(text, OK, "BPF tracepoints: calls that FUSE does not see");
}

static enum state check_ring(struct text *text)
{
	struct io_uring ring;
	int r = io_uring_queue_init(4, &ring, 0);
	auto_free char *disabled = read_text("/proc/sys/kernel/io_uring_disabled");

	if (!r) {
		io_uring_queue_exit(&ring);
		return say(text, OK, "io_uring works");
	}
	if (disabled && *disabled != '0')
		return say(text, LIMITED,
			"io_uring is off (sysctl kernel.io_uring_disabled=%s): replays use "
			"threads; "
			"remedy: sysctl kernel.io_uring_disabled=0",
			disabled);
	return say(text, LIMITED, "no io_uring (%s): replays use threads", strerror(-r));
}

static enum state check_loop(struct text *text)
{
	auto_close int fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return say(text, OK, "/dev/loop-control");
	if (errno == EACCES || errno == EPERM)
		return say(text, LIMITED, "/dev/loop-control: only root may use it");
	return say(text, LIMITED,
		"/dev/loop-control: %s; file systems need --device, or 'modprobe "
		"loop'",
		strerror(errno));
}

/* "ext4 xfs"; the names whose "available" is `want`. */
static char *target_names(json_t *rows, bool want, unsigned *ret_count)
{
	char *names = xstrdup("");
	json_t *row;
	size_t i;

	*ret_count = 0;
	json_array_foreach(rows, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "target"));
		if (json_is_true(json_object_get(row, "available")) != want || strchr(name, ':'))
			continue;
		char *longer = xasprintf("%s%s%s", names, *names ? " " : "", name);
		free(names);
		names = longer;
		++*ret_count;
	}
	return names;
}

static enum state check_targets(struct text *text)
{
	struct table *t = targets_table();
	json_t *rows = table_json(t);
	unsigned here, missing;
	auto_free char *good = target_names(rows, true, &here);
	auto_free char *bad = target_names(rows, false, &missing);

	json_decref(rows);
	table_free(t);
	return say(text, here >= 2 && target_privileged() ? OK : LIMITED, "%s%s%s%s%s",
		here ? good : "none", target_privileged() ? "" : ", but only root can make them",
		missing ? "; not here: " : "", bad, missing ? " (see 'fsreel targets')" : "");
}

static enum state check_scratch(struct text *text)
{
	const char *tmpdir = getenv("TMPDIR");
	const char *dir = tmpdir && *tmpdir ? tmpdir : "/var/tmp";
	struct statvfs fs;
	struct unit_text room;

	if (statvfs(dir, &fs))
		return say(text, LIMITED, "%s: %s; use --scratch-dir", dir, strerror(errno));
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return say(text, free_bytes >> 31 ? OK : LIMITED, "%s has %s free%s", dir,
		format_bytes(free_bytes, &room),
		free_bytes >> 31 ? ""
				 : "; the default scratch file needs 2 GiB: use --size or "
				   "--scratch-dir");
}

static enum state check_descriptors(struct text *text)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= 4096)
		return say(text, OK, "%" PRIu64 " descriptors", (uint64_t)limit.rlim_max);
	return say(text, LIMITED, "only %" PRIu64 " descriptors; raise it with ulimit -Hn",
		(uint64_t)limit.rlim_max);
}

static enum state check_cpus(struct text *text)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus > 1)
		return say(text, OK, "%ld CPUs", cpus);
	return say(text, LIMITED, "one CPU: workload and capture take it from each other");
}

static const struct check {
	const char *name;
	enum state (*run)(struct text *text);
} checks[] = {
	{"kernel", check_kernel},
	{"privilege", check_privilege},
	{"fuse", check_fuse},
	{"fuse features", check_fuse_features},
	{"probe", check_probe},
	{"io_uring", check_ring},
	{"loop devices", check_loop},
	{"file systems", check_targets},
	{"scratch space", check_scratch},
	{"descriptors", check_descriptors},
	{"processors", check_cpus},
};

/* What no FUSE file system is asked for, or cannot carry out, on any kernel to date. */
static const char *const limits[] = {
	"preadv2/pwritev2 with RWF_NOWAIT, RWF_DONTCACHE or RWF_ATOMIC fail with EOPNOTSUPP",
	"fallocate with COLLAPSE_RANGE, INSERT_RANGE or UNSHARE_RANGE fails with EOPNOTSUPP",
	"ioctl FICLONE (reflink), FIDEDUPERANGE and FIEMAP do not reach the file system below",
	"no swap files, no MAP_SYNC; statx() does not tell the alignment of direct I/O",
	"O_DIRECT takes buffers at any address; size and offset are those of the file system below",
	"sync_file_range, posix_fadvise, readahead and sync() are seen by the probe only",
	"reads and writes through a shared mapping are seen as pages, not as the calls they were",
};

static void print_limits(void)
{
	puts("\nWhat a capture through FUSE cannot see or do:");
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		printf("  - %s\n", limits[i]);
}

static void print_json(const struct table *t)
{
	json_t *all = json_object();
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		json_array_append_new(list, json_string(limits[i]));
	json_object_set_new(all, "checks", table_json(t));
	json_object_set_new(all, "limits", list);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

/* Fills the table; true if something without which nothing works is missing. */
static bool run_checks(struct table *t)
{
	bool missing = false;

	table_column(t, "CHECK", "check", TABLE_LEFT);
	table_column(t, "STATE", "state", TABLE_LEFT);
	table_column(t, "", "remark", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct text text = {""};
		enum state state = checks[i].run(&text);
		table_text(t, "%s", checks[i].name);
		table_text(t, "%s", state_names[state]);
		table_text(t, "%s", text.at);
		missing |= state == MISSING;
	}
	return missing;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	bool json = false;
	const struct opt opts[] = {
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, 0, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	struct table *t = table_new();
	bool missing = run_checks(t);
	if (json) {
		print_json(t);
	} else {
		table_print(t, stdout);
		print_limits();
	}
	table_free(t);
	return missing ? EXIT_WRONG : EXIT_GOOD;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "[--json]",
	.summary = "what works on this machine, what does not, and the remedy",
	.run = run,
};
