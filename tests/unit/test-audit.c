/* SPDX-License-Identifier: MIT */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"
#include "clock.h"
#include "probe.h"
#include "writer.h"

#define DEVICE 77
#define EPOCH  UINT64_C(1000000000)
#define TID    100

/* One made-up run: the calls of a thread and what the trace has of them. Times are in us. */
static struct audit *audit;
static const struct trace_thread me = {.tid = TID, .tgid = TID, .comm = "me"};
static const struct trace_thread worker = {.tid = 900, .tgid = TID, .comm = "iou-wrk-100"};

static void begin(void)
{
	const struct audit_options options = {
		.device = DEVICE, .dir = "/mnt/db", .epoch_ns = EPOCH};

	audit = audit_new(&options);
}

static uint64_t ns(uint64_t us)
{
	return EPOCH + us * NSEC_PER_USEC;
}

static struct probe_file on_mount(uint64_t fh)
{
	return (struct probe_file){.dev = DEVICE, .ino = 50, .fh = fh, .mode = S_IFREG | 0644};
}

struct path_record {
	struct probe_record r;
	char path[2][64];
};

/* The descriptor of all calls here has fh 5 and handle 1. */
static struct probe_record call(unsigned nr, uint64_t from_us, uint64_t to_us, int64_t result)
{
	return (struct probe_record){
		.kind = PROBE_CALL,
		.nr = (uint16_t)nr,
		.tid = TID,
		.tgid = TID,
		.enter_ns = ns(from_us),
		.exit_ns = ns(to_us),
		.result = result,
		.file = {on_mount(5)},
	};
}

static void put_event(
	const struct trace_thread *thread, struct event ev, uint64_t from_us, uint64_t to_us)
{
	ev.start_ns = from_us * NSEC_PER_USEC;
	ev.took_ns = (to_us - from_us) * NSEC_PER_USEC;
	audit_event(audit, &ev, thread);
}

static void put_call(struct probe_record r)
{
	audit_call(audit, &r);
}

static struct event data(enum op op, uint64_t offset, uint64_t size, int64_t result)
{
	return (struct event){
		.op = op, .handle = 1, .file = 2, .offset = offset, .size = size, .result = result};
}

static void open_handle(void)
{
	struct path_record p = {.r = call(SYS_openat, 1, 4, 3), .path = {"/mnt/db/f"}};

	p.r.file[1] = on_mount(5);
	p.r.path_room = sizeof(p.path[0]);
	p.r.path_size[0] = (uint16_t)strlen(p.path[0]);
	put_event(&me, (struct event){.op = OP_open, .handle = 1, .file = 2}, 2, 3);
	audit_call(audit, &p.r);
}

static struct probe_record pwrite_call(
	uint64_t from_us, uint64_t to_us, uint64_t offset, uint64_t size)
{
	struct probe_record r = call(SYS_pwrite64, from_us, to_us, (int64_t)size);

	r.args[2] = size;
	r.args[3] = offset;
	return r;
}

static uint64_t verdict(unsigned nr, enum audit_verdict v)
{
	return audit_verdicts(audit, nr)[v];
}

static void end(uint64_t wrong)
{
	audit_finish(audit);
	CHECK_EQ(audit_wrong(audit), wrong);
	for (size_t i = wrong; audit_case(audit, i); i++)
		CHECK_EQ(audit_case(audit, i), (const char *)NULL);
	audit_free(audit);
}

TEST(a_call_and_its_event)
{
	begin();
	open_handle();
	put_event(&me, data(OP_write, 4096, 512, 512), 11, 12);
	put_call(pwrite_call(10, 13, 4096, 512));
	CHECK_EQ(verdict(SYS_openat, AUDIT_TRACED), 1);
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_TRACED), 1);
	CHECK_EQ(audit_fates(audit, OP_write)[AUDIT_CALLED], 1);
	end(0);
}

TEST(a_lost_event_is_found)
{
	begin();
	open_handle();
	put_call(pwrite_call(10, 13, 4096, 512));
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_MISSING), 1);
	end(1);
}

TEST(a_doubled_event_is_found)
{
	begin();
	open_handle();
	put_event(&me, data(OP_write, 4096, 512, 512), 11, 12);
	put_event(&me, data(OP_write, 4096, 512, 512), 11, 12);
	put_call(pwrite_call(10, 13, 4096, 512));
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_TRACED), 1);
	end(1);
}

TEST(an_event_of_another_file_size_offset_or_result_is_found)
{
	const struct event wrong[] = {
		{.op = OP_write, .handle = 9, .offset = 4096, .size = 512, .result = 512},
		data(OP_write, 4096, 513, 511),
		data(OP_write, 4097, 512, 512),
		data(OP_write, 4096, 512, -ENOSPC),
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin();
		open_handle();
		put_event(&me, wrong[i], 11, 12);
		put_call(pwrite_call(10, 13, 4096, 512));
		CHECK_EQ(verdict(SYS_pwrite64, AUDIT_DIFFERENT), 1);
		audit_finish(audit);
		CHECK(audit_wrong(audit) > 0);
		audit_free(audit);
	}
}

TEST(an_event_of_another_thread_is_not_the_calls)
{
	static const struct trace_thread other = {.tid = TID + 1, .tgid = TID, .comm = "other"};

	begin();
	open_handle();
	put_event(&other, data(OP_write, 4096, 512, 512), 11, 12);
	put_call(pwrite_call(10, 13, 4096, 512));
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_MISSING), 1);
	end(2);
}

TEST(pieces_make_up_a_call)
{
	struct event merged = data(OP_write, 0, 3000, 3000);

	begin();
	open_handle();
	put_event(&me, data(OP_write, 0, 1000, 1000), 11, 12);
	put_event(&me, data(OP_write, 1000, 2000, 2000), 12, 13);
	put_call(pwrite_call(10, 14, 0, 3000));
	merged.event_flags = EVENT_JOINED;
	put_event(&me, merged, 21, 22);
	put_call(pwrite_call(20, 24, 0, 3000));
	put_event(&me, data(OP_write, 0, 1000, 1000), 31, 32);
	put_event(&me, data(OP_write, 1001, 2000, 2000), 32, 33);
	put_call(pwrite_call(30, 34, 0, 3000));
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_PIECES), 1);
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_MERGED), 1);
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_DIFFERENT), 1);
	audit_free(audit);
}

TEST(calls_that_need_no_event)
{
	struct probe_record fault = pwrite_call(20, 21, 0, 512);
	struct probe_record advice = call(SYS_fadvise64, 30, 31, 0);
	struct probe_record cached = call(SYS_fstat, 40, 41, 0);

	begin();
	open_handle();
	put_call(pwrite_call(10, 11, 0, 0));
	fault.result = -EFAULT;
	audit_call(audit, &fault);
	audit_call(audit, &advice);
	audit_call(audit, &cached);
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_NOTHING), 1);
	CHECK_EQ(verdict(SYS_pwrite64, AUDIT_REFUSED), 1);
	CHECK_EQ(verdict(SYS_fadvise64, AUDIT_UNSEEN), 1);
	CHECK_EQ(verdict(SYS_fstat, AUDIT_CACHED), 1);
	end(0);
}

TEST(a_request_that_was_sent_must_be_in_the_trace)
{
	struct probe_record r = call(SYS_fstat, 10, 13, 0);

	begin();
	r.requests = 1 + 1;
	audit_call(audit, &r);
	CHECK_EQ(verdict(SYS_fstat, AUDIT_MISSING), 1);
	r = call(SYS_fstat, 20, 23, 0);
	r.requests = 1 + 0;
	audit_call(audit, &r);
	CHECK_EQ(verdict(SYS_fstat, AUDIT_CACHED), 1);
	end(1);
}

TEST(syncs_are_one_to_one)
{
	begin();
	open_handle();
	put_event(&me, data(OP_fsync, 0, 0, 0), 11, 12);
	put_call(call(SYS_fsync, 10, 13, 0));
	put_event(&me, data(OP_fsync, 0, 0, 0), 21, 22);
	put_call(call(SYS_fdatasync, 20, 23, 0));
	CHECK_EQ(verdict(SYS_fsync, AUDIT_TRACED), 1);
	CHECK_EQ(verdict(SYS_fdatasync, AUDIT_MISSING), 1);
	end(2);
}

static struct path_record path_call(unsigned nr, uint64_t at_us, int64_t result, const char *path)
{
	struct path_record p = {.r = call(nr, at_us, at_us + 3, result)};

	p.r.file[0] = (struct probe_file){.dev = 1, .ino = 12345, .mode = S_IFDIR};
	p.r.path_room = sizeof(p.path[0]);
	p.r.path_size[0] = (uint16_t)strlen(path);
	memcpy(p.path[0], path, p.r.path_size[0]);
	return p;
}

static struct event name_event(enum op op, const char *name, int64_t result)
{
	return (struct event){.op = op, .dir = 1, .name = {name, strlen(name)}, .result = result};
}

TEST(names_must_agree)
{
	struct path_record a = path_call(SYS_unlink, 10, 0, "/mnt/db/a"),
			   b = path_call(SYS_unlink, 20, 0, "/mnt/db/b"),
			   elsewhere = path_call(SYS_unlink, 30, 0, "/mnt/other/b"),
			   absent = path_call(SYS_unlink, 40, -ENOENT, "/mnt/db/c");

	begin();
	put_event(&me, name_event(OP_unlink, "a", 0), 11, 12);
	audit_call(audit, &a.r);
	put_event(&me, name_event(OP_unlink, "a", 0), 21, 22);
	audit_call(audit, &b.r);
	audit_call(audit, &elsewhere.r);
	put_event(&me, name_event(OP_lookup, "c", -ENOENT), 41, 42);
	audit_call(audit, &absent.r);
	CHECK_EQ(verdict(SYS_unlink, AUDIT_TRACED), 2);
	CHECK_EQ(verdict(SYS_unlink, AUDIT_DIFFERENT), 1);
	audit_free(audit);
}

static struct probe_record request(enum probe_kind kind, unsigned opcode, uint64_t offset)
{
	return (struct probe_record){
		.kind = (uint16_t)kind,
		.tid = TID,
		.tgid = TID,
		.args = {opcode, 0, 7, offset, 4096},
		.enter_ns = ns(10),
		.exit_ns = ns(20),
		.result = kind == PROBE_URING ? 4096 : 0,
		.file = {on_mount(5)},
	};
}

static uint64_t request_verdict(const struct probe_record *r, enum audit_verdict v)
{
	return audit_verdicts(audit, (size_t)(audit_rule_of(r) - audit_rules))[v];
}

TEST(requests_of_io_uring_come_from_any_thread_of_the_process)
{
	static const struct trace_thread stranger = {.tid = 901, .tgid = 901, .comm = "iou-wrk-9"};
	struct probe_record r = request(PROBE_URING, IORING_OP_WRITE, 8192),
			    other = request(PROBE_URING, IORING_OP_WRITE, 0);

	begin();
	open_handle();
	put_event(&worker, data(OP_write, 8192, 4096, 4096), 11, 12);
	put_call(r);
	CHECK_EQ(audit_rule_of(&r)->name, "io_uring write");
	CHECK_EQ(request_verdict(&r, AUDIT_TRACED), 1);
	put_event(&worker, data(OP_write, 8192, 4096, 4096), 15, 16);
	put_event(&stranger, data(OP_write, 0, 4096, 4096), 17, 18);
	put_call(other);
	end(3);
}

TEST(requests_of_io_submit_are_found_after_it_and_each_its_own)
{
	struct probe_record first = request(PROBE_AIO, 1, 8192), second = first;

	begin();
	open_handle();
	second.enter_ns = ns(30);
	second.exit_ns = ns(31);
	put_call(first);
	put_call(second);
	put_event(&me, data(OP_write, 8192, 4096, 4096), 32, 33);
	put_event(&me, data(OP_write, 8192, 4096, 4096), 21, 34);
	audit_finish(audit);
	CHECK_EQ(request_verdict(&first, AUDIT_TRACED), 2);
	CHECK_EQ(audit_wrong(audit), 0);
	audit_free(audit);
}

TEST(the_end_of_a_process_closes_its_files)
{
	struct probe_record ended = {.kind = PROBE_EXIT, .tid = TID, .exit_ns = ns(50)};
	const struct event release = {.op = OP_release, .handle = 1, .file = 2};

	begin();
	open_handle();
	audit_call(audit, &ended);
	put_event(&me, data(OP_flush, 0, 0, 0), 51, 52);
	put_event(&me, release, 53, 54);
	CHECK_EQ(audit_fates(audit, OP_flush)[AUDIT_ENDED], 1);
	CHECK_EQ(audit_fates(audit, OP_release)[AUDIT_RELEASED], 1);
	put_event(&me, release, 55, 56);
	CHECK_EQ(audit_fates(audit, OP_release)[AUDIT_STRAY], 1);
	end(1);
}

TEST(what_the_kernel_does_by_itself_needs_no_call)
{
	struct event page = data(OP_read, 0, 4096, 4096);

	begin();
	open_handle();
	page.event_flags = EVENT_DERIVED;
	put_event(&me, page, 11, 12);
	put_event(NULL, page, 13, 14);
	CHECK_EQ(audit_fates(audit, OP_read)[AUDIT_DERIVED], 2);
	end(0);
}
