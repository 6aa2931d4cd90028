/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock is a file beside the table, "PATH.lock", as the table itself is
 * replaced by each save. Its last holder takes it away: whoever gets the lock
 * of a file that has lost its name has waited for the wrong one, and begins
 * anew. flock(2) is gone with the process; NFS has it, too. */
#include "config.h"

#include "store.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RETRY_MS = 5 };

static bool has_name(int fd, const char *path)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* One try. Returns 0, EAGAIN (somebody has it), or what makes it useless. */
static int try_lock(struct asp_tune_store *store)
{
    int why = 0;

    store->lock = open(store->lock_path,
                       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                       0600);
    if (store->lock < 0)
        return errno;
    if (flock(store->lock, LOCK_EX | LOCK_NB) < 0)
        why = errno == EINTR ? EAGAIN : errno;
    else if (!has_name(store->lock, store->lock_path))
        why = EAGAIN;
    if (why) {
        close(store->lock);
        store->lock = -1;
    }
    return why;
}

bool asp_tune_store_open(struct asp_tune_store *store, const char *path,
                         int timeout_ms)
{
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    int64_t until_ms = asp_now_ms() + timeout_ms;
    int rc;

    *store = (struct asp_tune_store){.path = path, .lock = -1};
    if (asprintf(&store->lock_path, "%s.lock", path) < 0) {
        store->lock_path = NULL;
        return false;
    }
    while ((rc = try_lock(store)) == EAGAIN && asp_now_ms() < until_ms)
        nanosleep(&pause, NULL);
    return rc == 0;
}

void asp_tune_store_close(struct asp_tune_store *store)
{
    if (store->lock >= 0) {
        (void) unlink(store->lock_path);
        close(store->lock);
    }
    free(store->lock_path);
    *store = (struct asp_tune_store){.lock = -1};
}

/* A new file beside the table, with the rights that the user's mask leaves. */
static int create_beside(const char *path, char **name_p)
{
    uint64_t bits;
    int fd;

    *name_p = NULL;
    if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
        return -1;
    if (asprintf(name_p, "%s.%016" PRIx64, path, bits) < 0) {
        *name_p = NULL;
        errno = ENOMEM;
        return -1;
    }
    fd = open(*name_p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        free(*name_p);
        *name_p = NULL;
    }
    return fd;
}

static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(fd, text, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        text += n;
        bytes -= (size_t) n;
    }
    return 0;
}

int asp_tune_store_write(const struct asp_tune_store *store, const char *text,
                         size_t bytes)
{
    char *name;
    int fd = create_beside(store->path, &name), rc, why;

    if (fd < 0)
        return -1;
    rc = write_all(fd, text, bytes);
    why = errno;
    if (close(fd) < 0 && rc == 0) {
        rc = -1;
        why = errno;
    }
    if (rc == 0 && rename(name, store->path) < 0) {
        rc = -1;
        why = errno;
    }
    if (rc < 0)
        (void) unlink(name);
    free(name);
    errno = why;
    return rc;
}
