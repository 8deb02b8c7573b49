/* SPDX-License-Identifier: MIT */
#include "steps.h"

#include <xxhash.h>

#include "vec.h"

/* A thread's last look-up in vain, as long as its next call may make the name. */
struct step {
	uint64_t block; /* in which it is open; 0 = it is not */
	uint32_t row;
	uint64_t end_ns, dir, name; /* the name's hash */
};

struct steps {
	VEC(struct step) by_thread;
	uint64_t block;
	uint32_t newest; /* thread */
};

struct steps *steps_new(void)
{
	struct steps *s = ALLOC(struct steps);

	s->block = 1;
	return s;
}

void steps_free(struct steps *s)
{
	if (!s)
		return;
	vec_free(&s->by_thread);
	free(s);
}

/* The argument of this kind on which the call has this effect, or NULL. */
static const struct op_arg *arg_with(
	const struct op_desc *op, enum arg_kind kind, enum arg_effect effect)
{
	for (unsigned a = 0; a < op->arg_count; a++)
		if (op->args[a].kind == kind && op->args[a].effect == effect)
			return &op->args[a];
	return NULL;
}

static uint64_t hash_name(const struct text *name)
{
	return XXH3_64bits(name->size ? name->data : "", name->size);
}

/* A directory stands before its name in every row. */
static bool makes(const struct event *ev, const struct step *step)
{
	const struct op_arg *name = arg_with(&op_descs[ev->op], KIND_NAME, EFFECT_MAKE);

	return name && *event_number(ev, name - 1) == step->dir &&
	       hash_name(event_text(ev, name)) == step->name;
}

/* The kernel brings the last close of a file when it likes, perhaps between the two. */
static bool may_come_between(const struct event *ev, const struct step *step)
{
	return (ev->event_flags & EVENT_DERIVED) || ev->start_ns < step->end_ns ||
	       arg_with(&op_descs[ev->op], KIND_HANDLE, EFFECT_END);
}

static struct step *step_of(struct steps *s, uint32_t thread)
{
	while (s->by_thread.count <= thread)
		vec_push(&s->by_thread, (struct step){0});
	return &s->by_thread.at[thread];
}

uint32_t steps_note(struct steps *s, const struct event *ev, uint32_t row)
{
	struct step *step = step_of(s, ev->thread);
	uint32_t first = STEPS_NONE;

	if (step->block == s->block && !may_come_between(ev, step)) {
		step->block = 0;
		if (makes(ev, step))
			first = step->row;
	}
	if (ev->event_flags & EVENT_STEP) {
		*step = (struct step){
			s->block, row, event_end_ns(ev), ev->dir, hash_name(&ev->name)};
		s->newest = ev->thread;
	}
	return first;
}

uint64_t steps_open_ns(const struct steps *s)
{
	if (s->newest >= s->by_thread.count)
		return 0;
	const struct step *step = &s->by_thread.at[s->newest];
	return step->block == s->block ? step->end_ns : 0;
}

void steps_clear(struct steps *s)
{
	s->block++;
}
