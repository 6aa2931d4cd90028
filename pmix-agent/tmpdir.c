/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's private directory: made before the server starts, removed
 * right after, since the server keeps no file in it. Only an agent that is
 * killed in those few milliseconds leaves one behind; the next agent of the
 * same user finds it by its name, sees that the pid in it is gone, and
 * removes it. All steps are relative to a descriptor and follow no link:
 * base is usually /tmp, where others write too. */
#include "config.h"

#include "tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries of base that are looked at, in search of a dead agent's: others may
 * have put any number there. 16 random names that all exist are no accident. */
enum { DEPTH_MAX = 2, LOOK_MAX = 16384, STALE_MAX = 64, NAMES_MAX = 16 };

static void remove_at(int parent, const char *name, int depth)
{
    int fd = openat(parent, name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct dirent *entry;
    DIR *dir;

    /* Not a directory, or no descriptors left: an empty one goes even so. */
    if (fd < 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0)
        unlinkat(parent, name, 0);
    if (fd < 0)
        return;
    dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return;
    }
    while (depth > 0 && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_at(dirfd(dir), entry->d_name, depth - 1);
    closedir(dir);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void aspa_tmpdir_remove(const char *path)
{
    if (path[0] != '\0')
        remove_at(AT_FDCWD, path, DEPTH_MAX);
}

/* Is this name a directory of a dead agent of ours? */
static bool is_stale(int base, const char *name, const char *prefix)
{
    const char *dot = strrchr(name, '.');
    struct stat st;
    char *end;
    long pid;

    if (strncmp(name, prefix, strlen(prefix)) != 0 || dot == NULL)
        return false;
    pid = strtol(dot + 1, &end, 10);
    if (*end != '\0' || end == dot + 1 || pid <= 0)
        return false;
    if (kill((pid_t) pid, 0) == 0 || errno != ESRCH)
        return false;
    return fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode) && st.st_uid == getuid();
}

static void remove_stale(int base, const char *prefix)
{
    int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    int removed = 0;
    int looked = 0;

    if (dir == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while (removed < STALE_MAX && looked++ < LOOK_MAX &&
           (entry = readdir(dir)) != NULL) {
        if (is_stale(base, entry->d_name, prefix)) {
            remove_at(base, entry->d_name, DEPTH_MAX);
            removed++;
        }
    }
    closedir(dir);
}

/* A name that nobody could take before us: base is writable for all. */
static int make_at(int base, const char *prefix, const char *job, unsigned node,
                   char *name, size_t size)
{
    int rc = -1;

    for (int i = 0; i < NAMES_MAX && rc < 0; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return -1;
        snprintf(name, size, "%s%s.%u.%016" PRIx64 ".%d", prefix, job, node,
                 random, (int) getpid());
        rc = mkdirat(base, name, 0700);
        if (rc < 0 && errno != EEXIST)
            return -1;
    }
    return rc;
}

int aspa_tmpdir_make(const char *base, const char *job, unsigned node,
                     char *path, size_t size, struct asp_err *err)
{
    char prefix[64];
    char name[256] = "";
    int fd;
    int n;

    if (strlen(base) + sizeof(name) + 1 > size)
        return asp_errf(err, ENAMETOOLONG, "%.200s: name too long", base);
    snprintf(prefix, sizeof(prefix), "aspen-%u-", (unsigned) getuid());
    fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return asp_errf(err, errno, "cannot open %.200s: %m", base);
    remove_stale(fd, prefix);
    n = make_at(fd, prefix, job, node, name, sizeof(name));
    if (n < 0)
        asp_errf(err, errno, "cannot make %.200s/%.100s: %m", base, name);
    else
        snprintf(path, size, "%s/%s", base, name);
    close(fd);
    return n;
}
