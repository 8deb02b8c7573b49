/* SPDX-License-Identifier: MIT */
/* Owners that clean up after themselves when they leave scope. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Attributes for locals: `auto_free char *s = NULL;`, `auto_close int fd = -1;`. */
#define auto_free     __attribute__((cleanup(cleanup_free)))
#define auto_close    __attribute__((cleanup(cleanup_close)))
#define auto_fclose   __attribute__((cleanup(cleanup_fclose)))
#define auto_closedir __attribute__((cleanup(cleanup_closedir)))

/* Hand ownership on: `return take_ptr(s);` leaves NULL behind, take_fd() leaves -1. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

static inline int take_fd_(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}
#define take_fd(fd) take_fd_(&(fd))

#endif
