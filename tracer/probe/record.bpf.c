/* SPDX-License-Identifier: MIT */
/*
 * The programs in the kernel. A call is looked at twice: at its start for what may be different
 * afterwards (descriptors, offsets), kept in the thread's own storage; at its end for the rest,
 * when its paths and vectors have certainly been read by the kernel and are in memory.
 *
 * Times of the end are taken after the record's place in the ring was reserved. So whoever reads
 * the ring up to a place knows that all records behind it are younger (drain.c builds on that).
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "calls.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define TIDS         (1u << 22) /* the highest pid_max there is */
#define PATH_SHORT   128
#define PATH_LONG    4096
#define PREFIX_MAX   256
#define FUSE_MAGIC   0x65735546
#define AT_FDCWD     (-100)
#define NO_OFFSET    (~0ull)
#define PF_KTHREAD   0x00200000
#define PF_IO_WORKER 0x00000010

#define S_IFMT  0170000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFBLK 0060000

#define READ_KERNEL(to, from) bpf_probe_read_kernel((to), sizeof(*(to)), (from))
#define READ_USER(to, from)   bpf_probe_read_user((to), sizeof(*(to)), (const void *)(from))

/* --- set by the reader --- */

const volatile struct probe_call calls[PROBE_CALLS]; /* those not wanted have no sets */
const volatile bool file_calls[PROBE_CALLS]; /* those of the whole table that wait for files */
const volatile char prefix[PREFIX_MAX];      /* of absolute paths; without a last '/' */
const volatile __u32 prefix_size;

const volatile bool want_waits;
const volatile __u32 server; /* tgid of who answers calls on the device */

bool names_requested; /* report requests of io_uring that have no file, too */
bool counts_requests; /* the kernel tells of requests to FUSE */
__u32 device;         /* whose files are reported; 0 = any */
__u32 asker;          /* this thread wants to know ... */
int asked;            /* ... on which device this descriptor is */
__u32 answer;

/* --- read by it --- */

__u64 traced[TIDS / 64];
struct probe_clock clocks[PROBE_CLOCKS]; /* it writes there, too */
__u64 lost[PROBE_KINDS];
__u64 lost_starts;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} ring SEC(".maps");

/* What is kept of a call from its start to its end. */
struct started {
	__u64 enter_ns;
	__u32 nr; /* plus 1; 0 = none */
	__u32 on_device;
	__u32 requests; /* that it sent to FUSE */
	struct probe_file file[2];
	__u64 extra[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct started);
} calls_started SEC(".maps");

struct path_buffer {
	char path[PROBE_PATHS][PATH_LONG];
	int size[PROBE_PATHS]; /* with NUL, or negative */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct path_buffer);
} path_buffers SEC(".maps");

/* Requests of io_uring on their way, by address. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct probe_record);
} uring_started SEC(".maps");

struct short_record {
	struct probe_record r;
	char path[PROBE_PATHS][PATH_SHORT];
};

struct long_record {
	struct probe_record r;
	char path[PROBE_PATHS][PATH_LONG];
};

/* --- who is traced --- */

static __always_inline bool is_traced(__u32 tid)
{
	return traced[(tid / 64) % (TIDS / 64)] & (1ull << (tid % 64));
}

static __always_inline void trace(__u32 tid)
{
	__sync_fetch_and_or(&traced[(tid / 64) % (TIDS / 64)], 1ull << (tid % 64));
}

static __always_inline void untrace(__u32 tid)
{
	__sync_fetch_and_and(&traced[(tid / 64) % (TIDS / 64)], ~(1ull << (tid % 64)));
}

/* --- CPU time --- */

static __always_inline struct probe_clock *clock_of(__u32 tid)
{
	return &clocks[tid % PROBE_CLOCKS];
}

static __always_inline void clock_start(__u32 tid)
{
	struct probe_clock *c = clock_of(tid);

	__builtin_memset(c, 0, sizeof(*c));
	c->tid = tid;
	c->ran_ns = bpf_ktime_get_ns();
}

/* Of a thread that is on a CPU. One that was there already when it was traced counts from now. */
static __always_inline __u64 used_ns(struct probe_clock *c)
{
	__u64 now = bpf_ktime_get_ns();

	if (!c->since_ns)
		c->since_ns = now;
	return c->used_ns + (now - c->since_ns);
}

static __always_inline void clock_enter(__u32 tid, __u32 nr)
{
	struct probe_clock *c = clock_of(tid);

	if (c->tid != tid)
		return;
	c->enter_ns = used_ns(c);
	c->call = nr + 1;
}

static __always_inline void clock_leave(__u32 tid)
{
	struct probe_clock *c = clock_of(tid);

	if (c->tid != tid)
		return;
	c->call = 0;
	if (!c->served)
		return;
	c->served = 0;
	c->leave_ns = used_ns(c);
}

/* This call is an event: what was used between two of them is the application's own. */
static __always_inline __u64 clock_serve(__u32 tid)
{
	struct probe_clock *c = clock_of(tid);

	if (c->tid != tid)
		return 0;
	if (!__sync_lock_test_and_set(&c->served, 1))
		c->own_ns += c->enter_ns - c->leave_ns;
	return c->own_ns + 1;
}

/* --- the ring --- */

static __always_inline void count_lost(enum probe_kind kind)
{
	__sync_fetch_and_add(&lost[kind], 1);
}

static __always_inline void submit(void *record)
{
	/* The reader looks every few milliseconds; call it only when that may be too late. */
	__u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
	                              bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 4
	                      ? BPF_RB_FORCE_WAKEUP
	                      : BPF_RB_NO_WAKEUP;

	bpf_ringbuf_submit(record, flags);
}

static __always_inline void clear(struct probe_record *r)
{
	__builtin_memset(r, 0, sizeof(*r));
}

/* A record about `task` with nothing else in it; NULL = lost, and counted. */
static __always_inline struct probe_record *reserve(
	enum probe_kind kind, const struct task_struct *task)
{
	struct probe_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count_lost(kind);
		return NULL;
	}
	clear(r);
	r->kind = kind;
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->enter_ns = r->exit_ns = bpf_ktime_get_ns();
	return r;
}

/* --- files --- */

static __always_inline bool is_wanted(__u32 dev, __u16 mode)
{
	__u16 type = mode & S_IFMT;

	if (device)
		return dev == device;
	return type == S_IFREG || type == S_IFDIR || type == S_IFBLK;
}

static __always_inline void look_at_inode(struct inode *inode, struct probe_file *out)
{
	struct super_block *sb = BPF_CORE_READ(inode, i_sb);

	out->dev = BPF_CORE_READ(sb, s_dev);
	out->mode = BPF_CORE_READ(inode, i_mode);
	out->ino = BPF_CORE_READ(inode, i_ino);
	out->generation = BPF_CORE_READ(inode, i_generation);
	if (bpf_core_type_exists(struct fuse_inode) && BPF_CORE_READ(sb, s_magic) == FUSE_MAGIC)
		out->node = BPF_CORE_READ((struct fuse_inode *)inode, nodeid);
}

/* True if it is on the device. */
static __always_inline bool look_at_file(struct file *file, struct probe_file *out)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u32 dev = BPF_CORE_READ(inode, i_sb, s_dev);

	if (!file || !is_wanted(dev, BPF_CORE_READ(inode, i_mode)))
		return false;
	look_at_inode(inode, out);
	out->flags = BPF_CORE_READ(file, f_flags);
	out->pos = BPF_CORE_READ(file, f_pos);
	if (out->node) {
		struct fuse_file *open_file = BPF_CORE_READ(file, private_data);
		out->fh = BPF_CORE_READ(open_file, fh);
	}
	return true;
}

static __always_inline struct file *file_of(const struct task_struct *task, int fd)
{
	struct file *file = NULL;
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);

	if (fd < 0 || (unsigned int)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	READ_KERNEL(&file, BPF_CORE_READ(table, fd) + fd);
	return file;
}

/* Where a path starts. */
static __always_inline bool look_at_dir(
	const struct task_struct *task, int fd, struct probe_file *out)
{
	if (fd != AT_FDCWD)
		return look_at_file(file_of(task, fd), out);
	look_at_inode(BPF_CORE_READ(task, fs, pwd.dentry, d_inode), out);
	return is_wanted(out->dev, out->mode);
}

struct looking {
	struct probe_file *out;
	bool found;
};

static long look_at_mapping(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct looking *looking = ctx;
	struct file *file = vma->vm_file;

	if (file)
		looking->found = look_at_file(file, looking->out);
	return 0;
}

/* --- the start of a call --- */

/* Number `n`, counted from 1. */
static __always_inline __u64 argument(struct pt_regs *regs, __u8 n)
{
	switch (n) {
	case 1:
		return regs->di;
	case 2:
		return regs->si;
	case 3:
		return regs->dx;
	case 4:
		return regs->r10;
	case 5:
		return regs->r8;
	case 6:
		return regs->r9;
	default:
		return 0;
	}
}

static __always_inline bool is_about_locks(__u64 command)
{
	return (command >= 5 && command <= 7) || (command >= 36 && command <= 38);
}

static __always_inline void read_offset(__u64 *out, __u64 at)
{
	if (!at || READ_USER(out, at))
		*out = NO_OFFSET;
}

static __always_inline void keep_extra(struct started *s, __u16 extra, struct pt_regs *regs)
{
	if ((extra & EXTRA_LOCK) && is_about_locks(regs->si)) {
		bpf_probe_read_user(s->extra, sizeof(struct probe_lock), (void *)regs->dx);
	} else if (extra & EXTRA_IN_OUT) {
		read_offset(&s->extra[0], regs->si);
		read_offset(&s->extra[1], regs->r10);
	} else if (extra & EXTRA_IN) {
		read_offset(&s->extra[0], regs->dx);
		s->extra[1] = NO_OFFSET;
	} else if (extra & EXTRA_HOW) {
		bpf_probe_read_user(s->extra, 3 * sizeof(__u64), (void *)regs->dx);
	}
}

/* Is any descriptor of the call on the device? */
static __always_inline bool keep_files(
	struct started *s, __u32 nr, const struct task_struct *task, struct pt_regs *regs)
{
	bool on = false;

	for (int i = 0; i < 2; i++) {
		__u8 fd = calls[nr].fd[i], path = calls[nr].path[i], dir = calls[nr].dir[i];
		if (fd)
			on |= look_at_file(file_of(task, (int)argument(regs, fd)), &s->file[i]);
		else if (path && dir != CALL_NO_LOOKUP)
			on |= look_at_dir(
				task, dir ? (int)argument(regs, dir) : AT_FDCWD, &s->file[i]);
	}
	return on;
}

static __always_inline bool keep_mapping(
	struct started *s, struct task_struct *task, struct pt_regs *regs)
{
	struct looking looking = {.out = &s->file[0]};

	bpf_find_vma(task, regs->di, look_at_mapping, &looking, 0);
	return looking.found;
}

/* The reader asks which device the kernel means. */
static __always_inline void answer_asker(const struct task_struct *task)
{
	struct file *file = file_of(task, asked);
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	answer = BPF_CORE_READ(inode, i_sb, s_dev);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 nr = id;

	if (!is_traced(task->pid))
		return 0;
	clock_enter(task->pid, nr);
	if ((__u32)task->pid == asker)
		answer_asker(task);
	if (nr >= PROBE_CALLS || !calls[nr].sets)
		return 0;
	struct started *s =
		bpf_task_storage_get(&calls_started, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s) {
		__sync_fetch_and_add(&lost_starts, 1);
		return 0;
	}
	__builtin_memset(s, 0, sizeof(*s));
	__u16 extra = calls[nr].extra;
	bool on = keep_files(s, nr, task, regs);
	if (extra & EXTRA_MAPPED)
		on = keep_mapping(s, task, regs);
	/* A path may lead there from anywhere; of a descriptor it is known. */
	if (!on && !(extra & EXTRA_GLOBAL) && (calls[nr].fd[0] || !calls[nr].path[0]))
		return 0;
	keep_extra(s, extra, regs);
	s->on_device = on;
	s->nr = nr + 1;
	s->enter_ns = bpf_ktime_get_ns();
	return 0;
}

/* --- the end of a call --- */

static __always_inline bool has_prefix(const char *path)
{
	__u32 i;

	for (i = 0; i < PREFIX_MAX - 1 && i < prefix_size; i++)
		if (path[i] != prefix[i])
			return false;
	return path[i] == '/' || !path[i];
}

static __always_inline void read_paths(
	struct path_buffer *b, __u32 nr, struct pt_regs *regs, __u16 *flags)
{
	for (int i = 0; i < PROBE_PATHS; i++) {
		__u8 n = calls[nr].path[i];
		b->size[i] = 0;
		b->path[i][0] = 0;
		if (!n)
			continue;
		b->size[i] =
			bpf_probe_read_user_str(b->path[i], PATH_LONG, (void *)argument(regs, n));
		if (b->size[i] <= 0 || b->size[i] == PATH_LONG)
			*flags |= PROBE_PATH_CUT;
	}
}

/* Paths that may lead to the device: see probe_options.dir. */
static __always_inline bool leads_there(const struct path_buffer *b, __u32 nr, bool starts_there)
{
	bool leads = false;

	for (int i = 0; i < PROBE_PATHS; i++) {
		if (!calls[nr].path[i] || calls[nr].dir[i] == CALL_NO_LOOKUP)
			continue;
		if (!b->path[i][0])
			leads |= starts_there; /* the directory itself */
		else
			leads |= b->path[i][0] != '/' || !device || has_prefix(b->path[i]);
	}
	return leads;
}

static __always_inline void fill(struct probe_record *r, const struct started *s,
	const struct task_struct *task, struct pt_regs *regs, long result)
{
	clear(r);
	r->kind = PROBE_CALL;
	r->cpu_ns = clock_serve(task->pid);
	r->nr = s->nr - 1;
	r->tid = task->pid;
	r->tgid = task->tgid;
	r->result = result;
	r->enter_ns = s->enter_ns;
	for (int i = 0; i < 6; i++)
		r->args[i] = argument(regs, i + 1);
	r->file[0] = s->file[0];
	r->file[1] = s->file[1];
	__builtin_memcpy(&r->how, s->extra, sizeof(r->lock));
	if (counts_requests)
		r->requests = s->requests + 1;
}

struct iovec_sum {
	__u64 at, bytes;
	bool failed;
};

static long add_iovec(__u32 i, void *ctx)
{
	struct iovec_sum *sum = ctx;
	__u64 iov[2];

	if (READ_USER(&iov, sum->at + i * sizeof(iov))) {
		sum->failed = true;
		return 1;
	}
	sum->bytes += iov[1];
	return 0;
}

static __always_inline void put_iovecs(struct probe_record *r, struct pt_regs *regs)
{
	struct iovec_sum sum = {.at = regs->si};
	__u32 count = regs->dx;

	bpf_loop(count > PROBE_BATCH ? PROBE_BATCH : count, add_iovec, &sum, 0);
	r->bytes = sum.bytes;
	if (sum.failed || count > PROBE_BATCH)
		r->flags |= PROBE_EXTRA_CUT;
}

struct iocb { /* of <linux/aio_abi.h> */
	__u64 data;
	__u32 key, rw_flags;
	__u16 opcode;
	__s16 priority;
	__u32 fd;
	__u64 buffer, bytes, offset, reserved;
	__u32 flags, event_fd;
};

struct batch {
	struct task_struct *task;
	__u64 at, enter_ns;
};

static long put_request(__u32 i, void *ctx)
{
	struct batch *batch = ctx;
	struct task_struct *task = bpf_get_current_task_btf();
	struct probe_file file = {};
	struct iocb iocb;
	__u64 at;

	if (READ_USER(&at, batch->at + i * sizeof(at)) || READ_USER(&iocb, at))
		return 1;
	if (!look_at_file(file_of(task, iocb.fd), &file))
		return 0;
	struct probe_record *r = reserve(PROBE_AIO, task);
	if (!r)
		return 0;
	r->enter_ns = batch->enter_ns;
	r->args[0] = iocb.opcode;
	r->args[1] = iocb.data;
	r->args[2] = at;
	r->args[3] = iocb.offset;
	r->args[4] = iocb.bytes;
	r->args[5] = iocb.rw_flags;
	r->file[0] = file;
	submit(r);
	return 0;
}

static __always_inline void put_batch(const struct started *s, struct pt_regs *regs, long accepted)
{
	struct batch batch = {.at = regs->dx, .enter_ns = s->enter_ns};

	if (accepted > 0)
		bpf_loop(accepted > PROBE_BATCH ? PROBE_BATCH : accepted, put_request, &batch, 0);
}

static __always_inline void put_call(const struct started *s, const struct task_struct *task,
	struct pt_regs *regs, __u16 extra, long result)
{
	struct probe_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count_lost(PROBE_CALL);
		return;
	}
	fill(r, s, task, regs, result);
	if (extra & EXTRA_IOVEC)
		put_iovecs(r, regs);
	r->exit_ns = bpf_ktime_get_ns();
	submit(r);
}

static __always_inline void copy_paths(
	struct probe_record *r, char *to, __u32 room, const struct path_buffer *b, __u16 flags)
{
	r->flags |= flags;
	r->path_room = room;
	for (int i = 0; i < PROBE_PATHS; i++) {
		__u32 size = b->size[i] > 0 ? b->size[i] : 0;
		if (size > room)
			size = room;
		to[i * room] = 0;
		bpf_probe_read_kernel(to + i * room, size, b->path[i]);
		r->path_size[i] = size ? size - 1 : 0;
	}
}

static __always_inline void put_short(const struct started *s, const struct task_struct *task,
	struct pt_regs *regs, const struct path_buffer *b, __u16 flags, long result)
{
	struct short_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count_lost(PROBE_CALL);
		return;
	}
	fill(&r->r, s, task, regs, result);
	copy_paths(&r->r, r->path[0], PATH_SHORT, b, flags);
	r->r.exit_ns = bpf_ktime_get_ns();
	submit(r);
}

static __always_inline void put_long(const struct started *s, const struct task_struct *task,
	struct pt_regs *regs, const struct path_buffer *b, __u16 flags, long result)
{
	struct long_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count_lost(PROBE_CALL);
		return;
	}
	fill(&r->r, s, task, regs, result);
	copy_paths(&r->r, r->path[0], PATH_LONG, b, flags);
	r->r.exit_ns = bpf_ktime_get_ns();
	submit(r);
}

static __always_inline void put_path_call(
	struct started *s, struct task_struct *task, struct pt_regs *regs, __u32 nr, long result)
{
	__u32 zero = 0;
	__u16 flags = 0;
	struct path_buffer *b = bpf_map_lookup_elem(&path_buffers, &zero);

	if (!b)
		return;
	read_paths(b, nr, regs, &flags);
	bool leads = leads_there(b, nr, s->on_device) || calls[nr].fd[0];
	if ((calls[nr].extra & EXTRA_OPENS) && result >= 0)
		leads = look_at_file(file_of(task, result), &s->file[1]);
	leads |= s->requests > 0;
	if (!leads)
		return;
	if (b->size[0] <= PATH_SHORT && b->size[1] <= PATH_SHORT)
		put_short(s, task, regs, b, flags, result);
	else
		put_long(s, task, regs, b, flags, result);
}

static __always_inline void end_call(struct task_struct *task, struct pt_regs *regs, long result)
{
	struct started *s = bpf_task_storage_get(&calls_started, task, NULL, 0);

	if (!s || !s->nr)
		return;
	__u32 nr = s->nr - 1;
	if (nr >= PROBE_CALLS)
		return;
	if (calls[nr].extra & EXTRA_BATCH)
		put_batch(s, regs, result);
	if (calls[nr].path[0])
		put_path_call(s, task, regs, nr, result);
	else
		put_call(s, task, regs, calls[nr].extra, result);
	s->nr = 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!is_traced(task->pid))
		return 0;
	end_call(task, regs, result);
	clock_leave(task->pid);
	return 0;
}

/* --- requests to FUSE --- */

enum {
	FUSE_RELEASE = 18,
	FUSE_RELEASEDIR = 29,
	FUSE_INTERRUPT = 36,
	FUSE_BMAP = 37,
	FUSE_POLL = 40,
};

/* Not a step of the call, or none that a pass-through is asked to do. */
static __always_inline bool is_aside(__u32 opcode)
{
	return opcode == FUSE_RELEASE || opcode == FUSE_RELEASEDIR || opcode == FUSE_INTERRUPT ||
	       opcode == FUSE_BMAP || opcode == FUSE_POLL;
}

/* Older kernels do not have this tracepoint; see choose_programs(). */
SEC("tp_btf/fuse_request_send")
int BPF_PROG(on_fuse_request, const struct fuse_req *req)
{
	struct task_struct *task = bpf_get_current_task_btf();

	/* Without a thread: what the page cache writes back. */
	if (!is_traced(task->pid) || !req->in.h.pid || is_aside(req->in.h.opcode))
		return 0;
	if (BPF_CORE_READ(req, fm, fc, dev) != device)
		return 0;
	struct started *s = bpf_task_storage_get(&calls_started, task, NULL, 0);
	if (s && s->nr)
		s->requests++;
	return 0;
}

/* --- io_uring --- */

static __always_inline void look_at_request(struct io_kiocb *req, struct probe_record *r)
{
	struct io_rw *rw = (struct io_rw *)req;
	struct io_sync *sync = (struct io_sync *)req;

	switch (r->args[0]) {
	case 1: /* READV, WRITEV, READ_FIXED, WRITE_FIXED, READ, WRITE */
	case 2:
	case 4:
	case 5:
	case 22:
	case 23:
		r->args[3] = BPF_CORE_READ(rw, kiocb.ki_pos);
		r->args[4] = BPF_CORE_READ(rw, len);
		r->args[5] = BPF_CORE_READ(rw, flags);
		break;
	case 3: /* FSYNC, SYNC_FILE_RANGE, FALLOCATE */
	case 8:
	case 17:
		r->args[3] = BPF_CORE_READ(sync, off);
		r->args[4] = BPF_CORE_READ(sync, len);
		r->args[5] = BPF_CORE_READ(sync, flags);
		break;
	}
}

/* OPENAT, CLOSE, STATX, OPENAT2, RENAMEAT to LINKAT, the extended attributes: by names, which are gone
 * when it is known that they were done. */
static __always_inline bool is_by_name(__u8 opcode)
{
	return opcode == 18 || opcode == 19 || opcode == 21 || opcode == 28 ||
	       (opcode >= 35 && opcode <= 39) || (opcode >= 41 && opcode <= 44);
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(on_uring_submit, struct io_kiocb *req)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 key = (__u64)req;
	struct probe_record r;

	/* The kernel's polling thread submits for the process that it shares memory with. */
	if (!is_traced(task->pid) && !is_traced(task->tgid))
		return 0;
	clear(&r);
	r.kind = PROBE_URING;
	r.tid = task->pid;
	r.tgid = task->tgid;
	r.args[0] = req->opcode;
	r.args[1] = req->flags & 0xff;
	r.args[2] = req->cqe.user_data;
	look_at_request(req, &r);
	r.enter_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&uring_started, &key, &r, BPF_ANY);
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(on_uring_complete, struct io_ring_ctx *ring_ctx, void *request)
{
	struct io_kiocb *req = request;
	__u64 key = (__u64)req;
	struct probe_record *s = bpf_map_lookup_elem(&uring_started, &key);
	struct probe_file file = {};

	if (!s)
		return 0;
	if (look_at_file(BPF_CORE_READ(req, file), &file) ||
		(names_requested && is_by_name(s->args[0]))) {
		struct probe_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
		if (r) {
			*r = *s;
			r->file[0] = file;
			r->result = BPF_CORE_READ(req, cqe.res);
			r->exit_ns = bpf_ktime_get_ns();
			submit(r);
		} else {
			count_lost(PROBE_URING);
		}
	}
	bpf_map_delete_elem(&uring_started, &key);
	return 0;
}

#include "wait.bpf.h"

/* --- processes --- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!is_traced(parent->pid)) {
		if (is_traced(child->pid)) /* the number of one that is gone */
			untrace(child->pid);
		return 0;
	}
	clock_start(child->pid);
	trace(child->pid);
	struct probe_record *r = reserve(PROBE_FORK, parent);
	if (!r)
		return 0;
	r->args[0] = child->pid;
	r->args[1] = child->tgid;
	__builtin_memcpy(r->name, child->comm, sizeof(r->name));
	submit(r);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid)
{
	if (!is_traced(old_pid) && !is_traced(task->pid))
		return 0;
	/* A thread that is not the first takes over the number of the process. */
	if (!is_traced(task->pid))
		clock_start(task->pid);
	trace(task->pid);
	struct probe_record *r = reserve(PROBE_EXEC, task);
	if (!r)
		return 0;
	__builtin_memcpy(r->name, task->comm, sizeof(r->name));
	submit(r);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_exit, struct task_struct *task)
{
	if (!is_traced(task->pid))
		return 0;
	/* It stays traced: it still has to tell those who wait for its end. */
	end_waits(task);
	struct probe_record *r = reserve(PROBE_EXIT, task);
	if (!r)
		return 0;
	__builtin_memcpy(r->name, task->comm, sizeof(r->name));
	submit(r);
	return 0;
}
