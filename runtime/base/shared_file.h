/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory file without a name (memfd) that one process of a node makes and
 * others of the same user open through /proc/PID/fd. What is sent to them is a
 * handle; nothing in it is believed before the file that it leads to fits. */
#ifndef ASPEN_RUNTIME_BASE_SHARED_FILE_H
#define ASPEN_RUNTIME_BASE_SHARED_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Sent from process to process as it is. */
struct aspx_shared_file {
    int32_t pid, fd; /* of its maker, which keeps it open meanwhile */
    uint64_t inode;
    uint64_t bytes; /* of the file; 0: there is none */
};

/* The handle of a file that this process has open as fd. Returns 0, or -1 with
 * errno of fstat(). */
int aspx_shared_file_describe(int fd, struct aspx_shared_file *handle_p);

/* Open it. Returns a descriptor (close-on-exec), or -1 with errno: ENOENT (no
 * file), EACCES and the like (/proc), ESTALE (what is there is another one: in
 * another pid namespace the number may be somebody else's, or that of another
 * user). */
int aspx_shared_file_open(const struct aspx_shared_file *handle);

/* Does an open file belong to this user and have this inode and length? An
 * inode of 0 fits any. */
bool aspx_shared_file_fits(int fd, uint64_t inode, uint64_t bytes);

#endif
