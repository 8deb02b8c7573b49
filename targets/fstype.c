/* SPDX-License-Identifier: MIT */
#include "fstype.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "cleanup.h"
#include "spawn.h"
#include "units.h"
#include "vec.h"

/* ext4's Opt_removed (fs/ext4/super.c): "Ignoring removed %s option", in the kernel log only. */
#define EXT_IGNORED                                                                                \
	"bh nobh oldalloc orlov mblk_io_submit nomblk_io_submit reservation noreservation check "  \
	"nocheck journal"

enum where { ALWAYS, MOUNT, MKFS };

struct unsafe {
	const char *fs;
	enum where where;
	const char *option;
	const char *why;
};

#define UNSAFE(...)
#define FS(id, ...) {.name = #id, __VA_ARGS__},
const struct fs_type fs_types[] = {
#include "targets.def"
};
#undef FS
#undef UNSAFE
const size_t fs_type_count = ARRAY_SIZE(fs_types);

#define FS(...)
#define UNSAFE(id, where, option, why) {#id, where, option, why},
static const struct unsafe unsafe_options[] = {
#include "targets.def"
};
#undef FS
#undef UNSAFE

const struct fs_type *fs_type_find(const char *name, struct error *err)
{
	for (size_t i = 0; i < fs_type_count; i++)
		if (!strcmp(fs_types[i].name, name))
			return &fs_types[i];
	const char *near =
		nearest_name(name, &fs_types[0].name, fs_type_count, sizeof(fs_types[0]));
	error_set(err, EINVAL, "'%s' is not a file system known here%s%s%s; see 'fsreel targets'",
		name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

/* True if a line of `path` contains `text`. */
static bool file_mentions(const char *path, const char *text)
{
	auto_fclose FILE *f = fopen(path, "re");
	auto_free char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) >= 0)
		if (strstr(line, text))
			return true;
	return false;
}

bool fs_type_in_kernel(const struct fs_type *type)
{
	auto_free char *registered = xasprintf("\t%s\n", type->name);
	auto_free char *module = xasprintf("/%s.ko", type->module);
	struct utsname host;

	if (file_mentions("/proc/filesystems", registered))
		return true;
	uname(&host);
	auto_free char *loadable = xasprintf("/lib/modules/%s/modules.dep", host.release);
	auto_free char *builtin = xasprintf("/lib/modules/%s/modules.builtin", host.release);
	return file_mentions(loadable, module) || file_mentions(builtin, module);
}

char *fs_type_missing(const struct fs_type *type)
{
	auto_free char *program = type->mkfs ? find_program(type->mkfs) : NULL;
	bool no_mkfs = type->mkfs && !program;
	bool no_driver = !fs_type_in_kernel(type);
	struct utsname host;

	if (!no_mkfs && !no_driver)
		return NULL;
	uname(&host);
	auto_free char *mkfs = no_mkfs ? xasprintf("%s is not installed (apt install %s)",
						 type->mkfs, type->package)
	                               : xstrdup("");
	auto_free char *driver =
		no_driver ? xasprintf("kernel %s has no %s (needs one with CONFIG_%s)",
				    host.release, type->name, type->config)
			  : xstrdup("");
	return xasprintf("%s%s%s", mkfs, no_mkfs && no_driver ? "; " : "", driver);
}

bool option_present(const char *options, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = options; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (!strncmp(at, option, len) && (!at[len] || at[len] == ','))
			return true;
	return false;
}

const char *fs_type_unsafe(
	const char *name, const char *asked, const char *in_effect, const char *mkfs_options)
{
	for (size_t i = 0; i < ARRAY_SIZE(unsafe_options); i++) {
		const struct unsafe *u = &unsafe_options[i];
		if (strcmp(u->fs, name))
			continue;
		if (u->where == ALWAYS)
			return u->why;
		if (u->where == MOUNT &&
			(option_present(asked, u->option) || option_present(in_effect, u->option)))
			return u->why;
		if (u->where == MKFS && mkfs_options && strstr(mkfs_options, u->option))
			return u->why;
	}
	return NULL;
}
