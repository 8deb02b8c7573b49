/* SPDX-License-Identifier: MIT */
/* The file systems that can be targets, and whether this machine has what they need. */
#ifndef FSTYPE_H
#define FSTYPE_H

#include "error.h"

struct fs_type {
	const char *name;
	const char *mkfs;    /* program; NULL = there is nothing to make */
	const char *force;   /* its flags: be quiet, overwrite */
	const char *whole;   /* its flags: neither discard nor lazy initialisation; may be NULL */
	const char *mount;   /* options given on a scratch file unless the user chose otherwise */
	const char *package; /* Debian's, for the remedy */
	const char *config;  /* kernel: CONFIG_<this> */
	const char *module;  /* kernel: <this>.ko */
	unsigned min_mib;    /* the smallest device it can be made on */
	const char *note;    /* for people; may be NULL */
	const char *ignored; /* mount options the kernel takes without a word and without effect */
};

extern const struct fs_type fs_types[];
extern const size_t fs_type_count;

/* NULL with "did you mean" in err when there is none of that name. */
const struct fs_type *fs_type_find(const char *name, struct error *err);
bool fs_type_in_kernel(const struct fs_type *type);
/* Everything that is missing, with the remedies, in one sentence; NULL if nothing is. Caller
 * frees. */
char *fs_type_missing(const struct fs_type *type);
/*
 * Why a file system with these options may lose or damage data in a crash, or NULL. Any of the
 * three texts may be NULL.
 */
const char *fs_type_unsafe(
	const char *name, const char *asked, const char *in_effect, const char *mkfs_options);
/* True if `options` (comma-separated) holds exactly `option`. */
bool option_present(const char *options, const char *option);

#endif
