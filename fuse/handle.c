/* SPDX-License-Identifier: MIT */
#include "handle.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "lower.h"
#include "vec.h"

int handle_flags_below(int flags, bool strip_direct)
{
	int keep = O_ACCMODE | O_TRUNC | O_EXCL | O_NOATIME | O_DIRECTORY;

	return flags & (strip_direct ? keep : keep | O_DIRECT);
}

struct handle *handle_new(struct inode_table *t, struct inode *i, uint64_t id, int fd, int flags)
{
	struct handle *h = ALLOC(struct handle);
	bool direct = fcntl(fd, F_GETFL) & O_DIRECT;

	*h = (struct handle){.inode = i, .id = id, .flags = flags};
	h->fd[direct] = fd;
	h->fd[!direct] = -1;
	pthread_mutex_init(&h->lock, NULL);
	inode_ref(t, i);
	return h;
}

void handle_free(struct inode_table *t, struct handle *h)
{
	for (int i = 0; i < 2; i++)
		if (h->fd[i] >= 0)
			close(h->fd[i]);
	inode_unref(t, h->inode);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

int handle_any_fd(const struct handle *h)
{
	int fd = h->fd[0];

	return fd >= 0 ? fd : h->fd[1];
}

static int open_other(struct handle *h, bool direct)
{
	pthread_mutex_lock(&h->lock);
	int fd = h->fd[direct];
	if (fd < 0) {
		int flags = fcntl(h->fd[!direct], F_GETFL) & (O_ACCMODE | O_APPEND);
		fd = lower_reopen(h->fd[!direct], flags | (direct ? O_DIRECT : 0));
		if (fd >= 0)
			h->fd[direct] = fd;
	}
	pthread_mutex_unlock(&h->lock);
	return fd;
}

int handle_fd(struct handle *h, bool direct)
{
	int fd = h->fd[direct];

	return fd >= 0 ? fd : open_other(h, direct);
}
