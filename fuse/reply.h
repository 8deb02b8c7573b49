/* SPDX-License-Identifier: MIT */
/* Answers: each gives the record its result, then answers the application. */
#ifndef REPLY_H
#define REPLY_H

#include "scope.h"

struct caller;

/* 0 or -errno. */
void reply_error(struct scope *rec, int r);
/* A file found or made; takes back the lookup when the caller is gone. */
void reply_entry(struct scope *rec, struct inode *i, const struct stat *st);
struct fuse_entry_param reply_entry_param(
	const struct capture *c, struct inode *i, const struct stat *st);
void reply_attr(struct scope *rec, struct inode *i, const struct stat *st);
/* Bytes, or -errno. */
void reply_data(struct scope *rec, const void *data, ssize_t size);
void reply_count(struct scope *rec, ssize_t count);
/* An attribute's value, or its length when no room was offered. */
void reply_xattr(struct scope *rec, const void *value, ssize_t size, size_t room);

/* Before the answer to a call that took set-id bits: the kernel, which cannot know, shall ask for
 * the mode again. `fd`: any descriptor of the file. */
void reply_lost_set_id(struct capture *c, struct inode *i, int fd);

/* Who makes something. */
struct caller reply_caller(fuse_req_t req);
struct capture *reply_capture(fuse_req_t req);

#endif
