/* SPDX-License-Identifier: MIT */
/*
 * The members of the kernel's structures that the BPF programs read, by name: libbpf finds where
 * they are in the running kernel. Order and gaps mean nothing here.
 */
#ifndef KERNEL_H
#define KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
};

struct fuse_inode {
	struct inode inode;
	__u64 nodeid;
};

struct fuse_file {
	__u64 fh;
};

struct fuse_conn {
	__u32 dev;
};

struct fuse_mount {
	struct fuse_conn *fc;
};

struct fuse_in_header {
	__u32 opcode;
	__u32 pid;
};

struct fuse_req {
	struct {
		struct fuse_in_header h;
	} in;
	struct fuse_mount *fm;
};

struct file {
	void *private_data;
	struct inode *f_inode;
	unsigned int f_flags;
	long long f_pos;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct dentry {
	struct inode *d_inode;
};

struct path {
	struct dentry *dentry;
};

struct fs_struct {
	struct path pwd;
};

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
};

struct vm_area_struct {
	struct file *vm_file;
};

struct linux_binprm;

struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9;
};

struct io_ring_ctx;

struct io_cqe {
	__u64 user_data;
	__s32 res;
	__s32 fd;
};

struct io_kiocb {
	struct file *file;
	__u8 opcode;
	__u32 flags;
	struct io_cqe cqe;
};

struct kiocb {
	long long ki_pos;
};

struct io_rw {
	struct kiocb kiocb;
	__u32 len;
	__u32 flags;
};

struct io_sync {
	long long len;
	long long off;
	int flags;
};

#pragma clang attribute pop

#endif
