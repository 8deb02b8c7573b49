/* SPDX-License-Identifier: MIT */
#include "op.h"

#include <string.h>

#include "event.h"

/* The C type of a slot, checked against its kind where the row is written. */
#define SLOT_TYPE_FILE    uint64_t
#define SLOT_TYPE_HANDLE  uint64_t
#define SLOT_TYPE_NAME    struct text
#define SLOT_TYPE_OFFSET  uint64_t
#define SLOT_TYPE_SIZE    uint64_t
#define SLOT_TYPE_FLAGS   uint64_t
#define SLOT_TYPE_MODE    uint64_t
#define SLOT_TYPE_NUMBER  uint64_t
#define SLOT_TYPE_TIME    uint64_t
#define SLOT_TYPE_BYTES   struct text
#define SLOT_TYPE_CONTENT uint64_t
#define SLOT_TYPE_HASH    uint64_t

#define SLOT_FITS(slot, kind)                                                                      \
	__builtin_types_compatible_p(__typeof__(((struct event *)0)->slot), SLOT_TYPE_##kind)

/* Offset of a slot; a negative array size stops the build when its type does not fit the kind. */
#define SLOT_AT(slot, kind)                                                                        \
	(offsetof(struct event, slot) + 0 * sizeof(char[SLOT_FITS(slot, kind) ? 1 : -1]))

#define ARG(slot, kind, effect) {#slot, SLOT_AT(slot, kind), KIND_##kind, EFFECT_##effect},
/* Variadic: by the time it is looked at, the row's ARG()s have become initializers with commas. */
#define ARG_COUNT(...) (sizeof((const struct op_arg[]){__VA_ARGS__}) / sizeof(struct op_arg))

const struct op_desc op_descs[OP_LIMIT] = {
#define OP(number, name, class, args, doc)                                                         \
	[number] = {#name, doc, CLASS_##class, (uint8_t)ARG_COUNT(args), {args}},
#include "ops.def"
#undef OP
};
#undef ARG

static const char *const class_names[CLASS_COUNT] = {
	[CLASS_READ] = "read",
	[CLASS_WRITE] = "write",
	[CLASS_SYNC] = "sync",
	[CLASS_OPEN] = "open",
	[CLASS_NAMESPACE] = "namespace",
	[CLASS_ATTRIBUTE] = "attribute",
	[CLASS_XATTR] = "xattr",
	[CLASS_LOCK] = "lock",
	[CLASS_DIRECTORY] = "directory",
	[CLASS_NOTE] = "note",
};

static const char *const kind_names[KIND_COUNT] = {
	[KIND_FILE] = "file",
	[KIND_HANDLE] = "handle",
	[KIND_NAME] = "name",
	[KIND_OFFSET] = "offset",
	[KIND_SIZE] = "size",
	[KIND_FLAGS] = "flags",
	[KIND_MODE] = "mode",
	[KIND_NUMBER] = "number",
	[KIND_TIME] = "time",
	[KIND_BYTES] = "bytes",
	[KIND_CONTENT] = "content",
	[KIND_HASH] = "hash",
};

static const char *const effect_names[EFFECT_COUNT] = {
	[EFFECT_NONE] = "none",
	[EFFECT_MAKE] = "make",
	[EFFECT_USE] = "use",
	[EFFECT_END] = "end",
};

const char *op_name(enum op op)
{
	return (unsigned)op < OP_LIMIT && op_descs[op].name ? op_descs[op].name : "?";
}

enum op op_by_name(const char *name)
{
	for (unsigned i = 0; i < OP_LIMIT; i++)
		if (op_descs[i].name && !strcmp(op_descs[i].name, name))
			return (enum op)i;
	return (enum op)0;
}

const char *op_class_name(enum op_class class)
{
	return (unsigned)class < CLASS_COUNT ? class_names[class] : "?";
}

const char *arg_kind_name(enum arg_kind kind)
{
	return (unsigned)kind < KIND_COUNT ? kind_names[kind] : "?";
}

const char *arg_effect_name(enum arg_effect effect)
{
	return (unsigned)effect < EFFECT_COUNT ? effect_names[effect] : "?";
}
