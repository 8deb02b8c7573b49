/* SPDX-License-Identifier: MIT */
/*
 * Dependencies between steps, after ROOT (Weiss et al., "ROOT: Replaying Multithreaded Traces with
 * Resource-Oriented Ordering", SOSP 2013), in one pass and in bounded memory.
 *
 * The trace comes in the order in which calls *ended*. A step is a point (lane, progress); a
 * dependency is the wait "lane has made this progress", so there are no lists of successors, and as
 * waits only name steps that came earlier in the trace there are no cycles, whatever the trace says.
 *
 * Happy path: a resource remembers the last step of each lane that touched it. The step at hand
 * asks for those that matter to it; need() drops what its own lane implies, and what the lane has
 * waited for before (`known`, one number per pair of lanes). In traces of databases nine of ten
 * waits fall away here.
 *
 * Two kinds of waits:
 *   - forced: the call could not have succeeded otherwise (a use comes after the make, an end after
 *     the uses that came before it in the trace), even if the intervals overlap;
 *     What decides how much a read returns (the size of the file) is of this kind too.
 *   - ended: only if the other call had ended when this one started. Calls that overlapped in the
 *     capture may overlap in the replay. `ended` needs the times at which the latest steps of a lane
 *     ended; a ring of ENDS of them is kept. A call that outlasts so many of another lane waits
 *     for a few more of them than it had to.
 *
 * Overlapping writes are found by 4 KiB pages in a table of fixed size (the last writer of a page, in
 * sets of four). A writer that is pushed out while it may still be unfinished is not lost: the step
 * that pushes it out waits for it and becomes the set's `overflow`, which whoever misses in that set
 * waits for. So the table is never wrong, only sometimes more strict.
 *
 * Failure modes: none that stop; a resource that is never made costs no wait.
 */
#include "deps.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

#define ENDS       128 /* a power of two */
#define PAGE_SHIFT 12
#define WAYS       4
#define SET_BITS   14  /* of the table of last writers */
#define MAX_PAGES  256 /* a longer write counts as one of the whole file */
#define INDEX_FROM 8   /* uses by lane are searched linearly up to so many */
#define LOCKS_KEPT 64

struct lane_history {
	uint32_t progress;
	uint64_t last_end_ns;
	uint64_t ends[ENDS]; /* of step k at [k % ENDS] */
	uint32_t pending;    /* index + 1 into waits, for the step at hand */
	uint64_t pending_step;
};

/* 16 bytes, so that a set is a cache line. */
struct page_writer {
	uint32_t key;  /* of (file, page), cut to 32 bits: at worst two pages are taken for one */
	uint32_t step; /* d->step of the writer, cut to 32 bits; 0 = free */
	uint32_t progress;
	uint16_t lane;
	uint16_t crowded; /* in the first way: the set's overflow is in use */
};

struct page_set {
	struct page_writer ways[WAYS];
} __attribute__((aligned(64)));

struct lock_mark {
	struct deps_lock lock;
	struct point acquired, released; /* released.progress 0: still held */
	struct uses refused;             /* attempts that failed because of it */
};

struct deps {
	enum replay_order order;
	uint32_t lane_count;
	struct lane_history *lanes;
	uint32_t *known; /* [lane * lane_count + other]: progress that lane has waited for */
	struct page_set *pages;
	struct point *overflow; /* by set */
	uint64_t window;        /* a step so much older than the one at hand is finished */
	struct point previous;  /* the last step of all, ORDER_STRICT */

	/* The step at hand. */
	struct point self;
	uint64_t start_ns;
	uint64_t step;
	VEC(struct wait) waits;
	struct deps_stats stats;
};

struct deps *deps_new(enum replay_order order, uint32_t lane_count, uint64_t window)
{
	struct deps *d = ALLOC(struct deps);

	d->order = order;
	d->lane_count = lane_count;
	d->lanes = ALLOC_ARRAY(struct lane_history, lane_count);
	d->known = ALLOC_ARRAY(uint32_t, (size_t)lane_count * lane_count);
	d->pages = xaligned(sizeof(struct page_set), sizeof(struct page_set) << SET_BITS);
	memset(d->pages, 0, sizeof(struct page_set) << SET_BITS);
	d->overflow = ALLOC_ARRAY(struct point, (size_t)1 << SET_BITS);
	d->window = window;
	return d;
}

void deps_free(struct deps *d)
{
	if (!d)
		return;
	free(d->lanes);
	free(d->known);
	free(d->pages);
	free(d->overflow);
	vec_free(&d->waits);
	free(d);
}

const struct deps_stats *deps_stats(const struct deps *d)
{
	return &d->stats;
}

/* One wait for each lane; the later one counts. */
static void add_wait(struct deps *d, uint32_t lane, uint32_t progress)
{
	struct lane_history *other = &d->lanes[lane];

	if (other->pending_step == d->step) {
		d->waits.at[other->pending - 1].progress = progress;
		return;
	}
	vec_push(&d->waits, (struct wait){lane, progress});
	other->pending = (uint32_t)d->waits.count;
	other->pending_step = d->step;
	d->stats.kept++;
}

/* Add a wait unless it is implied. */
static inline void need(struct deps *d, uint32_t lane, uint32_t progress)
{
	if (lane == d->self.lane || progress == 0)
		return;
	uint32_t *known = &d->known[(size_t)d->self.lane * d->lane_count + lane];
	d->stats.raw++;
	if (progress <= *known)
		return;
	*known = progress;
	add_wait(d, lane, progress);
}

static inline void need_point(struct deps *d, struct point p)
{
	need(d, p.lane, p.progress);
}

/* How many steps of a lane had ended when the step at hand started. */
static uint32_t ended(const struct deps *d, uint32_t lane)
{
	const struct lane_history *h = &d->lanes[lane];

	if (h->last_end_ns <= d->start_ns)
		return h->progress;
	uint32_t low = h->progress > ENDS ? h->progress - ENDS : 0, high = h->progress - 1;
	while (low < high) { /* low steps have ended, step high + 1 has not */
		uint32_t mid = low + (high - low) / 2;
		if (h->ends[(mid + 1) % ENDS] <= d->start_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool point_ended(const struct deps *d, struct point p)
{
	return p.progress > 0 && (p.lane == d->self.lane || p.progress <= ended(d, p.lane));
}

static void need_ended_recent(struct deps *d, const struct recent *r)
{
	if (point_ended(d, r->last))
		need_point(d, r->last);
	else if (point_ended(d, r->before))
		need_point(d, r->before);
}

static void need_recent(struct deps *d, const struct recent *r)
{
	need_point(d, r->last);
	need_point(d, r->before);
}

static void recent_add(struct deps *d, struct recent *r)
{
	if (r->last.lane != d->self.lane)
		r->before = r->last;
	r->last = d->self;
}

static void need_all(struct deps *d, const struct uses *u)
{
	for (uint32_t i = 0; i < u->count; i++)
		need(d, u->at[i].lane, u->at[i].last);
}

static void need_ended(struct deps *d, const struct uses *u)
{
	for (uint32_t i = 0; i < u->count; i++) {
		const struct use *use = &u->at[i];
		if (use->lane == d->self.lane)
			continue;
		uint32_t limit = ended(d, use->lane);
		if (use->last <= limit)
			need(d, use->lane, use->last);
		else if (use->before && use->before <= limit)
			need(d, use->lane, use->before);
		else if (use->first <= limit)
			need(d, use->lane, limit);
	}
}

static struct use *uses_find(const struct uses *u, uint32_t lane)
{
	if (u->index)
		return u->index[lane] ? &u->at[u->index[lane] - 1] : NULL;
	for (uint32_t i = 0; i < u->count; i++)
		if (u->at[i].lane == lane)
			return &u->at[i];
	return NULL;
}

static void uses_append(struct uses *u, uint32_t lane, uint32_t progress, uint32_t lane_count)
{
	if (u->count == u->capacity) {
		u->capacity = u->capacity ? u->capacity * 2 : 2;
		u->at = xrealloc(u->at, u->capacity, sizeof(*u->at));
	}
	u->at[u->count++] = (struct use){lane, progress, 0, progress};
	if (u->index) {
		u->index[lane] = (uint16_t)u->count;
	} else if (u->count > INDEX_FROM) {
		u->index = ALLOC_ARRAY(uint16_t, lane_count);
		for (uint32_t i = 0; i < u->count; i++)
			u->index[u->at[i].lane] = (uint16_t)(i + 1);
	}
}

static void uses_add(const struct deps *d, struct uses *u)
{
	struct use *use = uses_find(u, d->self.lane);

	if (!use) {
		uses_append(u, d->self.lane, d->self.progress, d->lane_count);
	} else if (use->last != d->self.progress) {
		use->before = use->last;
		use->last = d->self.progress;
	}
}

static void uses_clear(struct uses *u)
{
	if (u->index)
		for (uint32_t i = 0; i < u->count; i++)
			u->index[u->at[i].lane] = 0;
	u->count = 0;
}

static void uses_done(struct uses *u)
{
	free(u->at);
	free(u->index);
	*u = (struct uses){0};
}

void deps_begin(struct deps *d, uint32_t lane, uint64_t start_ns)
{
	d->self = (struct point){lane, d->lanes[lane].progress + 1};
	d->start_ns = start_ns;
	d->step++;
	d->waits.count = 0;
	if (d->order == ORDER_STRICT)
		need_point(d, d->previous);
}

uint32_t deps_end(
	struct deps *d, uint64_t end_ns, const struct wait **ret_waits, uint16_t *ret_count)
{
	struct lane_history *h = &d->lanes[d->self.lane];

	h->progress = d->self.progress;
	if (h->last_end_ns < end_ns)
		h->last_end_ns = end_ns;
	h->ends[h->progress % ENDS] = h->last_end_ns;
	d->previous = d->self;
	*ret_waits = d->waits.at;
	*ret_count = (uint16_t)d->waits.count;
	return d->self.progress;
}

void deps_lane(struct deps *d, uint32_t lane)
{
	need(d, lane, ended(d, lane));
}

/*
 * A use waits for the make; an end waits for make and uses; a make of a name waits for the end of
 * the name before it and for those who met it absent. So a change waits for all since the last one.
 */
void deps_life(struct deps *d, struct life *life, enum deps_change change)
{
	if (d->order == ORDER_STRICT)
		return;
	need_point(d, life->changed);
	if (change == DEPS_USE) {
		uses_add(d, &life->uses);
		return;
	}
	need_all(d, &life->uses);
	uses_clear(&life->uses);
	life->changed = d->self;
}

struct page_place {
	struct page_set *set;
	struct point *overflow;
	uint32_t key;
};

static uint64_t page_hash(uint64_t file, uint64_t page)
{
	return (file * UINT64_C(0x9e3779b97f4a7c15) ^ page) * UINT64_C(0xff51afd7ed558ccd);
}

static struct page_place page_place(struct deps *d, uint64_t file, uint64_t page)
{
	uint64_t h = page_hash(file, page);
	size_t set = h >> (64 - SET_BITS);

	return (struct page_place){&d->pages[set], &d->overflow[set], (uint32_t)h};
}

void deps_prefetch(const struct deps *d, uint64_t file, uint64_t offset)
{
	uint64_t page = offset >> PAGE_SHIFT;

	__builtin_prefetch(&d->pages[page_hash(file, page) >> (64 - SET_BITS)]);
	__builtin_prefetch(&d->pages[page_hash(file, page + 1) >> (64 - SET_BITS)]);
}

static struct page_writer *page_find(const struct page_place *p)
{
	for (unsigned i = 0; i < WAYS; i++) {
		struct page_writer *w = &p->set->ways[i];
		if (w->key == p->key && w->step)
			return w;
	}
	return NULL;
}

static struct point writer_point(const struct page_writer *w)
{
	return (struct point){w->lane, w->progress};
}

/* Steps since this one wrote, modulo 2^32; a free way is older than any. */
static uint32_t writer_age(const struct deps *d, const struct page_writer *w)
{
	return w->step ? (uint32_t)d->step - w->step : UINT32_MAX;
}

static struct page_writer *page_oldest(const struct deps *d, struct page_set *set)
{
	struct page_writer *oldest = &set->ways[0];

	for (unsigned i = 1; i < WAYS; i++)
		if (writer_age(d, &set->ways[i]) > writer_age(d, oldest))
			oldest = &set->ways[i];
	return oldest;
}

/* The pages of a range; none at all if they are too many to look at one by one. */
static bool range_pages(const struct deps_range *range, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = range->offset >> PAGE_SHIFT;
	*ret_last = (range->offset + (range->size ? range->size - 1 : 0)) >> PAGE_SHIFT;
	return *ret_last - *ret_first < MAX_PAGES;
}

/* After the last writer of a page that had ended. */
static void need_page_writer(
	struct deps *d, const struct page_place *p, const struct page_writer *w)
{
	if (w && point_ended(d, writer_point(w)))
		need_point(d, writer_point(w));
	else if (!w && p->set->ways[0].crowded && point_ended(d, *p->overflow))
		need_point(d, *p->overflow);
}

/* A way for a new writer. One that is pushed out while it may be unfinished is waited for. */
static struct page_writer *page_make_room(struct deps *d, const struct page_place *p)
{
	struct page_writer *w = page_oldest(d, p->set);

	if (writer_age(d, w) < d->window) {
		need_point(d, writer_point(w));
		need_point(d, *p->overflow);
		*p->overflow = d->self;
		p->set->ways[0].crowded = 1;
	}
	return w;
}

static void page_take(struct deps *d, const struct page_place *p, struct page_writer *w)
{
	if (!w)
		w = page_make_room(d, p);
	w->key = p->key;
	w->step = (uint32_t)d->step;
	w->progress = d->self.progress;
	w->lane = (uint16_t)d->self.lane;
}

/* Wait for the writers of a range; a write takes their place. */
static void order_pages(
	struct deps *d, struct contents *c, const struct deps_range *range, bool write)
{
	uint64_t first, last;

	if (!range_pages(range, &first, &last)) {
		need_ended(d, &c->writes);
		if (write)
			recent_add(d, &c->resized);
		return;
	}
	for (uint64_t page = first; page <= last; page++) {
		struct page_place p = page_place(d, range->file, page);
		struct page_writer *w = page_find(&p);
		need_page_writer(d, &p, w);
		if (write)
			page_take(d, &p, w);
	}
}

/* Was another call moving the end of the file when this one started? */
static bool extending(const struct deps *d, const struct contents *c)
{
	return c->extended.last.progress && !point_ended(d, c->extended.last);
}

void deps_read(struct deps *d, struct contents *c, const struct deps_range *range)
{
	if (d->order != ORDER_RESOURCE)
		return;
	need_recent(d, &c->resized);
	order_pages(d, c, range, false);
	uint64_t end = range->offset + range->size;
	bool in_hole = range->offset < c->hole_end && end > c->hole_start;
	if (range->at_end || end > c->extended_from || in_hole || extending(d, c))
		need_all(d, &c->extends);
	if (range->at_end) {
		c->ends_above = c->ends_seen.count ? min_u64(c->ends_above, end) : end;
		uses_add(d, &c->ends_seen);
	}
}

/* A read there finds no writer of its pages, only that the file is long enough. */
static void note_hole(struct contents *c, const struct deps_range *range)
{
	if (range->offset <= range->size_before)
		return;
	c->hole_start =
		c->hole_end ? min_u64(c->hole_start, range->size_before) : range->size_before;
	c->hole_end = max_u64(c->hole_end, range->offset);
}

void deps_write(struct deps *d, struct contents *c, const struct deps_range *range)
{
	if (d->order != ORDER_RESOURCE)
		return;
	need_recent(d, &c->resized);
	need_ended_recent(d, &c->looked);
	order_pages(d, c, range, true);
	uses_add(d, &c->writes);
	if (c->ends_seen.count && range->offset + range->size > c->ends_above)
		need_all(d, &c->ends_seen);
	if (range->at_end) {
		need_ended_recent(d, &c->extended);
		c->extended_from = extending(d, c) ? min_u64(c->extended_from, range->size_before)
		                                   : range->size_before;
		note_hole(c, range);
		recent_add(d, &c->extended);
		uses_add(d, &c->extends);
	}
}

void deps_resize(struct deps *d, struct contents *c, struct life *life)
{
	if (d->order != ORDER_RESOURCE)
		return;
	need_recent(d, &c->resized);
	need_all(d, &life->uses);
	need_all(d, &c->writes);
	recent_add(d, &c->resized);
	recent_add(d, &c->extended);
	c->extended_from = 0;
	uses_clear(&c->extends);
	uses_add(d, &c->extends);
	uses_add(d, &c->writes);
}

void deps_change_names(struct deps *d, struct contents *c)
{
	if (d->order == ORDER_STRICT)
		return;
	need_ended_recent(d, &c->looked);
	need_all(d, &c->ends_seen);
	uses_add(d, &c->writes);
}

void deps_found_full(struct deps *d, struct contents *c)
{
	if (d->order == ORDER_STRICT)
		return;
	need_all(d, &c->writes);
	uses_add(d, &c->ends_seen);
}

void deps_look(struct deps *d, struct contents *c)
{
	if (d->order != ORDER_RESOURCE)
		return;
	need_ended(d, &c->writes);
	need_ended_recent(d, &c->looked);
	recent_add(d, &c->looked);
}

void deps_everything(struct deps *d)
{
	if (d->order != ORDER_RESOURCE)
		return;
	for (uint32_t lane = 0; lane < d->lane_count; lane++)
		need(d, lane, ended(d, lane));
}

void deps_attribute(struct deps *d, struct contents *c, bool change)
{
	if (d->order != ORDER_RESOURCE)
		return;
	need_recent(d, &c->attribute);
	if (change) {
		need_all(d, &c->asked);
		recent_add(d, &c->attribute);
	} else {
		uses_add(d, &c->asked);
	}
}

static bool locks_conflict(const struct deps_lock *a, const struct deps_lock *b)
{
	return a->flock == b->flock && a->owner != b->owner && (a->exclusive || b->exclusive) &&
	       a->start <= b->end && b->start <= a->end;
}

/* Make room: the oldest mark that is released, else the oldest. */
static void drop_lock(struct contents *c)
{
	uint32_t i = 0;

	while (i < c->lock_count && !c->locks[i].released.progress)
		i++;
	if (i == c->lock_count)
		i = 0;
	uses_done(&c->locks[i].refused);
	memmove(&c->locks[i], &c->locks[i + 1], (c->lock_count - i - 1) * sizeof(*c->locks));
	c->lock_count--;
}

static void push_lock(struct deps *d, struct contents *c, const struct deps_lock *lock)
{
	if (c->lock_count == LOCKS_KEPT)
		drop_lock(c);
	if (c->lock_count == c->lock_capacity) {
		c->lock_capacity = c->lock_capacity ? c->lock_capacity * 2 : 4;
		c->locks = xrealloc(c->locks, c->lock_capacity, sizeof(*c->locks));
	}
	c->locks[c->lock_count++] = (struct lock_mark){.lock = *lock, .acquired = d->self};
}

/* Is this what the owner of `lock` holds where that goes? */
static bool holds_here(const struct lock_mark *m, const struct deps_lock *lock)
{
	return !m->released.progress && m->lock.flock == lock->flock &&
	       m->lock.owner == lock->owner && m->lock.start <= lock->end &&
	       lock->start <= m->lock.end;
}

static struct lock_mark *find_held(struct contents *c, const struct deps_lock *lock)
{
	for (uint32_t i = 0; i < c->lock_count; i++)
		if (holds_here(&c->locks[i], lock))
			return &c->locks[i];
	return NULL;
}

/* A part of `m` that stays locked when the rest of it goes. */
static void keep_part(
	struct deps *d, struct contents *c, struct lock_mark m, uint64_t start, uint64_t end)
{
	m.lock.start = start;
	m.lock.end = end;
	push_lock(d, c, &m.lock);
	c->locks[c->lock_count - 1].acquired = m.acquired;
}

/* What this owner held here is let go, by an unlock or for another type of lock. */
static void release_own(struct deps *d, struct contents *c, const struct deps_lock *lock)
{
	struct lock_mark *m;

	while ((m = find_held(c, lock))) {
		struct lock_mark whole = *m;
		need_all(d, &m->refused);
		uses_done(&m->refused);
		m->released = d->self;
		m->lock.start = max_u64(whole.lock.start, lock->start);
		m->lock.end = min_u64(whole.lock.end, lock->end);
		if (whole.lock.start < lock->start)
			keep_part(d, c, whole, whole.lock.start, lock->start - 1);
		if (whole.lock.end > lock->end)
			keep_part(d, c, whole, lock->end + 1, whole.lock.end);
	}
}

/* Of one owner only the latest release of a range matters. */
static void forget_released(struct contents *c, const struct deps_lock *lock)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->lock_count; i++) {
		const struct lock_mark *m = &c->locks[i];
		bool old = m->released.progress && m->lock.flock == lock->flock &&
		           m->lock.owner == lock->owner && m->lock.start >= lock->start &&
		           m->lock.end <= lock->end && m->lock.exclusive <= lock->exclusive;
		if (!old)
			c->locks[kept++] = *m;
	}
	c->lock_count = kept;
}

/*
 * Granted: after the releases of all that would have been in the way. Refused: after the lock that
 * was in the way was taken, and its release waits for us.
 */
void deps_lock(struct deps *d, struct contents *c, const struct deps_lock *lock)
{
	for (uint32_t i = 0; i < c->lock_count && !lock->unlock; i++) {
		struct lock_mark *m = &c->locks[i];
		if (!locks_conflict(&m->lock, lock))
			continue;
		if (lock->granted) {
			need_point(d, m->released);
		} else if (!m->released.progress) {
			need_point(d, m->acquired);
			uses_add(d, &m->refused);
		}
	}
	if (!lock->granted)
		return;
	if (!lock->unlock)
		forget_released(c, lock);
	release_own(d, c, lock);
	if (!lock->unlock)
		push_lock(d, c, lock);
}

void life_done(struct life *life)
{
	uses_done(&life->uses);
}

void contents_done(struct contents *c)
{
	uses_done(&c->writes);
	uses_done(&c->ends_seen);
	uses_done(&c->extends);
	uses_done(&c->asked);
	for (uint32_t i = 0; i < c->lock_count; i++)
		uses_done(&c->locks[i].refused);
	free(c->locks);
}
