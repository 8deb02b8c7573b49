/* SPDX-License-Identifier: MIT */
/* SPECs, and each workload from end to end in a directory, small. */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "child.h"
#include "cleanup.h"
#include "io.h"
#include "spawn.h"
#include "vec.h"

static const char *refusal(const char *text)
{
	static struct error err;
	struct workload_spec spec = {0};

	err = (struct error){0};
	if (workload_parse(&spec, text, &err))
		return err.text;
	workload_spec_done(&spec);
	return NULL;
}

static bool mentions(const char *text, const char *part)
{
	return text && strstr(text, part);
}

TEST(spec_is_normalised)
{
	struct workload_spec spec;

	CHECK_EQ(workload_parse(&spec, "sqlite-tpcb:clients=4,journal_mode=WAL,seed=1", NULL), 0);
	CHECK_EQ(spec.text, "sqlite-tpcb:clients=4");
	workload_spec_done(&spec);
	CHECK_EQ(workload_parse(&spec, "sqlite-tpcb:", NULL), 0);
	CHECK_EQ(spec.text, "sqlite-tpcb");
	workload_spec_done(&spec);
}

TEST(spec_is_refused)
{
	CHECK(mentions(refusal("sqlite-tpbc"), "did you mean 'sqlite-tpcb'"));
	CHECK(mentions(refusal("nonsense-xyz"), "fsreel workloads"));
	CHECK(mentions(refusal("sqlite-tpcb:client=4"), "did you mean 'clients'"));
	CHECK(mentions(refusal("sqlite-tpcb:clients"), "not key=value"));
	CHECK(mentions(refusal("sqlite-tpcb:clients=0"), "not between"));
	CHECK(mentions(refusal("sqlite-tpcb:journal_mode=fast"), "not one of"));
	CHECK(mentions(refusal("sqlite-tpcb:page_size=1000"), "not one of"));
}

struct job {
	struct workload_spec spec;
	char *dir;
	struct outcome *outcome; /* shared */
};

static int do_prepare(void *arg, struct error *err)
{
	struct job *j = arg;
	return j->spec.workload->prepare(j->spec.settings, j->dir, err);
}

static int do_run(void *arg, struct error *err)
{
	struct job *j = arg;
	return j->spec.workload->run(j->spec.settings, j->dir, j->outcome, err);
}

static int do_check(void *arg, struct error *err)
{
	struct job *j = arg;
	return j->spec.workload->check(j->spec.settings, j->dir, err);
}

static void job_start(struct job *j, const char *spec)
{
	struct error err = {0};

	j->dir = make_temp_dir(&err);
	j->outcome = shared_memory(sizeof(*j->outcome));
	CHECK_EQ(workload_parse(&j->spec, spec, &err), 0);
	CHECK_EQ(child_run(do_prepare, j, NULL, &err), 0);
	CHECK_EQ(child_run(do_run, j, NULL, &err), 0);
	CHECK_EQ(err.text, "");
}

static void job_end(struct job *j)
{
	CHECK_EQ(remove_tree(j->dir), 0);
	free(j->dir);
	shared_memory_free(j->outcome, sizeof(*j->outcome)); /* NULL is fine */
	workload_spec_done(&j->spec);
}

static void whole(const char *spec, uint64_t operations)
{
	struct error err = {0};
	struct job j = {0};

	job_start(&j, spec);
	CHECK_EQ(child_run(do_check, &j, NULL, &err), 0);
	CHECK_EQ(err.text, "");
	CHECK_EQ(j.outcome->operations, operations);
	CHECK_EQ(j.outcome->failures, 0);
	CHECK(j.outcome->latency.count > 0);
	CHECK(j.outcome->elapsed_ns > 0);
	CHECK(j.outcome->metric_value > 0);
	job_end(&j);
}

TEST(bank_in_every_journal_mode)
{
	static const char *const modes[] = {
		"delete", "truncate", "persist", "memory", "wal", "off"};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		auto_free char *spec = xasprintf("sqlite-tpcb:transactions=10,accounts=50,"
						 "synchronous=off,journal_mode=%s",
			modes[i]);
		whole(spec, 10);
	}
}

TEST(bank_with_four_clients)
{
	whole("sqlite-tpcb:clients=4,transactions=25,accounts=50,synchronous=off,page_size=512,"
	      "wal_autocheckpoint=20",
		100);
	whole("sqlite-tpcb:clients=4,transactions=25,accounts=50,synchronous=off,"
	      "journal_mode=delete",
		100);
}

TEST(bulk)
{
	whole("sqlite-bulk:rows=500,batch=70,updates=90,synchronous=off", 590);
	whole("sqlite-bulk:rows=50,batch=0,updates=0,vacuum=no,journal_mode=off,mmap_size=1M", 50);
}

TEST(fsmark)
{
	whole("fsmark:files=20,threads=3,sync=none,subdirs=2,per_subdir=3,dirs=2,size=5000", 60);
	whole("fsmark:files=5,sync=reverse,size=0", 5);
	whole("fsmark:files=5,sync=syncfs-first,size=20000,chunk=7000", 5);
}

TEST(fileserver_and_varmail)
{
	whole("fileserver:threads=3,files=5,loops=10,size=9k,width=2,chunk=4000", 150);
	whole("varmail:threads=3,files=7,loops=10", 120);
}

TEST(fileio)
{
	struct error err = {0};
	struct job j = {0};

	whole("fileio:threads=3,files=4,total=256k,requests=40,fsync_every=0", 120);
	whole("fileio:files=50,total=500k,block=1000,requests=40,fsync_every=30,direct=no,"
	      "fsync_call=fdatasync",
		40);
	CHECK_EQ(workload_parse(&j.spec, "fileio:files=5,total=64k", &err), 0);
	CHECK(do_prepare(&j, &err) < 0);
	CHECK(mentions(err.text, "less than a block"));
	workload_spec_done(&j.spec);
}

TEST(stream)
{
	static const struct {
		const char *phases;
		unsigned data, files; /* phases of each kind */
	} cases[] = {{"all", 3, 3}, {"data", 3, 0}, {"write", 1, 0}, {"rewrite", 1, 0},
		{"read", 1, 0}, {"files", 0, 3}, {"create", 0, 1}, {"stat", 0, 1},
		{"delete", 0, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *spec = xasprintf("stream:phases=%s,size=81k,files=9,dirs=2,"
						 "order=%s,file_size=%zu",
			cases[i].phases, i % 2 ? "random" : "sequential", i * 100);
		whole(spec, cases[i].data * 10 + cases[i].files * 9);
	}
	whole("stream:phases=data,size=40k,chunk=4k,cache=direct", 30);
	whole("stream:phases=data,size=40k,cache=drop", 15);
}

TEST(treecopy)
{
	struct error err = {0};
	struct job j = {.dir = make_temp_dir(&err)};

	whole("treecopy:files=50,threads=2", 100);
	whole("treecopy:files=20,method=copy_file_range", 20);
	CHECK_EQ(workload_parse(&j.spec, "treecopy:source=relative", &err), 0);
	CHECK(do_prepare(&j, &err) < 0);
	CHECK(mentions(err.text, "does not begin with a slash"));
	job_end(&j);
}

TEST(command)
{
	struct error err = {0};
	struct job j = {.dir = make_temp_dir(&err)};

	whole("command", 1);
	whole("command:times=3,prepare=mkdir d,check=test -e d/x && test ! -e y,"
	      "run=for i in a,b d/x; do echo 1,2 >>$i; done; cd d && ls >/dev/full || true",
		3);
	CHECK_EQ(workload_parse(&j.spec, "command:check=echo lost && false,run=true", &err), 0);
	CHECK(do_check(&j, &err) < 0);
	CHECK(mentions(err.text, "'echo lost && false': sh failed (status 1): lost"));
	job_end(&j);
	CHECK(mentions(refusal("command:run="), "run is empty"));
}

TEST(bdb)
{
	if (workload_by_name("bdb-kv")->missing) {
		check_skip(workload_by_name("bdb-kv")->missing);
		return;
	}
	whole("bdb-kv:sync=nosync,records=50,transactions=40", 40);
	whole("bdb-kv:clients=4,records=20,transactions=25,sync=write-nosync,regions=file,"
	      "page_size=512,checkpoint=7",
		100);
	whole("bdb-kv:records=30,transactions=5,sync=dsync,gets=0,puts=40,dels=30,value_size=16k",
		5);
}

static int spoil(void *arg, struct error *err)
{
	struct job *j = arg;
	auto_free char *path = xasprintf("%s/data.db", j->dir);
	auto_close int fd = open(path, O_WRONLY);
	char garbage[2048];

	memset(garbage, 0x5a, sizeof(garbage));
	return pwrite_all(fd, garbage, sizeof(garbage), 4096);
}

TEST(check_finds_damage)
{
	struct error err = {0};
	struct job j = {0};

	job_start(&j, "sqlite-tpcb:transactions=5,accounts=500,synchronous=off");
	CHECK_EQ(child_run(spoil, &j, NULL, &err), 0);
	CHECK(child_run(do_check, &j, NULL, &err) < 0);
	CHECK(err.text[0] != '\0');
	job_end(&j);
}

/* Run `command` in the directory of the job; false if the check does not notice. */
static bool notices(const char *spec, const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct error err = {0};
	struct job j = {0};

	job_start(&j, spec);
	setenv("DIR", j.dir, 1);
	CHECK_EQ(spawn_run(argv, NULL, &err), 0);
	CHECK_EQ(err.text, "");
	bool noticed = child_run(do_check, &j, NULL, &err) < 0 && mentions(err.text, j.dir);
	job_end(&j);
	return noticed;
}

TEST(check_finds_damaged_lost_and_added_files)
{
	static const char *const specs[] = {
		"fsmark:files=3,sync=none",
		"fileserver:files=5,loops=3",
		"varmail:files=5,loops=3",
		"fileio:files=3,total=96k,requests=10",
		"stream:phases=data,size=64k",
		"stream:phases=create,files=3,file_size=5k",
		"treecopy:files=5",
	};
	static const char *const damages[] = {
		"f=$(find $DIR -type f -size +0 | sort | head -n 1) && rm $f",
		"f=$(find $DIR -type f -size +0 | sort | head -n 1) && echo more >>$f",
		"f=$(find $DIR -type f -size +0 | sort | head -n 1) && m=$(stat -c @%Y $f) && "
		"printf '\\001\\002\\003\\004' | dd of=$f bs=1 seek=9 conv=notrunc && touch -d $m "
		"$f",
		"f=$(find $DIR -type f -size +0 | sort | head -n 1) && cp $f $f.copy",
	};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		for (size_t k = 0; k < ARRAY_SIZE(damages); k++)
			if (!CHECK(notices(specs[i], damages[k])))
				fprintf(stderr, "\t%s after: %s\n", specs[i], damages[k]);
}

TEST(check_finds_damaged_berkeley_db)
{
	static const char *const damages[] = {
		/* a balance: the first record of a leaf is at its end */
		"printf '\\001' | dd of=accounts.db bs=1 seek=$((3 * 4096 - 212)) conv=notrunc",
		"head -c 4096 /dev/zero | dd of=accounts.db bs=4096 seek=2 conv=notrunc",
		"truncate -s 8192 accounts.db",
		"rm history.db",
		"rm log.*",
	};

	if (workload_by_name("bdb-kv")->missing) {
		check_skip(workload_by_name("bdb-kv")->missing);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		auto_free char *command = xasprintf("cd $DIR/bdb && %s", damages[i]);
		if (!CHECK(notices("bdb-kv:records=500,transactions=5,sync=nosync", command)))
			fprintf(stderr, "\tafter: %s\n", damages[i]);
	}
}

TEST(check_counts_transactions)
{
	struct error err = {0};
	struct job j = {0};

	job_start(&j, "sqlite-tpcb:transactions=5,accounts=500,synchronous=off");
	workload_spec_done(&j.spec);
	CHECK_EQ(workload_parse(&j.spec, "sqlite-tpcb:transactions=6,accounts=500", &err), 0);
	CHECK(child_run(do_check, &j, NULL, &err) < 0);
	CHECK(mentions(err.text, "5 of 6 transactions"));
	job_end(&j);
}

TEST(failing_client_ends_the_run)
{
	struct error err = {0};
	struct job j = {.dir = xstrdup("/no/such/directory")};

	j.outcome = shared_memory(sizeof(*j.outcome));
	CHECK_EQ(workload_parse(&j.spec, "sqlite-tpcb:clients=3", &err), 0);
	CHECK(child_run(do_run, &j, NULL, &err) < 0);
	CHECK(mentions(err.text, "client 0"));
	CHECK(mentions(err.text, "unable to open"));
	free(j.dir);
	shared_memory_free(j.outcome, sizeof(*j.outcome));
	workload_spec_done(&j.spec);
}
