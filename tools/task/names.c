/* SPDX-License-Identifier: BSD-3-Clause */
/* No step waits for another user: a socket that does not take a connection at
 * once is tried again later, one of another user is closed as soon as the
 * kernel has said so. */
#include "config.h"

#include "names.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    RETRY_MS = 2, /* between two looks at first, then twice as long each time */
    RETRY_MAX_MS = 32,
    LINE_MAX = 256, /* of /proc/net/unix: a name has 108 bytes */
};

/* When a process started, in clock ticks since boot; 0 where /proc hides it. */
static unsigned long long start_of(pid_t pid)
{
    char path[64], line[1024], *behind = NULL;
    unsigned long long start = 0;
    FILE *stat;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    stat = fopen(path, "re");
    if (stat && fgets(line, sizeof(line), stat))
        behind = strrchr(line, ')');
    if (behind) /* fields 3 to 21, then the start */
        sscanf(behind + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %*d %*d %llu",
               &start);
    if (stat)
        fclose(stat);
    return start;
}

static socklen_t length_of(const struct sockaddr_un *address)
{
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        strlen(address->sun_path + 1));
}

/* Process ids mean something in a namespace only; that of sockets may be a
 * larger one (containers with the host's network). */
socklen_t aspt_names_plain(struct sockaddr_un *address)
{
    struct stat space = {.st_ino = 0};

    (void) stat("/proc/self/ns/pid", &space);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
             "aspen-%u-%llu-%d-%llu", (unsigned) geteuid(),
             (unsigned long long) space.st_ino, (int) getppid(),
             start_of(getppid()));
    return length_of(address);
}

bool aspt_names_is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           peer.uid == geteuid();
}

static int new_socket(int flags)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
}

/* A connection to a process of this user that listens by this name, or -1. The
 * listener's user is known before it accepts.
 *   foreign_p  set if one of another user does */
static int reach(const struct sockaddr_un *address, bool *foreign_p)
{
    int fd = new_socket(SOCK_NONBLOCK);

    if (fd >= 0 && connect(fd, (const struct sockaddr *) address,
                           length_of(address)) == 0) {
        if (aspt_names_is_ours(fd))
            return fd;
        *foreign_p = true;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- the leader ------------------------------------------------------------- */

static int bind_plain(int fd, struct sockaddr_un *address)
{
    return bind(fd, (struct sockaddr *) address, aspt_names_plain(address));
}

/* The plain name is taken. */
static int bind_random(int fd, struct sockaddr_un *address)
{
    size_t used = strlen(address->sun_path + 1) + 1;
    bool foreign = false;
    uint64_t bits;
    int leader = reach(address, &foreign);

    if (leader >= 0) {
        close(leader);
        errno = EADDRINUSE;
        return -1;
    }
    if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
        return -1;
    snprintf(address->sun_path + used, sizeof(address->sun_path) - used,
             "-%016llx", (unsigned long long) bits);
    return bind(fd, (struct sockaddr *) address, length_of(address));
}

int aspt_names_listen(struct asp_err *err)
{
    struct sockaddr_un address;
    int fd = new_socket(0), why;

    if (fd >= 0 &&
        (bind_plain(fd, &address) == 0 ||
         (errno == EADDRINUSE && bind_random(fd, &address) == 0)) &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    why = errno;
    if (fd >= 0)
        close(fd);
    return asp_errf(err, why, "the tasks of this node cannot meet: %s",
                    strerror(why));
}

/* ---- a follower ------------------------------------------------------------- */

/* "0000000096979b3e: 00000002 00000000 00010000 0005 01 9579 @aspen-...". Names
 * may contain anything, line ends too. Returns whether a random name of the
 * plain one is in the line. */
static bool read_name(const char *line, const struct sockaddr_un *plain,
                      struct sockaddr_un *address)
{
    const char *name = strchr(line, '@');
    size_t used = strlen(plain->sun_path + 1), len;

    if (!name || strncmp(name + 1, plain->sun_path + 1, used) != 0 ||
        name[1 + used] != '-')
        return false;
    len = strcspn(name + 1, "\n");
    if (len >= sizeof(address->sun_path) - 1)
        return false;
    *address = *plain;
    memcpy(address->sun_path + 1, name + 1, len);
    return true;
}

/* Among all sockets of this machine. */
static int reach_random(const struct sockaddr_un *plain, long long until_ms,
                        bool *foreign_p)
{
    FILE *list = fopen("/proc/net/unix", "re");
    struct sockaddr_un address;
    char line[LINE_MAX];
    int fd = -1;

    while (list && fd < 0 && fgets(line, sizeof(line), list) &&
           asp_now_ms() < until_ms)
        if (read_name(line, plain, &address))
            fd = reach(&address, foreign_p);
    if (list)
        fclose(list);
    return fd;
}

int aspt_names_connect(long long until_ms, struct asp_err *err)
{
    long long pause_ms = RETRY_MS;
    struct sockaddr_un plain;
    bool foreign = false;
    int fd;

    (void) aspt_names_plain(&plain);
    while ((fd = reach(&plain, &foreign)) < 0 &&
           (fd = reach_random(&plain, until_ms, &foreign)) < 0) {
        const struct timespec pause = {.tv_nsec = pause_ms * 1000000};

        if (asp_now_ms() >= until_ms)
            return asp_errf(err, ETIMEDOUT,
                            "the first task of this node did not come%s",
                            foreign ? ", and another user of the node has "
                                      "sockets of its name"
                                    : "");
        nanosleep(&pause, NULL);
        pause_ms = 2 * pause_ms < RETRY_MAX_MS ? 2 * pause_ms : RETRY_MAX_MS;
    }
    (void) fcntl(fd, F_SETFL, 0);
    return fd;
}
