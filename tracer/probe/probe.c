/* SPDX-License-Identifier: MIT */
/*
 * Loads the programs of record.bpf.c and reads their ring.
 *
 * One thread drains the ring every few milliseconds, or at once when a quarter of it is full. What
 * is traced is a bit per thread, shared with the programs: set here for what exists already, by the
 * programs themselves for what is made later.
 */
#include "probe.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "calls.h"
#include "cleanup.h"
#include "clock.h"
#include "drain.h"
#include "record.skel.h"
#include "trees.h"
#include "vec.h"

#define LOOK_INTERVAL_MS 10
#define RING_BYTES       (32u << 20)
#define TYPES            "/sys/kernel/btf/vmlinux"

struct probe {
	struct record_object *object;
	struct drain drain;
	void *mapped_pos; /* of the ring: the page that is ours */
	void *mapped_data;
	size_t mapped_data_size;
	int poll_fd;
	pthread_t reader;
	bool attached, reading;
	_Atomic bool stop;
	_Atomic uint64_t given;
	_Atomic size_t peak;
	probe_record_fn record;
	probe_until_fn until;
	probe_wait_fn wait;
	void *arg;
};

/* --- what is needed --- */

static int no_messages(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static int refused(int r, struct error *err)
{
	if (r == -EPERM || r == -EACCES)
		return error_set(err, -r,
			"BPF is not allowed here: the probe needs root, or CAP_BPF and "
			"CAP_PERFMON, and a kernel or container that lets it load programs");
	return error_errno(err, -r, "the kernel refuses the probe's programs");
}

int probe_possible(struct error *err)
{
	if (access(TYPES, R_OK))
		return error_set(err, ENOTSUP,
			"the probe needs %s: a kernel with CONFIG_DEBUG_INFO_BTF", TYPES);
	if (!pids_are_global())
		return error_set(err, ENOTSUP,
			"the probe works in the first PID namespace only, not in a container "
			"with one of its own (docker: --pid=host)");
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	libbpf_set_print(no_messages);
	int fd = bpf_prog_load(
		BPF_PROG_TYPE_RAW_TRACEPOINT, "fsreel", "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	if (fd < 0)
		return refused(fd, err);
	close(fd);
	return 0;
}

/* --- load --- */

static void choose_calls(struct record_object *object, unsigned set)
{
	struct probe_call *calls = (struct probe_call *)object->rodata->calls;

	for (unsigned nr = 0; nr < PROBE_CALLS; nr++) {
		bool waits_elsewhere = probe_calls[nr].extra & EXTRA_GLOBAL;
		object->rodata->file_calls[nr] = probe_calls[nr].sets && !waits_elsewhere;
		if (probe_calls[nr].sets & set)
			calls[nr] = probe_calls[nr];
	}
}

/* Requests to FUSE are counted for an audit, where the kernel tells of them. */
static void choose_request_count(struct record_object *object, unsigned set)
{
	struct btf *types = set & PROBE_AUDIT ? btf__load_vmlinux_btf() : NULL;
	bool has = types && btf__find_by_name_kind(
				    types, "btf_trace_fuse_request_send", BTF_KIND_TYPEDEF) > 0;

	btf__free(types);
	object->bss->counts_requests = has;
	object->bss->names_requested = set & PROBE_AUDIT;
	bpf_program__set_autoload(object->progs.on_fuse_request, has);
}

static int choose_prefix(struct record_object *object, const char *dir, struct error *err)
{
	auto_free char *real = realpath(dir, NULL);

	if (!real)
		return error_errno(err, errno, "directory '%s'", dir);
	size_t size = strlen(real);
	if (size >= sizeof(object->rodata->prefix))
		return error_set(err, ENAMETOOLONG,
			"the probe cannot watch '%s': the name of the "
			"directory has more than %zu bytes",
			real, sizeof(object->rodata->prefix) - 1);
	if (size == 1) /* the root: everything absolute begins there */
		size = 0;
	memcpy((char *)object->rodata->prefix, real, size);
	object->rodata->prefix_size = (uint32_t)size;
	return 0;
}

/* Programs that nobody asked for cost nothing. */
static void choose_programs(struct record_object *object, const struct probe_options *o)
{
	struct bpf_program *const for_waits[] = {object->progs.on_waking,
		object->progs.hrtimer_expire_enter, object->progs.hrtimer_expire_leave,
		object->progs.timer_expire_enter, object->progs.timer_expire_leave,
		object->progs.irq_handler_enter, object->progs.irq_handler_leave,
		object->progs.softirq_enter, object->progs.softirq_leave};

	for (size_t i = 0; i < ARRAY_SIZE(for_waits); i++)
		bpf_program__set_autoload(for_waits[i], o->wait);
	bpf_program__set_autoload(object->progs.on_switch, o->wait || o->clocks);
	object->rodata->want_waits = o->wait;
	object->rodata->server = (uint32_t)getpid();
}

static int load(struct probe *p, const struct probe_options *o, struct error *err)
{
	p->object = record_object__open();
	if (!p->object)
		return error_errno(err, errno, "the probe's programs");
	choose_calls(p->object, o->set);
	choose_request_count(p->object, o->set);
	choose_programs(p->object, o);
	int r = o->dir ? choose_prefix(p->object, o->dir, err) : 0;
	if (r)
		return r;
	bpf_map__set_max_entries(
		p->object->maps.ring, (uint32_t)(o->ring_bytes ? o->ring_bytes : RING_BYTES));
	r = record_object__load(p->object);
	if (r)
		return refused(r, err);
	r = record_object__attach(p->object);
	if (r)
		return refused(r, err);
	p->attached = true;
	return 0;
}

/* --- the ring --- */

static int map_ring(struct probe *p, struct error *err)
{
	int fd = bpf_map__fd(p->object->maps.ring);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = bpf_map__max_entries(p->object->maps.ring);

	p->mapped_pos = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p->mapped_data_size = page + 2 * size;
	p->mapped_data = mmap(NULL, p->mapped_data_size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (p->mapped_pos == MAP_FAILED || p->mapped_data == MAP_FAILED)
		return error_errno(err, errno, "the probe's ring");
	p->drain.ring = (struct drain_ring){
		.consumer_pos = p->mapped_pos,
		.producer_pos = p->mapped_data,
		.data = (const char *)p->mapped_data + page,
		.size = size,
	};
	struct epoll_event event = {.events = EPOLLIN};
	p->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->poll_fd < 0 || epoll_ctl(p->poll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(err, errno, "the probe's ring");
	return 0;
}

static uint64_t record_time(const void *record, size_t size)
{
	return ((const struct probe_record *)record)->exit_ns;
}

static void take(const void *record, size_t size, void *arg)
{
	struct probe *p = arg;
	const struct probe_record *r = record;

	if (r->kind == PROBE_WAIT)
		p->wait(record, p->arg);
	else
		p->record(r, p->arg);
}

static size_t drain(struct probe *p)
{
	size_t count = drain_round(&p->drain, now_ns());

	atomic_store_explicit(&p->given, p->drain.given, memory_order_relaxed);
	atomic_store_explicit(&p->peak, p->drain.peak_bytes, memory_order_relaxed);
	if (p->until)
		p->until(p->drain.until_ns, p->arg);
	return count;
}

static void *reader_main(void *arg)
{
	struct probe *p = arg;
	struct epoll_event event;

	pthread_setname_np(pthread_self(), "fsreel-probe");
	while (!atomic_load(&p->stop)) {
		epoll_wait(p->poll_fd, &event, 1, LOOK_INTERVAL_MS);
		drain(p);
	}
	return NULL;
}

static int start_reader(struct probe *p, struct error *err)
{
	sigset_t all, before;

	/* Signals are for those who wait for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = pthread_create(&p->reader, NULL, reader_main, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->reading = !r;
	return r ? error_errno(err, r, "the probe's reader") : 0;
}

/* --- who is watched --- */

static void set_traced(struct probe *p, pid_t tid, bool on)
{
	__u64 *word = &p->object->bss->traced[(unsigned)tid / 64];
	__u64 bit = UINT64_C(1) << ((unsigned)tid % 64);

	if (on)
		__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(word, ~bit, __ATOMIC_SEQ_CST);
}

/* What the programs see of a descriptor of ours tells the device as they see it. */
static int find_device(struct probe *p, const char *dir, struct error *err)
{
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (fd < 0)
		return error_errno(err, errno, "directory '%s'", dir);
	p->object->bss->asked = fd;
	p->object->bss->asker = (uint32_t)tid;
	set_traced(p, tid, true);
	syscall(SYS_getppid);
	set_traced(p, tid, false);
	p->object->bss->asker = 0;
	p->object->bss->device = p->object->bss->answer;
	return p->object->bss->answer
	               ? 0
	               : error_set(err, EIO, "the probe is loaded, but its programs are not run");
}

static struct probe_clock *clock_of(const struct probe *p, uint32_t tid)
{
	return &p->object->bss->clocks[tid % PROBE_CLOCKS];
}

static void start_tracing(struct probe *p, pid_t tid)
{
	struct probe_clock *c = clock_of(p, (uint32_t)tid);

	if (c->tid != (uint32_t)tid)
		*c = (struct probe_clock){.tid = (uint32_t)tid, .ran_ns = now_ns()};
	set_traced(p, tid, true);
}

int probe_watch(struct probe *p, pid_t pid, struct error *err)
{
	struct tids tids = {0};

	/* What was made while we looked may have been missed: look until nothing is new. */
	for (size_t before = 0; tids_of_tree(&tids, pid) || !before; before = 1)
		vec_each (tid, &tids.list)
			start_tracing(p, *tid);
	bool found = tids.list.count > 0;
	vec_free(&tids.list);
	return found ? 0 : error_set(err, ESRCH, "there is no process %d", pid);
}

/* --- CPU time --- */

uint64_t probe_clock_ns(struct probe *p, uint32_t tid)
{
	struct probe_clock *c = clock_of(p, tid);

	/* Its programs are at rest: the thread is in a call, and this is what it waits for. */
	if (__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE) != tid)
		return 0;
	if (c->call && !__atomic_exchange_n(&c->served, 1, __ATOMIC_ACQ_REL))
		c->own_ns += c->enter_ns - c->leave_ns;
	return c->own_ns + 1;
}

long probe_call_of(const struct probe *p, uint32_t tid)
{
	const struct probe_clock *c = clock_of(p, tid);

	return c->tid == tid ? (long)c->call - 1 : -1;
}

/* --- open, stop, close --- */

uint32_t probe_device(dev_t device)
{
	return major(device) << 20 | minor(device);
}

void probe_narrow(struct probe *p, uint32_t device)
{
	p->object->bss->device = device;
}

static int start(struct probe *p, const struct probe_options *o, struct error *err)
{
	int r = load(p, o, err);

	if (!r)
		r = map_ring(p, err);
	if (!r && o->device)
		probe_narrow(p, o->device);
	else if (!r && o->dir)
		r = find_device(p, o->dir, err);
	return r ? r : start_reader(p, err);
}

int probe_open(struct probe **ret, const struct probe_options *options, struct error *err)
{
	int r = probe_possible(err);

	if (r)
		return r;
	struct probe *p = ALLOC(struct probe);
	p->poll_fd = -1;
	p->mapped_pos = p->mapped_data = MAP_FAILED;
	p->record = options->record;
	p->until = options->until;
	p->wait = options->wait;
	p->arg = options->arg;
	p->drain.time = record_time;
	p->drain.take = take;
	p->drain.arg = p;
	r = start(p, options, err);
	if (r) {
		probe_close(p);
		return r;
	}
	*ret = p;
	return 0;
}

/* Programs that had begun when they were detached may still put a record: wait for them. */
static void drain_last(struct probe *p)
{
	const struct timespec moment = {.tv_nsec = LOOK_INTERVAL_MS * 1000000L};

	for (int quiet = 0; quiet < 2;) {
		quiet = drain(p) ? 0 : quiet + 1;
		nanosleep(&moment, NULL);
	}
	drain_end(&p->drain);
	atomic_store(&p->given, p->drain.given);
}

void probe_stop(struct probe *p, struct probe_stats *ret)
{
	if (p->attached)
		record_object__detach(p->object);
	p->attached = false;
	if (p->reading) {
		atomic_store(&p->stop, true);
		pthread_join(p->reader, NULL);
		drain_last(p);
	}
	p->reading = false;
	if (ret)
		*ret = probe_stats_now(p);
}

struct probe_stats probe_stats_now(const struct probe *p)
{
	struct probe_stats s = {
		.records = atomic_load(&p->given),
		.ring_bytes = p->drain.ring.size,
		.ring_peak_bytes = atomic_load(&p->peak),
		.lost_starts = __atomic_load_n(&p->object->bss->lost_starts, __ATOMIC_RELAXED),
	};

	s.lost = s.lost_starts;
	for (int kind = 0; kind < PROBE_KINDS; kind++) {
		s.lost_of[kind] = __atomic_load_n(&p->object->bss->lost[kind], __ATOMIC_RELAXED);
		s.lost += s.lost_of[kind];
	}
	return s;
}

void probe_close(struct probe *p)
{
	if (!p)
		return;
	probe_stop(p, NULL);
	if (p->mapped_pos != MAP_FAILED)
		munmap(p->mapped_pos, (size_t)sysconf(_SC_PAGESIZE));
	if (p->mapped_data != MAP_FAILED)
		munmap(p->mapped_data, p->mapped_data_size);
	if (p->poll_fd >= 0)
		close(p->poll_fd);
	drain_done(&p->drain);
	record_object__destroy(p->object);
	free(p);
}
