/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks through /dev/shm for names of Aspen's form whose lock nobody holds, and
 * removes them. To hold a name is to lock its descriptor. */
#include "config.h"

#include "stale.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES_MAX = 4096 }; /* the folder is everybody's */

void aspx_node_stale_hold(int fd)
{
    (void) flock(fd, LOCK_EX | LOCK_NB);
}

/* "aspen-" and 32 digits. */
static bool is_ours(const char *name)
{
    return strncmp(name, "aspen-", 6) == 0 &&
           strspn(name + 6, "0123456789abcdef") == 32 && strlen(name) == 6 + 32;
}

static bool is_stale(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() && time(NULL) - st.st_mtime > ASPX_STALE_S &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void aspx_node_stale_clean(void)
{
    DIR *dir = opendir("/dev/shm");
    struct dirent *entry;

    for (int i = 0; dir && i < ENTRIES_MAX && (entry = readdir(dir)); i++) {
        int fd = is_ours(entry->d_name)
                     ? openat(dirfd(dir), entry->d_name,
                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                     : -1;

        if (fd < 0)
            continue;
        if (is_stale(fd))
            (void) unlinkat(dirfd(dir), entry->d_name, 0);
        close(fd);
    }
    if (dir)
        closedir(dir);
}
