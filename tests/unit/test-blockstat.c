/* SPDX-License-Identifier: MIT */
#include "blockstat.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "check.h"

TEST(no_device_no_numbers)
{
	struct blockstat b = {.reads = 7};
	struct stat st;

	blockstat_read(makedev(0, 12345), &b);
	CHECK(!b.valid);
	CHECK_EQ(b.reads, 0);
	CHECK_EQ(stat("/proc", &st), 0);
	blockstat_read(st.st_dev, &b);
	CHECK(!b.valid);
}

TEST(difference)
{
	struct blockstat before = {true, 1, 2, 3, 4, 5, 6, 7};
	struct blockstat now = {true, 11, 22, 33, 44, 55, 66, 77};
	struct blockstat d = blockstat_since(&now, &before);

	CHECK(d.valid);
	CHECK_EQ(d.reads, 10);
	CHECK_EQ(d.read_bytes, 20);
	CHECK_EQ(d.writes, 30);
	CHECK_EQ(d.write_bytes, 40);
	CHECK_EQ(d.flushes, 50);
	CHECK_EQ(d.busy_ns, 60);
	CHECK_EQ(d.commits, 70);
	before.valid = false;
	d = blockstat_since(&now, &before);
	CHECK(!d.valid && !d.reads);
}
