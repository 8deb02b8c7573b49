/* SPDX-License-Identifier: MIT */
#include "capture-meta.h"

#include <libmount/libmount.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "anonymize.h"

static json_t *text_or_null(const char *s)
{
	json_t *value = s ? json_string(s) : NULL;

	return value ? value : json_null();
}

static void add_source(json_t *meta, const char *dir)
{
	struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
	struct libmnt_fs *fs =
		table ? mnt_table_find_mountpoint(table, dir, MNT_ITER_BACKWARD) : NULL;

	json_object_set_new(meta, "source", text_or_null(dir));
	json_object_set_new(meta, "source_fs", text_or_null(fs ? mnt_fs_get_fstype(fs) : NULL));
	json_object_set_new(meta, "source_device", text_or_null(fs ? mnt_fs_get_source(fs) : NULL));
	json_object_set_new(
		meta, "source_options", text_or_null(fs ? mnt_fs_get_options(fs) : NULL));
	mnt_unref_table(table);
}

static void add_host(json_t *meta)
{
	struct utsname u;

	if (uname(&u))
		return;
	json_object_set_new(meta, "host", text_or_null(u.nodename));
	json_object_set_new(meta, "kernel", text_or_null(u.release));
	json_object_set_new(meta, "machine", text_or_null(u.machine));
	json_object_set_new(meta, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
}

static void add_subject(json_t *meta, const struct capture_job *job)
{
	if (job->workload) {
		json_object_set_new(meta, "workload", text_or_null(job->workload->text));
		return;
	}
	json_t *words = json_array();
	for (char **word = job->command; *word; word++)
		json_array_append_new(words, text_or_null(*word));
	json_object_set_new(meta, "command", words);
}

static void add_time(json_t *meta)
{
	char text[40];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_object_set_new(meta, "started", json_string(text));
}

/* The probe's clock counts nothing of what the capture costs the caller. */
static void add_clock(json_t *meta, const struct capture_result *result)
{
	bool exact = result->probe.ran;
	json_int_t call_ns = exact ? 0 : (json_int_t)result->cost.call_ns;
	json_int_t kib_ns = exact ? 0 : (json_int_t)result->cost.kib_ns;

	json_object_set_new(meta, "probe",
		exact ? json_true() : json_pack("{s:s}", "off", result->probe.why_not));
	json_object_set_new(meta, "cpu_clock", json_string(exact ? "exact" : "estimated"));
	json_object_set_new(meta, "client_cpu_ns", json_integer(call_ns));
	json_object_set_new(meta, "client_cpu_ns_per_kib", json_integer(kib_ns));
}

json_t *capture_meta(const struct capture_job *job, const char *dir,
	const struct capture_stats *trial, const struct capture_result *result)
{
	json_t *meta = json_object();

	json_object_set_new(meta, "fsreel", json_string(FSREEL_VERSION));
	add_host(meta);
	add_source(meta, dir);
	add_subject(meta, job);
	add_time(meta);
	json_object_set_new(meta, "uid", json_integer(getuid()));
	add_clock(meta, result);
	json_object_set_new(meta, "features",
		json_pack("{s:b,s:b}", "allow_mmap", trial->allow_mmap, "parallel_writes",
			trial->parallel_writes));
	json_object_set_new(meta, "timeouts", json_string(job->strict_meta ? "none" : "long"));
	json_object_set_new(meta, "content", json_string(job->keep_data ? "full" : "class"));
	json_object_set_new(meta, "strip_direct", json_boolean(job->strip_direct));
	if (!job->anonymize)
		return meta;
	json_t *harmless = anonymize_meta(meta);
	json_decref(meta);
	return harmless;
}
