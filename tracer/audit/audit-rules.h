/* SPDX-License-Identifier: MIT */
/* The rules of audit-rules.def, as audit.c reads them. */
#ifndef AUDIT_RULES_H
#define AUDIT_RULES_H

#include "op.h"
#include "probe-record.h"

enum audit_kind {
	AUDIT_DATA,   /* its bytes are in one event, or in several that follow each other */
	AUDIT_MOVE,   /* moves bytes between two files in pieces of the kernel's choice */
	AUDIT_SUBMIT, /* its requests have records of their own */
	AUDIT_SYNC,   /* one event */
	AUDIT_OPEN,   /* one event that makes a handle, if it succeeds */
	AUDIT_CLOSE,  /* one event for a regular file */
	AUDIT_CHANGE, /* one event, or an error that the kernel found by itself */
	AUDIT_ASK,    /* any number of events; none if the kernel knows the answer */
	AUDIT_FCNTL,  /* AUDIT_CHANGE if it is about record locks, else AUDIT_HIDDEN */
	AUDIT_HIDDEN, /* the kernel does it alone */
	AUDIT_ASYNC,  /* a request: one event, by any thread */
	AUDIT_NAMED,  /* a request whose file is not known: the events of its kind while it lasts */
};

/* Where a number is among the arguments, when it is no argument. */
enum { AUDIT_NO = -1, AUDIT_VEC = -2, AUDIT_POS = -3 };

struct audit_rule {
	const char *name; /* of the call, as people know it; NULL: no rule */
	enum audit_kind kind;
	uint64_t events;     /* 1 << enum op, or'ed: the call itself */
	uint64_t on_the_way; /* beside it */
	int8_t size, offset; /* an argument, or one of the above */
};

/* All rules; those without a name are gaps. */
extern const struct audit_rule audit_rules[];
extern const size_t audit_rule_count;

/* The rule of a record of kind CALL, URING or AIO; NULL if there is none. */
const struct audit_rule *audit_rule_of(const struct probe_record *r);

static inline bool audit_has(uint64_t set, enum op op)
{
	return set >> op & 1;
}

#endif
