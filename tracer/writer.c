/* SPDX-License-Identifier: MIT */
/*
 * Threads that make events put them into buffers of their own (buffer.h); one thread merges the
 * buffers by the time the events ended, packs blocks (block.h) and appends frames (framefile.h).
 *
 * Why the merge may go on up to a time H: a producer publishes PENDING_CLOCK, then reads the clock,
 * then publishes what it read, and takes it back only after its event is in the buffer. The merger
 * reads the clock first and looks at each producer after that:
 *
 *   producer                              merger
 *   pending = CLOCK  (full fence)         now = clock
 *   t = clock                             for each buffer:
 *   pending = t                             NONE  -> H = now: a stamp that starts after this look
 *   ... reply, classify ...                          reads a later clock
 *   copy event, head += n                   t     -> H = t: only this event and later ones can come
 *   pending = NONE                          CLOCK -> H stays: ask again in the next round
 *                                           then look at head: all that ended before H is there
 *
 * When the file cannot be written any more, events are counted as lost, nobody waits, and END is
 * still written, into space that was kept for it.
 */
#include "writer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "anonymize.h"
#include "block.h"
#include "buffer.h"
#include "clock.h"
#include "content.h"
#include "framefile.h"
#include "stash.h"
#include "treecode.h"
#include "vec.h"

#define TICK_NS     (50 * NSEC_PER_MSEC)
#define TREE_FRAME  (256u << 10)
#define HORIZON_END UINT64_MAX

struct index_entry {
	uint64_t offset, events, end_ns;
};

struct trace_writer {
	uint64_t epoch_ns;
	struct stash *stash;           /* NULL: data are not kept */
	struct anonymizer *anonymizer; /* NULL: names stay; of the packer once there are events */
	pthread_t packer;
	_Atomic int failed; /* -errno */
	_Atomic uint64_t lost;

	pthread_mutex_t file_lock; /* these; held while a block is packed and written */
	struct frame_file file;
	struct bytes tree;
	bool tree_done;
	struct bytes waits; /* of the next EDGES frame, without their number */
	uint64_t wait_count, wait_ns;

	pthread_mutex_t lock; /* these; held for moments, as producers wait for it */
	pthread_cond_t work;  /* for the packer: a buffer fills up, or stop */
	pthread_cond_t room;  /* for producers: a buffer was emptied */
	bool wake, stop;
	unsigned waiting;
	VEC(struct trace_buffer *) buffers;
	VEC(struct trace_thread) threads;

	/* The packer's own. */
	struct op_table table;
	struct block_writer *block;
	uint64_t block_began_ns;
	struct trace_buffer **looked;
	size_t look_count;
	VEC(uint64_t) cpu_ns; /* by thread: its CPU clock at its last event */
	size_t threads_written;
	struct bytes frame;
	VEC(struct index_entry) index;
	VEC(uint64_t) thread_frames; /* offsets */
	unsigned index_stride, index_skip;
	uint64_t events, elapsed_ns;
};

/* ---- frames ---- */

static void writer_fail(struct trace_writer *w, int r)
{
	if (r < 0)
		atomic_store(&w->failed, r);
}

static int write_meta(struct trace_writer *w, const json_t *meta, struct error *err)
{
	json_t *empty = json_object();
	char *text = json_dumps(meta ? meta : empty, JSON_COMPACT | JSON_SORT_KEYS);
	struct bytes raw = {(uint8_t *)text, text ? strlen(text) : 0, 0};

	json_decref(empty);
	if (!text)
		return error_set(err, EINVAL, "the description of the capture is not valid JSON");
	int r = frame_put(&w->file, FRAME_META, FRAME_ZSTD, &raw, false);
	free(text);
	return r;
}

static int write_ops(struct trace_writer *w)
{
	w->frame.size = 0;
	op_table_encode(&w->table, &w->frame);
	return frame_put(&w->file, FRAME_OPS, FRAME_ZSTD, &w->frame, false);
}

static int write_tree(struct trace_writer *w)
{
	int r = w->tree.size ? frame_put(&w->file, FRAME_TREE, FRAME_ZSTD, &w->tree, false) : 0;

	w->tree.size = 0;
	return r;
}

/* Append the threads declared since the last time to the frame; returns how many there are now. */
static size_t put_threads(struct trace_writer *w)
{
	pthread_mutex_lock(&w->lock);
	for (size_t i = w->threads_written; i < w->threads.count; i++) {
		struct trace_thread t = w->threads.at[i];
		if (w->anonymizer && i)
			anonymize_thread(w->anonymizer, &t);
		put_u32(&w->frame, t.tid);
		put_u32(&w->frame, t.tgid);
		put_u32(&w->frame, t.uid);
		put_u32(&w->frame, t.gid);
		put_bytes(&w->frame, t.comm, sizeof(t.comm));
	}
	size_t count = w->threads.count;
	pthread_mutex_unlock(&w->lock);
	return count;
}

static int write_threads(struct trace_writer *w)
{
	uint64_t offset = w->file.size;

	w->frame.size = 0;
	size_t count = put_threads(w);
	if (count == w->threads_written)
		return 0;
	int r = frame_put(&w->file, FRAME_THREADS, FRAME_ZSTD, &w->frame, false);
	if (r < 0)
		return r;
	w->threads_written = count;
	if (w->thread_frames.count < INDEX_MAX)
		vec_push(&w->thread_frames, offset);
	return 0;
}

/* Remember where a block is; a long trace forgets every second one, again and again. */
static void index_add(struct trace_writer *w, uint64_t offset)
{
	if (w->index_skip++ % w->index_stride)
		return;
	if (w->index.count == INDEX_MAX) {
		for (size_t i = 0; i < INDEX_MAX / 2; i++)
			w->index.at[i] = w->index.at[2 * i];
		w->index.count = INDEX_MAX / 2;
		w->index_stride *= 2;
	}
	vec_push(&w->index, (struct index_entry){offset, w->events, w->elapsed_ns});
}

static int write_block(struct trace_writer *w)
{
	w->frame.size = 0;
	block_finish(w->block, &w->frame);
	uint64_t offset = w->file.size;
	int r = frame_put(&w->file, FRAME_EVENTS, 0, &w->frame, false);
	if (!r)
		index_add(w, offset);
	return r;
}

/* What there is of waits, with the file's lock. */
static int write_waits(struct trace_writer *w)
{
	if (!w->wait_count)
		return 0;
	int r = write_threads(w);
	w->frame.size = 0;
	put_varint(&w->frame, w->wait_count);
	put_bytes(&w->frame, w->waits.data, w->waits.size);
	if (!r)
		r = frame_put(
			&w->file, FRAME_EDGES, FRAME_ZSTD | FRAME_SKIPPABLE, &w->frame, false);
	if (r < 0)
		atomic_fetch_add(&w->lost, w->wait_count);
	w->waits.size = 0;
	w->wait_count = w->wait_ns = 0;
	return r;
}

/* The data that events name are in the file before the events are. */
static int write_data(void *arg, const struct bytes *payload)
{
	struct trace_writer *w = arg;

	pthread_mutex_lock(&w->file_lock);
	w->tree_done = true;
	int r = write_tree(w);
	if (!r)
		r = frame_put(&w->file, FRAME_DATA, FRAME_SKIPPABLE, payload, false);
	pthread_mutex_unlock(&w->file_lock);
	writer_fail(w, r);
	return r;
}

static int flush_data(struct trace_writer *w)
{
	return w->stash ? stash_flush(w->stash) : 0;
}

static void block_close(struct trace_writer *w)
{
	size_t count = block_count(w->block);

	if (!count)
		return;
	int r = flush_data(w);
	pthread_mutex_lock(&w->file_lock);
	w->tree_done = true;
	if (!r)
		r = write_tree(w);
	if (!r)
		r = write_threads(w);
	if (!r)
		r = write_block(w);
	int waits = write_waits(w);
	pthread_mutex_unlock(&w->file_lock);
	writer_fail(w, waits);
	if (r < 0)
		atomic_fetch_add(&w->lost, count);
	else
		w->events += count;
	writer_fail(w, r);
}

static int write_index(struct trace_writer *w)
{
	struct index_entry last = {0};

	/* An index that does not name all declarations of threads is of no use. */
	if (w->thread_frames.count == INDEX_MAX)
		return -EFBIG;
	w->frame.size = 0;
	put_varint(&w->frame, w->thread_frames.count);
	vec_each (at, &w->thread_frames)
		put_varint(&w->frame, *at);
	put_varint(&w->frame, w->index.count);
	vec_each (e, &w->index) {
		put_varint(&w->frame, e->offset - last.offset);
		put_varint(&w->frame, e->events - last.events);
		put_varint(&w->frame, e->end_ns - last.end_ns);
		last = *e;
	}
	return frame_put(&w->file, FRAME_INDEX, FRAME_ZSTD, &w->frame, true);
}

static int write_end(struct trace_writer *w, uint64_t index_at, struct trace_totals *ret)
{
	*ret = (struct trace_totals){
		.events = w->events,
		.lost = atomic_load(&w->lost),
		.file_bytes = w->file.size + FRAME_HEADER_SIZE + END_SIZE,
		.threads = w->threads_written,
		.elapsed_ns = w->elapsed_ns,
	};
	const uint64_t words[] = {
		ret->events, ret->lost, ret->threads, ret->elapsed_ns, index_at, ret->file_bytes};
	w->frame.size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_u64(&w->frame, words[i]);
	return frame_put(&w->file, FRAME_END, 0, &w->frame, true);
}

/* ---- merging ---- */

/* CPU clock at the start of this event -> CPU time since the start of the thread's last one. */
static void make_cpu_difference(struct trace_writer *w, struct event *ev)
{
	uint64_t now = ev->cpu_ns;

	while (w->cpu_ns.count <= ev->thread)
		vec_push(&w->cpu_ns, 0);
	uint64_t *last = &w->cpu_ns.at[ev->thread];
	ev->cpu_ns = *last && now > *last ? now - *last : 0;
	*last = max_u64(*last, now);
}

static void event_pack(struct trace_writer *w, struct event *ev)
{
	if (atomic_load_explicit(&w->failed, memory_order_relaxed)) {
		atomic_fetch_add(&w->lost, 1);
		return;
	}
	if (!block_count(w->block))
		w->block_began_ns = now_ns();
	make_cpu_difference(w, ev);
	if (w->anonymizer)
		anonymize_event(w->anonymizer, ev);
	block_add(w->block, ev);
	w->elapsed_ns = max_u64(w->elapsed_ns, event_end_ns(ev));
	if (block_full(w->block))
		block_close(w);
}

/* Take from `b`, the one with the earliest event, as long as it is not later than `until_ns`. */
static void merge_run(struct trace_writer *w, struct trace_buffer *b, uint64_t until_ns)
{
	struct event ev;

	while (!buffer_empty(b) && b->next_end_ns <= until_ns) {
		buffer_take(b, &ev);
		event_pack(w, &ev);
		/* Early enough that the producer need not wait. */
		if (b->at - atomic_load_explicit(&b->tail, memory_order_relaxed) > BUFFER_SIZE / 8)
			buffer_release(b);
	}
}

/* All that ended up to the horizon, earliest first. */
static void merge(struct trace_writer *w, uint64_t horizon_ns)
{
	for (;;) {
		struct trace_buffer *first = NULL;
		uint64_t second_ns = horizon_ns;
		for (size_t i = 0; i < w->look_count; i++) {
			struct trace_buffer *b = w->looked[i];
			if (buffer_empty(b) || b->next_end_ns > horizon_ns)
				continue;
			if (!first || b->next_end_ns < first->next_end_ns) {
				if (first)
					second_ns = first->next_end_ns;
				first = b;
			} else if (b->next_end_ns < second_ns) {
				second_ns = b->next_end_ns;
			}
		}
		if (!first)
			return;
		merge_run(w, first, second_ns);
	}
}

/* The buffers there are now; new ones only bring what ended after this. */
static size_t buffers_note(struct trace_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->wake = false;
	if (w->look_count != w->buffers.count) {
		w->look_count = w->buffers.count;
		w->looked = xrealloc(w->looked, w->look_count, sizeof(struct trace_buffer *));
		memcpy(w->looked, w->buffers.at, w->look_count * sizeof(struct trace_buffer *));
	}
	size_t count = w->look_count;
	pthread_mutex_unlock(&w->lock);
	return count;
}

static bool buffers_grew(struct trace_writer *w, size_t count)
{
	pthread_mutex_lock(&w->lock);
	bool grew = w->buffers.count != count;
	pthread_mutex_unlock(&w->lock);
	return grew;
}

static void merge_round(struct trace_writer *w, bool final)
{
	uint64_t now = now_ns(), horizon = HORIZON_END;
	size_t count = buffers_note(w);

	for (size_t i = 0; i < count; i++) {
		buffer_look(w->looked[i], now);
		horizon = min_u64(horizon, w->looked[i]->horizon_ns);
	}
	/* A single buffer is in order by itself, whatever its times: a trace being rewritten. */
	if (final || (count == 1 && !buffers_grew(w, count)))
		horizon = HORIZON_END;
	else
		horizon = horizon > w->epoch_ns ? horizon - w->epoch_ns : 0;
	merge(w, horizon);
	for (size_t i = 0; i < count; i++)
		buffer_release(w->looked[i]);
	uint64_t age = now - w->block_began_ns;
	if (block_count(w->block) &&
		(age > BLOCK_AGE_NS - TICK_NS ||
			(age > BLOCK_AGE_NS - 4 * TICK_NS && block_settled(w->block))))
		block_close(w);
}

/* Let producers go on, then sleep until a buffer is half full, or a tick. */
static bool packer_wait(struct trace_writer *w)
{
	uint64_t until = now_ns() + TICK_NS;
	struct timespec at = {(time_t)(until / NSEC_PER_SEC), (long)(until % NSEC_PER_SEC)};

	pthread_mutex_lock(&w->lock);
	if (w->waiting)
		pthread_cond_broadcast(&w->room);
	while (!w->wake && !w->stop)
		if (pthread_cond_timedwait(&w->work, &w->lock, &at))
			break;
	bool go_on = !w->stop;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void *packer_main(void *arg)
{
	struct trace_writer *w = arg;

	pthread_setname_np(pthread_self(), "fsreel-writer");
	while (packer_wait(w))
		merge_round(w, false);
	merge_round(w, true);
	block_close(w);
	return NULL;
}

/* ---- for the threads that make events ---- */

struct trace_buffer *trace_buffer_new(struct trace_writer *w)
{
	struct trace_buffer *b = aligned_alloc(_Alignof(struct trace_buffer), sizeof(*b));

	if (!b)
		abort();
	buffer_init(b, w);
	pthread_mutex_lock(&w->lock);
	vec_push(&w->buffers, b);
	pthread_mutex_unlock(&w->lock);
	return b;
}

uint64_t trace_stamp(struct trace_buffer *b)
{
	atomic_exchange(&b->pending, PENDING_CLOCK);
	uint64_t now = now_ns();
	atomic_store_explicit(&b->pending, now, memory_order_release);
	return now;
}

static void packer_wake(struct trace_writer *w)
{
	w->wake = true;
	pthread_cond_signal(&w->work);
}

/* False: the trace has failed, do not put. */
static bool wait_for_room(struct trace_buffer *b, size_t need)
{
	struct trace_writer *w = b->writer;

	pthread_mutex_lock(&w->lock);
	w->waiting++;
	while (!buffer_room(b, need) && !atomic_load(&w->failed)) {
		packer_wake(w);
		pthread_cond_wait(&w->room, &w->lock);
	}
	w->waiting--;
	pthread_mutex_unlock(&w->lock);
	return !atomic_load(&w->failed);
}

static void put_or_lose(struct trace_buffer *b, const struct event *ev)
{
	struct trace_writer *w = b->writer;
	size_t need = buffer_need(ev);

	if (!need || atomic_load_explicit(&w->failed, memory_order_relaxed) ||
		(!buffer_room(b, need) && !wait_for_room(b, need))) {
		atomic_fetch_add(&w->lost, 1);
		return;
	}
	size_t used = buffer_put(b, ev, need);
	/* Once on the way to full; a tail seen long ago makes it look fuller than it is. */
	if (used >= BUFFER_SIZE / 2 && used - need < BUFFER_SIZE / 2) {
		pthread_mutex_lock(&w->lock);
		packer_wake(w);
		pthread_mutex_unlock(&w->lock);
	}
}

void trace_put(struct trace_buffer *b, const struct event *ev)
{
	put_or_lose(b, ev);
	atomic_store_explicit(&b->pending, PENDING_NONE, memory_order_release);
}

void trace_hold(struct trace_buffer *b, uint64_t until_ns)
{
	atomic_store_explicit(&b->pending, until_ns, memory_order_release);
}

/* Before it waits for room, the writer must know that it may write up to here. */
void trace_put_late(struct trace_buffer *b, const struct event *ev)
{
	trace_hold(b, b->writer->epoch_ns + event_end_ns(ev));
	put_or_lose(b, ev);
}

void trace_let_go(struct trace_buffer *b)
{
	atomic_store_explicit(&b->pending, PENDING_NONE, memory_order_release);
}

void trace_writer_wait(struct trace_writer *w, const struct trace_wait *wait)
{
	pthread_mutex_lock(&w->file_lock);
	wait_encode(wait, &w->wait_ns, &w->waits);
	w->wait_count++;
	if (w->waits.size >= EDGES_FRAME) {
		w->tree_done = true;
		int r = write_tree(w);
		writer_fail(w, r ? r : write_waits(w));
	}
	pthread_mutex_unlock(&w->file_lock);
}

uint32_t trace_writer_thread(struct trace_writer *w, const struct trace_thread *thread)
{
	pthread_mutex_lock(&w->lock);
	uint32_t index = 0;
	if (w->threads.count < THREADS_MAX) {
		index = (uint32_t)w->threads.count;
		vec_push(&w->threads, *thread);
	}
	pthread_mutex_unlock(&w->lock);
	return index;
}

uint64_t trace_writer_epoch_ns(const struct trace_writer *w)
{
	return w->epoch_ns;
}

void trace_writer_lost(struct trace_writer *w, uint64_t events)
{
	atomic_fetch_add(&w->lost, events);
}

int trace_writer_failed(const struct trace_writer *w)
{
	return atomic_load(&w->failed);
}

/* ---- open and close ---- */

static void writer_free(struct trace_writer *w)
{
	vec_each (b, &w->buffers) {
		buffer_done(*b);
		free(*b);
	}
	vec_free(&w->buffers);
	vec_free(&w->threads);
	vec_free(&w->cpu_ns);
	vec_free(&w->index);
	vec_free(&w->thread_frames);
	bytes_free(&w->tree);
	bytes_free(&w->waits);
	bytes_free(&w->frame);
	block_writer_free(w->block);
	free(w->looked);
	stash_free(w->stash);
	pthread_cond_destroy(&w->work);
	pthread_cond_destroy(&w->room);
	pthread_mutex_destroy(&w->file_lock);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static struct trace_writer *writer_new(void)
{
	struct trace_writer *w = ALLOC(struct trace_writer);
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->file_lock, NULL);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, &monotonic);
	pthread_cond_init(&w->room, NULL);
	pthread_condattr_destroy(&monotonic);
	op_table_native(&w->table);
	w->block = block_writer_new(&w->table);
	w->index_stride = 1;
	w->epoch_ns = now_ns();
	/* Thread 0 stands for the kernel. */
	vec_push(&w->threads, (struct trace_thread){.comm = "kernel"});
	return w;
}

int trace_writer_open(
	struct trace_writer **ret, const char *path, const json_t *meta, struct error *err)
{
	struct trace_writer *w = writer_new();
	int r = frame_file_create(&w->file, path, err);

	if (r < 0) {
		writer_free(w);
		return r;
	}
	r = write_meta(w, meta, err);
	if (!r)
		r = write_ops(w);
	if (!r)
		r = -pthread_create(&w->packer, NULL, packer_main, w);
	if (r < 0) {
		error_errno(err, r, "cannot start the trace %s", path);
		frame_file_close(&w->file);
		unlink(path);
		writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void trace_writer_anonymize(struct trace_writer *w, struct anonymizer *a)
{
	w->anonymizer = a;
}

void trace_writer_keep_data(struct trace_writer *w)
{
	w->stash = stash_new(write_data, w);
}

uint64_t trace_writer_data(struct trace_writer *w, const void *data, size_t size, uint64_t hash)
{
	return w->stash ? stash_put(w->stash, data, size, hash) : 0;
}

uint64_t trace_writer_join(struct trace_writer *w, uint64_t first, uint64_t second)
{
	return w->stash ? stash_join(w->stash, first, second) : 0;
}

void trace_writer_file_data(
	struct trace_writer *w, uint64_t file, uint64_t offset, const void *data, size_t size)
{
	uint64_t number = trace_writer_data(w, data, size, content_hash(data, size));

	if (number)
		stash_file(w->stash, file, offset, number);
}

void trace_writer_final(struct trace_writer *w, uint64_t file, uint64_t size, const uint8_t *digest)
{
	if (w->stash)
		stash_final(w->stash, file, size, digest);
}

int trace_writer_tree(struct trace_writer *w, const struct tree_entry *entry, struct error *err)
{
	struct tree_entry shown = *entry;

	pthread_mutex_lock(&w->file_lock);
	assert(!w->tree_done);
	size_t before = w->tree.size;
	if (w->anonymizer)
		anonymize_entry(w->anonymizer, &shown);
	tree_encode(&shown, &w->tree);
	int r = w->tree.size - before > FRAME_MAX / 2 ? -EFBIG : 0;
	if (!r && w->tree.size >= TREE_FRAME)
		r = write_tree(w);
	pthread_mutex_unlock(&w->file_lock);
	if (r < 0)
		error_errno(err, r, "cannot write the starting state of '%.*s'",
			(int)min_u64(entry->name.size, 255), entry->name.data);
	return r;
}

int trace_writer_close(struct trace_writer *w, struct trace_totals *ret_totals, struct error *err)
{
	struct trace_totals totals;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->packer, NULL);

	int r = atomic_load(&w->failed);
	if (!r)
		r = write_tree(w);
	if (!r)
		r = flush_data(w);
	if (!r)
		r = write_threads(w);
	int waits = write_waits(w);
	r = r ? r : waits;
	uint64_t index_at = w->file.size;
	if (write_index(w) < 0)
		index_at = 0;
	int ended = write_end(w, index_at, &totals);
	int closed = frame_file_close(&w->file);
	r = r < 0 ? r : ended < 0 ? ended : closed;
	writer_free(w);
	if (ret_totals)
		*ret_totals = totals;
	return r < 0 ? error_errno(err, r, "the trace is incomplete, %llu events are lost",
			       (unsigned long long)totals.lost)
	             : 0;
}
