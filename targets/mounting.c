/* SPDX-License-Identifier: MIT */
/*
 * The new mount interface (fsopen, fsconfig, fsmount) takes one option at a time and answers in
 * words, so that "data=foo" is refused as "Bad value for 'data'" and not as "Invalid argument".
 */
#include "mounting.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "cleanup.h"
#include "clock.h"
#include "interrupt.h"
#include "vec.h"

/* Always there, so that a process which is killed leaves nothing new behind. */
#define MOUNT_ROOT "/run/fsreel"

#define BUSY_LIMIT_NS (10 * NSEC_PER_SEC)

/* Options of the mount, not of the file system; fsmount() wants them as bits. */
static const struct mount_bit {
	const char *name;
	unsigned set, clear;
} mount_bits[] = {
	{"noatime", MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME},
	{"relatime", MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME},
	{"strictatime", MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME},
	{"nodiratime", MOUNT_ATTR_NODIRATIME, 0},
	{"diratime", 0, MOUNT_ATTR_NODIRATIME},
	{"nosuid", MOUNT_ATTR_NOSUID, 0},
	{"suid", 0, MOUNT_ATTR_NOSUID},
	{"nodev", MOUNT_ATTR_NODEV, 0},
	{"dev", 0, MOUNT_ATTR_NODEV},
	{"noexec", MOUNT_ATTR_NOEXEC, 0},
	{"exec", 0, MOUNT_ATTR_NOEXEC},
	{"defaults", 0, 0},
	{"rw", 0, 0},
};

bool mounting_allowed(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

int mounting_enter(struct error *err)
{
	static bool entered;

	if (entered || !mounting_allowed())
		return 0;
	if (unshare(CLONE_NEWNS))
		return error_errno(err, errno, "no mount namespace");
	/* Slave, not private: what others unmount must not live on because of us. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return error_errno(err, errno, "cannot make the mount namespace private");
	if (mkdir(MOUNT_ROOT, 0755) && errno != EEXIST)
		return error_errno(err, errno, "%s", MOUNT_ROOT);
	if (mount("fsreel", MOUNT_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m"))
		return error_errno(err, errno, "%s", MOUNT_ROOT);
	entered = true;
	return 0;
}

char *mounting_point(const char *name, struct error *err)
{
	char *path = xasprintf(MOUNT_ROOT "/%s-XXXXXX", name);

	if (mkdtemp(path) && !chmod(path, 0755))
		return path;
	error_errno(err, errno, "cannot make a mount point %s", path);
	free(path);
	return NULL;
}

/* What the kernel has to say about the last step, without the level letter; false if nothing. */
static bool kernel_words(int context, char *text, size_t size)
{
	ssize_t n = read(context, text, size - 1);

	if (n <= 2)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	memmove(text, text + 2, strlen(text + 2) + 1);
	return true;
}

static int refused(int context, const char *what, struct error *err)
{
	int code = errno;
	char words[256];

	if (kernel_words(context, words, sizeof(words)))
		return error_set(err, code, "%s: %s", what, words);
	return error_errno(err, code, "%s", what);
}

static const struct mount_bit *find_bit(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(mount_bits); i++)
		if (!strcmp(mount_bits[i].name, name))
			return &mount_bits[i];
	return NULL;
}

static int set_option(
	int context, const char *name, const char *value, unsigned *bits, struct error *err)
{
	const struct mount_bit *bit = value ? NULL : find_bit(name);

	if (bit) {
		*bits = (*bits & ~bit->clear) | bit->set;
		return 0;
	}
	if (!fsconfig(context, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, name, value, 0))
		return 0;
	auto_free char *what = xasprintf(
		"mount option '%s%s%s' is refused", name, value ? "=" : "", value ? value : "");
	return refused(context, what, err);
}

static int set_options(int context, const char *options, unsigned *bits, struct error *err)
{
	auto_free char *copy = xstrdup(options ? options : "");
	char *rest = copy, *name, *value;
	size_t name_size, value_size;

	while (!mnt_optstr_next_option(&rest, &name, &name_size, &value, &value_size)) {
		auto_free char *n = strndup(name, name_size);
		auto_free char *v = value ? strndup(value, value_size) : NULL;
		int r = set_option(context, n, v, bits, err);
		if (r)
			return r;
	}
	return 0;
}

int mounting_mount(const char *type, const char *source, const char *path, const char *options,
	struct error *err)
{
	unsigned bits = 0;
	auto_close int context = fsopen(type, FSOPEN_CLOEXEC);

	if (context < 0)
		return errno == ENODEV ? error_set(err, ENODEV, "this kernel has no %s", type)
		                       : error_errno(err, errno, "cannot mount");
	if (fsconfig(context, FSCONFIG_SET_STRING, "source", source, 0))
		return refused(context, source, err);
	int r = set_options(context, options, &bits, err);
	if (r)
		return r;
	auto_free char *what = xasprintf("mounting %s%s%s is refused", source,
		options && *options ? " with " : "", options ? options : "");
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return refused(context, what, err);
	auto_close int mnt = fsmount(context, FSMOUNT_CLOEXEC, bits);
	if (mnt < 0)
		return refused(context, what, err);
	if (move_mount(mnt, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH))
		return error_errno(err, errno, "cannot mount on %s", path);
	return 0;
}

int mounting_unmount(const char *path, struct error *err)
{
	uint64_t start = now_ns();
	struct timespec pause = {.tv_nsec = (long)NSEC_PER_MSEC};

	/* Teardown of rings and of killed processes goes on after their owners are gone. */
	while (umount2(path, UMOUNT_NOFOLLOW)) {
		if (errno != EBUSY && errno != EINTR)
			return error_errno(err, errno, "cannot unmount %s", path);
		if (now_ns() - start > BUSY_LIMIT_NS) {
			umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
			return error_set(err, EBUSY,
				"%s is still in use after %u s; does a program of the workload "
				"still run?",
				path, (unsigned)(BUSY_LIMIT_NS / NSEC_PER_SEC));
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < (long)(100 * NSEC_PER_MSEC))
			pause.tv_nsec *= 2;
	}
	return 0;
}

static void cleanup_mount_table(struct libmnt_table **table)
{
	mnt_unref_table(*table);
}

static char *copy_or_empty(const char *s)
{
	return xstrdup(s ? s : "");
}

int mounted_at(struct mounted *ret, const char *path, struct error *err)
{
	__attribute__((cleanup(cleanup_mount_table))) struct libmnt_table *table =
		mnt_new_table_from_file("/proc/self/mountinfo");
	auto_free char *real = realpath(path, NULL);
	auto_free char *root = real ? mnt_get_mountpoint(real) : NULL;
	struct libmnt_fs *fs =
		table && root ? mnt_table_find_target(table, root, MNT_ITER_BACKWARD) : NULL;

	if (!fs)
		return error_set(err, ENOENT, "%s: not found in /proc/self/mountinfo", path);
	*ret = (struct mounted){
		.type = copy_or_empty(mnt_fs_get_fstype(fs)),
		.source = copy_or_empty(mnt_fs_get_source(fs)),
		.options = copy_or_empty(mnt_fs_get_options(fs)),
	};
	return 0;
}

void mounted_done(struct mounted *m)
{
	free(m->type);
	free(m->source);
	free(m->options);
	*m = (struct mounted){0};
}

char *mounted_type(const char *path)
{
	struct mounted m = {0};

	if (mounted_at(&m, path, NULL))
		return NULL;
	char *type = m.type;
	m.type = NULL;
	mounted_done(&m);
	return type;
}
