/* SPDX-License-Identifier: MIT */
/* The operations of ops.def as an enum and as descriptors that encoder, printer and replay loop
 * over. */
#ifndef OP_H
#define OP_H

#include "base.h"

enum op {
#define ARG(slot, kind, effect)
#define OP(number, name, class, args, doc) OP_##name = number,
#include "ops.def"
#undef OP
#undef ARG
	OP_LIMIT, /* one more than the highest number in use */
};

enum op_class {
	CLASS_READ,
	CLASS_WRITE,
	CLASS_SYNC,
	CLASS_OPEN,
	CLASS_NAMESPACE,
	CLASS_ATTRIBUTE,
	CLASS_XATTR,
	CLASS_LOCK,
	CLASS_DIRECTORY,
	CLASS_NOTE, /* information: nothing is done again */
	CLASS_COUNT,
};

enum arg_kind {
	KIND_FILE,    /* uint64_t: file id; 0 = none */
	KIND_HANDLE,  /* uint64_t: open-file id; 0 = none */
	KIND_NAME,    /* struct text: one path component or attribute name */
	KIND_OFFSET,  /* uint64_t: bytes from the start of a file */
	KIND_SIZE,    /* uint64_t: bytes */
	KIND_FLAGS,   /* uint64_t: bits, printed in hexadecimal */
	KIND_MODE,    /* uint64_t: mode bits, printed in octal */
	KIND_NUMBER,  /* uint64_t: printed in decimal */
	KIND_TIME,    /* uint64_t: ns since 1970 */
	KIND_BYTES,   /* struct text: any bytes */
	KIND_CONTENT, /* uint64_t: content class, see content.h */
	KIND_HASH,    /* uint64_t: 64-bit hash */
	KIND_COUNT,
};

enum arg_effect { EFFECT_NONE, EFFECT_MAKE, EFFECT_USE, EFFECT_END, EFFECT_COUNT };

#define OP_MAX_ARGS 8

struct op_arg {
	const char *slot; /* name of the member of struct event */
	uint16_t at;      /* its offset there */
	uint8_t kind;     /* enum arg_kind */
	uint8_t effect;   /* enum arg_effect */
};

struct op_desc {
	const char *name; /* NULL: number not in use */
	const char *doc;
	enum op_class class;
	uint8_t arg_count;
	struct op_arg args[OP_MAX_ARGS];
};

/* Indexed by enum op; numbers not in use have a NULL name. */
extern const struct op_desc op_descs[OP_LIMIT];

/* Does it come from a probe in the kernel, not from the pass-through? */
static inline bool op_is_probed(enum op op)
{
	return op >= OP_sync_file_range && op <= OP_exit;
}

/* "fsync", "write", ...; "?" for a number not in use. */
const char *op_name(enum op op);
/* 0 if there is no such name (0 is never an operation). */
enum op op_by_name(const char *name);
const char *op_class_name(enum op_class class);
const char *arg_kind_name(enum arg_kind kind);
const char *arg_effect_name(enum arg_effect effect);

#endif
