/* SPDX-License-Identifier: MIT */
/*
 * One target: mkfs, mount, look at what is in effect, and undo.
 *
 * target_make() leaves nothing behind when it fails: whatever has been done so far is recorded in
 * the struct, and target_unmake() undoes what is recorded there.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "cleanup.h"
#include "fstype.h"
#include "interrupt.h"
#include "io.h"
#include "mounting.h"
#include "scratch.h"
#include "spawn.h"
#include "tempdir.h"
#include "units.h"
#include "vec.h"

struct target {
	char *spec, *label;
	const struct fs_type *type; /* NULL: dir */
	char *mount_options;        /* as asked for; "" if none */
	char *mkfs_options;
	char *dir; /* of dir: */

	/* While made: */
	char *path;                    /* the directory to work in */
	struct tempdir own;            /* in `dir`: the same directory */
	bool mounted;                  /* something of ours is mounted there */
	const struct scratch *scratch; /* what it is made on; NULL for dir: */
	char *options;                 /* in effect */
	int root_fd;
	dev_t device; /* 0: none */
};

/*
 * The mkfs options begin at a colon with a flag behind it ("-J", not "-3": that is a compression
 * level), so that values of mount options may hold colons.
 */
static char *find_mkfs_options(char *text)
{
	for (char *at = strchr(text, ':'); at; at = strchr(at + 1, ':'))
		if (!at[1] || (at[1] == '-' && !strchr("0123456789", at[2])))
			return at;
	return NULL;
}

/* The option of `list` that the kernel would take and ignore, or NULL. */
static const char *find_ignored(const char *options, const char *list, char *word, size_t size)
{
	for (const char *at = list; at && *at; at += strcspn(at, " "), at += *at == ' ') {
		snprintf(word, size, "%.*s", (int)strcspn(at, " "), at);
		for (const char *o = options; *o; o += strcspn(o, ","), o += *o == ',')
			if (strcspn(o, ",=") == strlen(word) && !strncmp(o, word, strlen(word)))
				return word;
	}
	return NULL;
}

static int check_options(const struct target *t, struct error *err)
{
	char word[64];

	if (option_present(t->mount_options, "ro"))
		return error_set(err, EINVAL, "%s: with 'ro' nothing can be written", t->spec);
	if (find_ignored(t->mount_options, t->type->ignored, word, sizeof(word)))
		return error_set(err, EINVAL,
			"%s: the kernel accepts '%s' and does nothing; leave it out", t->spec,
			word);
	if (*t->mkfs_options && !t->type->mkfs)
		return error_set(
			err, EINVAL, "%s: there is no mkfs for %s", t->spec, t->type->name);
	return 0;
}

static int parse_type(struct target *t, struct error *err)
{
	auto_free char *copy = xstrdup(t->spec);
	char *options = copy + strcspn(copy, ":");

	if (*options)
		*options++ = '\0';
	if (strchr(copy, '/'))
		return error_set(
			err, EINVAL, "'%s' is no file system; did you mean dir:%s?", copy, t->spec);
	if (strchr(copy, ','))
		return error_set(err, EINVAL,
			"%s: a list of types takes no options; give each target its own --on",
			t->spec);
	t->type = fs_type_find(copy, err);
	if (!t->type)
		return -EINVAL;
	char *mkfs = *options == '-' ? NULL : find_mkfs_options(options);
	if (mkfs)
		*mkfs++ = '\0';
	t->mount_options = xstrdup(options);
	t->mkfs_options = xstrdup(mkfs ? mkfs : "");
	if (*options == '-')
		return error_set(err, EINVAL,
			"%s: mkfs options come third: TYPE:MOUNT-OPTIONS:MKFS-OPTIONS; write "
			"%s::%s",
			t->spec, t->type->name, options);
	return check_options(t, err);
}

static int parse_dir(struct target *t, const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st))
		return error_errno(err, errno, "%s", t->spec);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ENOTDIR, "%s: not a directory", t->spec);
	if (access(path, W_OK | X_OK))
		return error_errno(err, errno, "%s: cannot write there", t->spec);
	t->dir = realpath(path, NULL);
	return t->dir ? 0 : error_errno(err, errno, "%s", t->spec);
}

int target_new(struct target **ret, const char *spec, const char *label, struct error *err)
{
	struct target *t = ALLOC(struct target);

	t->spec = xstrdup(spec);
	t->label = xstrdup(label ? label : spec);
	t->root_fd = -1;
	int r = strncmp(spec, "dir:", 4) ? parse_type(t, err) : parse_dir(t, spec + 4, err);
	if (r) {
		target_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void target_free(struct target *t)
{
	if (!t)
		return;
	target_unmake(t, NULL);
	free(t->spec);
	free(t->label);
	free(t->mount_options);
	free(t->mkfs_options);
	free(t->dir);
	free(t);
}

const char *target_label(const struct target *t)
{
	return t->label;
}

bool target_is_dir(const struct target *t)
{
	return t->dir;
}

const char *target_path(const struct target *t)
{
	return t->path;
}

int target_root_fd(const struct target *t)
{
	return t->root_fd;
}

const char *target_options(const struct target *t)
{
	return t->options;
}

bool target_privileged(void)
{
	return mounting_allowed();
}

int target_enter(struct error *err)
{
	return mounting_enter(err);
}

int target_available(const struct target *t, struct error *err)
{
	auto_free char *missing = t->type ? fs_type_missing(t->type) : NULL;

	if (missing)
		return error_set(err, ENOSYS, "%s cannot be made here: %s", t->type->name, missing);
	if (t->type && !mounting_allowed())
		return error_set(err, EPERM,
			"%s needs root%s to make and mount it; without, give dir:PATH",
			t->type->name, geteuid() ? "" : " with CAP_SYS_ADMIN");
	return 0;
}

/* mkfs PROGRAM FLAGS... [the user's...] DEVICE */
static int make_file_system(const struct target *t, const struct scratch *s, struct error *err)
{
	const struct fs_type *type = t->type;
	auto_free char *words = xasprintf("%s %s %s %s", type->mkfs, type->force,
		s->file >= 0 && type->whole ? type->whole : "", t->mkfs_options);
	VEC(const char *) argv = {0};
	struct unit_text have;
	char *rest = words;

	if (s->size < (uint64_t)type->min_mib << 20)
		return error_set(err, ENOSPC, "%s needs %u MiB, %s has %s%s", type->name,
			type->min_mib, s->file < 0 ? s->path : "the scratch file",
			format_bytes(s->size, &have), s->file < 0 ? "" : "; give a larger --size");
	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
		if (*word)
			vec_push(&argv, word);
	vec_push(&argv, s->path);
	vec_push(&argv, NULL);
	int r = spawn_run(argv.at, NULL, err);
	vec_free(&argv);
	return r;
}

/* True if `options` sets the thing that `option` is about: "ssd" by "nossd" or "ssd_spread". */
static bool user_decided(const char *options, const char *option)
{
	const char *key = strncmp(option, "no", 2) ? option : option + 2;
	auto_free char *name = strndup(key, strcspn(key, "="));

	return strstr(options, name);
}

/* Options besides the user's: what a scratch file needs, and for tmpfs the size of the others. */
static char *own_options(const struct target *t, const struct scratch *s)
{
	if (!t->type->mkfs && s)
		return xasprintf("size=%" PRIu64, s->size);
	return xstrdup(s && s->file >= 0 && t->type->mount ? t->type->mount : "");
}

/* The user's mount options, then ours where they say nothing. */
static char *options_to_ask(const struct target *t, const struct scratch *s)
{
	char *all = xstrdup(t->mount_options);
	auto_free char *own = own_options(t, s);
	char *rest = own;

	for (char *o = strsep(&rest, ","); o; o = strsep(&rest, ",")) {
		if (!*o || user_decided(t->mount_options, o))
			continue;
		char *longer = xasprintf("%s%s%s", all, *all ? "," : "", o);
		free(all);
		all = longer;
	}
	return all;
}

/* Words and plain numbers mean the same only if they are the same; "10m" may come back as
 * "10240k". */
static bool values_differ(const char *asked, size_t asked_len, const char *got, size_t got_len)
{
	static const char digits[] = "0123456789";
	bool numbers = strspn(asked, digits) >= asked_len && strspn(got, digits) >= got_len;
	bool words = strcspn(asked, digits) && strcspn(got, digits);

	/* "zstd" comes back as "zstd:3". */
	return (numbers || words) && strncmp(asked, got, asked_len);
}

/*
 * The kernel shows no option that has its default value, so an option that is missing says nothing;
 * one that is there with another value was overruled.
 */
static int check_in_effect(const struct target *t, struct error *err)
{
	for (const char *o = t->mount_options; *o; o += strcspn(o, ","), o += *o == ',') {
		size_t key = strcspn(o, ",="), len = strcspn(o, ",");
		for (const char *e = t->options; *e; e += strcspn(e, ","), e += *e == ',') {
			size_t got = strcspn(e, ",");
			if (o[key] != '=' || strncmp(o, e, key + 1))
				continue;
			if (values_differ(o + key + 1, len - key - 1, e + key + 1, got - key - 1))
				return error_set(err, EINVAL,
					"asked for '%.*s', but '%.*s' is in effect", (int)len, o,
					(int)got, e);
		}
	}
	return 0;
}

static int read_options(struct target *t, struct error *err)
{
	struct mounted m = {0};
	int r = mounted_at(&m, t->path, err);

	if (r)
		return r;
	t->options = t->dir ? xasprintf("%s on %s, %s", m.type, m.source, m.options)
	                    : xstrdup(m.options);
	mounted_done(&m);
	return t->dir ? 0 : check_in_effect(t, err);
}

/* On t->path, as the user and the scratch file want it. */
static int mount_target(struct target *t, struct error *err)
{
	auto_free char *options = options_to_ask(t, t->scratch);
	const char *source = t->type->mkfs ? t->scratch->path : t->type->name;
	int r = mounting_mount(t->type->name, source, t->path, options, err);

	t->mounted = r == 0;
	return r;
}

static int make_mount(struct target *t, const struct scratch *s, struct error *err)
{
	int r = t->type->mkfs ? make_file_system(t, s, err) : 0;

	if (r)
		return r;
	t->path = mounting_point(t->type->name, err);
	if (!t->path)
		return -EIO;
	t->scratch = s;
	t->device = t->type->mkfs ? s->device : 0;
	return mount_target(t, err);
}

static int open_root(struct target *t, struct error *err)
{
	t->root_fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->root_fd < 0 ? error_errno(err, errno, "%s", t->path) : 0;
}

/* The block device below a user's directory, if there is one; btrfs hides it behind its own. */
static dev_t device_below(const char *path)
{
	struct mounted m = {0};
	struct stat st;
	dev_t device = 0;

	if (!stat(path, &st) && major(st.st_dev))
		device = st.st_dev;
	else if (!mounted_at(&m, path, NULL) && !stat(m.source, &st) && S_ISBLK(st.st_mode))
		device = st.st_rdev;
	mounted_done(&m);
	return device;
}

static int make_directory(struct target *t, struct error *err)
{
	int r = tempdir_make(&t->own, t->dir, err);

	if (r)
		return r;
	t->path = xstrdup(t->own.path);
	t->device = device_below(t->path);
	return 0;
}

static int make_steps(struct target *t, struct scratch *s, struct error *err)
{
	if (interrupted())
		return error_set(err, EINTR, "interrupted");
	int r = t->dir ? make_directory(t, err) : make_mount(t, s, err);
	if (!r)
		r = read_options(t, err);
	return r ? r : open_root(t, err);
}

int target_make(struct target *t, struct scratch *s, struct error *err)
{
	int r = make_steps(t, s, err);

	if (r) {
		target_unmake(t, NULL);
		return error_wrap(err, "%s", t->label);
	}
	return 0;
}

int target_unmake(struct target *t, struct error *err)
{
	int r = 0;

	if (t->root_fd >= 0)
		close(take_fd(t->root_fd));
	if (t->mounted)
		r = mounting_unmount(t->path, err);
	if (t->path && t->dir) {
		r = tempdir_remove(&t->own);
		if (r)
			error_errno(err, r, "cannot remove %s", t->path);
	} else if (t->path) {
		rmdir(t->path);
	}
	t->mounted = false;
	t->scratch = NULL;
	t->device = 0;
	free(take_ptr(t->path));
	free(take_ptr(t->options));
	return r ? error_wrap(err, "%s", t->label) : 0;
}

int target_sync(const struct target *t, struct error *err)
{
	return syncfs(t->root_fd) ? error_errno(err, errno, "%s: syncfs", t->label) : 0;
}

static int forget_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	auto_close int fd = type == FTW_F ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

	(void)st;
	(void)at;
	if (fd >= 0)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

/* In a directory of the user's: all caches of the machine, or what we may. */
static void drop_caches(const struct target *t)
{
	auto_close int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "3", 1) != 1)
		nftw(t->path, forget_file, 16, FTW_PHYS | FTW_MOUNT);
}

/* Nothing of a file system stays in memory when it is unmounted, and nothing else is disturbed:
 * drop_caches would also evict the programs that are about to run. */
static int remount(struct target *t, struct error *err)
{
	close(take_fd(t->root_fd));
	int r = mounting_unmount(t->path, err);
	if (r)
		return error_wrap(err, "%s", t->label);
	t->mounted = false;
	if (t->scratch->file >= 0)
		posix_fadvise(t->scratch->file, 0, 0, POSIX_FADV_DONTNEED);
	r = mount_target(t, err);
	if (!r)
		r = open_root(t, err);
	return r ? error_wrap(err, "%s", t->label) : 0;
}

int target_settle(struct target *t, struct error *err)
{
	int r = target_sync(t, err);

	if (r)
		return r;
	if (t->dir)
		drop_caches(t);
	else if (t->type->mkfs)
		return remount(t, err);
	return 0;
}

void target_counters(const struct target *t, struct blockstat *ret)
{
	*ret = (struct blockstat){0};
	if (t->device)
		blockstat_read(t->device, ret);
}

const char *target_unsafe(const struct target *t)
{
	const char *preloaded = getenv("LD_PRELOAD");
	struct mounted m = {0};

	if (preloaded && strstr(preloaded, "eatmydata"))
		return "libeatmydata is preloaded: syncs do nothing";
	if (t->type)
		return fs_type_unsafe(t->type->name, t->mount_options, t->options, t->mkfs_options);
	if (mounted_at(&m, t->dir, NULL))
		return NULL;
	const char *why = fs_type_unsafe(m.type, NULL, m.options, NULL);
	mounted_done(&m);
	return why;
}

/* In one line: what is missing, who may make it, what is worth knowing. */
static char *remark_on(const struct fs_type *type, const char *missing)
{
	auto_free char *hurdle = missing ? xstrdup(missing)
	                         : mounting_allowed()
	                                 ? NULL
	                                 : xasprintf("run as root%s, or use dir:PATH",
						   geteuid() ? "" : " with CAP_SYS_ADMIN");

	return xasprintf("%s%s%s", hurdle ? hurdle : "", hurdle && type->note ? "; " : "",
		type->note ? type->note : "");
}

struct table *targets_table(void)
{
	const char *here = mounting_allowed() ? "yes" : "root";
	struct table *table = table_new();

	table_column(table, "TARGET", "target", TABLE_LEFT);
	table_column(table, "HERE", "available", TABLE_LEFT);
	table_column(table, "MKFS", "mkfs", TABLE_LEFT);
	table_column(table, "MIN", "min_bytes", TABLE_RIGHT);
	table_column(table, "WHAT IS MISSING, OR WORTH KNOWING", "remark", TABLE_LEFT);
	for (size_t i = 0; i < fs_type_count; i++) {
		const struct fs_type *type = &fs_types[i];
		auto_free char *missing = fs_type_missing(type);
		table_text(table, "%s", type->name);
		auto_free char *remark = remark_on(type, missing);
		table_value(table, json_boolean(!missing), "%s", missing ? "no" : here);
		table_text(table, "%s", type->mkfs ? type->mkfs : "-");
		table_value(
			table, json_integer((json_int_t)type->min_mib << 20), "%uM", type->min_mib);
		table_text(table, "%s", remark);
	}
	table_text(table, "dir:PATH");
	table_value(table, json_true(), "yes");
	table_text(table, "-");
	table_value(table, json_null(), "-");
	table_text(table, "any mounted file system, no root needed");
	return table;
}
