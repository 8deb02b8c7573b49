/* SPDX-License-Identifier: MIT */
#include "caller.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local struct {
	uid_t uid;
	gid_t gid;
	mode_t umask;
	struct __user_cap_data_struct caps[2];
	uid_t as_uid; /* as whom it works on files just now */
	gid_t as_gid;
} self;

/* Of the process, as the first worker found them. */
static struct __user_cap_data_struct first_caps[2];
static pthread_once_t first_thread = PTHREAD_ONCE_INIT;

static struct __user_cap_header_struct cap_header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static void set_effective(uint32_t add, uint32_t remove)
{
	struct __user_cap_header_struct header = cap_header();
	struct __user_cap_data_struct caps[2] = {self.caps[0], self.caps[1]};

	caps[0].effective = (caps[0].effective | add) & ~remove & caps[0].permitted;
	syscall(SYS_capset, &header, caps);
}

static void first_caps_read(void)
{
	struct __user_cap_header_struct header = cap_header();

	syscall(SYS_capget, &header, first_caps);
}

void caller_thread_init(void)
{
	/* A umask of this thread's own. */
	unshare(CLONE_FS);
	umask(0);
	self.umask = 0;
	self.uid = self.as_uid = geteuid();
	self.gid = self.as_gid = getegid();
	/* The thread that started this one may just have worked as somebody else: that is inherited. */
	pthread_once(&first_thread, first_caps_read);
	memcpy(self.caps, first_caps, sizeof(self.caps));
	if (self.uid != 0)
		return;
	setfsgid(self.gid);
	setfsuid(self.uid);
	set_effective(0, 0);
}

/* Root becomes anyone, and needs no more than to enter every directory. */
static void work_as(uid_t uid, gid_t gid)
{
	if (self.uid != 0 || (uid == self.as_uid && gid == self.as_gid))
		return;
	setfsgid(gid);
	setfsuid(uid);
	if (uid != 0)
		set_effective(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH,
			1u << CAP_FSETID | 1u << CAP_FOWNER | 1u << CAP_CHOWN |
				1u << CAP_SYS_RESOURCE);
	else if (self.as_uid != 0)
		set_effective(0, 0);
	self.as_uid = uid;
	self.as_gid = gid;
}

void caller_become(const struct caller *caller)
{
	if (caller->umask != self.umask) {
		umask(caller->umask);
		self.umask = caller->umask;
	}
	work_as(caller->uid, caller->gid);
}

void caller_restore(void)
{
	work_as(self.uid, self.gid);
}

void caller_spend(uid_t uid, gid_t gid)
{
	work_as(uid, gid);
}

void caller_drop_fsetid(void)
{
	if (self.uid == 0)
		set_effective(0, 1u << CAP_FSETID);
}

void caller_regain_fsetid(void)
{
	if (self.uid == 0)
		set_effective(0, 0);
}
