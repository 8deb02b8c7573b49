/* SPDX-License-Identifier: MIT */
#include "audit-rules.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>

#include "probe.h"

/* One array: first the system calls by number, then io_uring's opcodes, then libaio's. */
#define RINGS_AT 512
#define AIOS_AT  (RINGS_AT + 128)
#define AIOS     16

#define E(op)  (UINT64_C(1) << OP_##op)
#define OPENS  (E(open) | E(create) | E(tmpfile) | E(opendir))
#define WALK   (E(lookup) | E(getattr) | E(readlink) | E(access) | E(getxattr) | E(phase))
#define RIGHTS E(getattr)
#define ENDS   (E(flush) | E(setlk) | E(flock) | E(release) | E(releasedir))
#define NONE   0
#define NO     AUDIT_NO
#define VEC    AUDIT_VEC
#define POS    AUDIT_POS
#define RULES  (AIOS_AT + AIOS)

_Static_assert(OP_LIMIT <= 64, "sets of operations are 64 bits");

const struct audit_rule audit_rules[RULES] = {
#define RULE(call, kind, events, way, size, offset)                                                \
	[__NR_##call] = {#call, AUDIT_##kind, (events), (way), (size), (offset)},
#define RING(opcode, name, events, size, offset)                                                   \
	[RINGS_AT + IORING_OP_##opcode] = {                                                        \
		"io_uring " name, AUDIT_ASYNC, (events), NONE, (size), (offset)},
#define NAMED(opcode, name, events, way)                                                           \
	[RINGS_AT + IORING_OP_##opcode] = {"io_uring " name, AUDIT_NAMED, (events), (way), NO, NO},
#define AIO(command, name, events, size, offset)                                                   \
	[AIOS_AT + IOCB_CMD_##command] = {                                                         \
		"io_submit " name, AUDIT_ASYNC, (events), NONE, (size), (offset)},
#include "audit-rules.def"
#undef RULE
#undef RING
#undef NAMED
#undef AIO
};

const size_t audit_rule_count = RULES;

const struct audit_rule *audit_rule_of(const struct probe_record *r)
{
	size_t at = RULES;

	if (r->kind == PROBE_CALL)
		at = r->nr < RINGS_AT ? r->nr : RULES;
	else if (r->kind == PROBE_URING)
		at = r->args[0] < AIOS_AT - RINGS_AT ? RINGS_AT + r->args[0] : RULES;
	else if (r->kind == PROBE_AIO)
		at = r->args[0] < AIOS ? AIOS_AT + r->args[0] : RULES;
	return at < RULES && audit_rules[at].name ? &audit_rules[at] : NULL;
}
