/* SPDX-License-Identifier: BSD-3-Clause */
/* See shared_file.h. */
#include "config.h"

#include "shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int aspx_shared_file_describe(int fd, struct aspx_shared_file *handle_p)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return -1;
    *handle_p = (struct aspx_shared_file){
        .pid = (int32_t) getpid(),
        .fd = fd,
        .inode = st.st_ino,
        .bytes = (uint64_t) st.st_size,
    };
    return 0;
}

bool aspx_shared_file_fits(int fd, uint64_t inode, uint64_t bytes)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (inode == 0 || st.st_ino == inode) &&
           (uint64_t) st.st_size == bytes && st.st_uid == geteuid();
}

int aspx_shared_file_open(const struct aspx_shared_file *handle)
{
    char path[64];
    int fd;

    if (handle->bytes == 0) {
        errno = ENOENT;
        return -1;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle->pid, handle->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && !aspx_shared_file_fits(fd, handle->inode, handle->bytes)) {
        close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}
