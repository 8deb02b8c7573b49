/* SPDX-License-Identifier: MIT */
#include "ops.h"

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	/*
	 * Not wanted: READDIRPLUS hides lookups, the write-back cache hides and reorders writes,
	 * splicing is slower than copying at these sizes.
	 */
	const unsigned off = FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
	                     FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_SPLICE_READ |
	                     FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
	                     FUSE_CAP_HANDLE_KILLPRIV;
	const unsigned on = FUSE_CAP_DONT_MASK | FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS |
	                    FUSE_CAP_POSIX_ACL;

	conn->want = (conn->want & ~off) | (conn->capable & on);
	conn->max_background = 256;
	conn->congestion_threshold = 192;
}

const struct fuse_lowlevel_ops session_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.releasedir = op_releasedir,
	.fsyncdir = op_fsyncdir,
	.statfs = op_statfs,
	.setxattr = op_setxattr,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.removexattr = op_removexattr,
	.create = op_create,
	.getlk = op_getlk,
	.setlk = op_setlk,
	.flock = op_flock,
	.fallocate = op_fallocate,
	.copy_file_range = op_copy_file_range,
	.lseek = op_lseek,
	.ioctl = op_ioctl,
};
