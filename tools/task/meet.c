/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequenced packets: a hello and an answer are one message each. */
#include "config.h"

#include "meet.h"

#include "common/base/clock.h"
#include "common/layout/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    MEETING_VERSION = 1,
    RETRY_MS = 2,      /* between two tries to reach the leader */
    MESSAGE_MS = 5000, /* for one message between two that are there */
};

struct hello {
    uint32_t version;
    uint32_t local;
    struct asp_cpuset cpus;
};

struct answer {
    uint32_t version;
    uint32_t verdict;
    char text[ASP_LAYOUT_TEXT_MAX];
};

/* ---- the name, and who is there --------------------------------------------- */

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

/* Process ids mean something in a namespace only; that of sockets may be a
 * larger one (containers with the host's network). */
static socklen_t make_name(struct sockaddr_un *address)
{
    struct stat space = {.st_ino = 0};
    int len;

    (void) stat("/proc/self/ns/pid", &space);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    len = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                   "aspen-%u-%llu-%d-%llu", (unsigned) geteuid(),
                   (unsigned long long) space.st_ino, (int) getppid(),
                   start_of(getppid()));
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) len);
}

/* Is the other end a process of this user? The kernel says it. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           peer.uid == geteuid();
}

static void set_timeouts(int fd, int timeout_ms)
{
    struct timeval limit = {.tv_sec = timeout_ms / 1000,
                            .tv_usec = timeout_ms % 1000 * 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/* ---- the leader -------------------------------------------------------------- */

static int open_meeting(struct aspt_meeting *meeting, struct asp_err *err)
{
    struct sockaddr_un address;
    socklen_t len = make_name(&address);

    meeting->guests = malloc(meeting->nlocal * sizeof(*meeting->guests));
    for (uint32_t i = 0; meeting->guests && i < meeting->nlocal; i++)
        meeting->guests[i] = -1;
    meeting->socket = new_socket();
    if (!meeting->guests || meeting->socket < 0 ||
        bind(meeting->socket, (struct sockaddr *) &address, len) < 0 ||
        listen(meeting->socket, (int) meeting->nlocal) < 0)
        return asp_errf(err, errno, "the tasks of this node cannot meet: %s",
                        strerror(errno));
    return 0;
}

static void add_cpus(struct asp_cpuset *to, const struct asp_cpuset *from)
{
    for (size_t i = 0; i < ASP_CPUSET_WORDS; i++)
        to->word[i] |= from->word[i];
}

/* A process that was stopped and continued is interrupted here, though it has
 * no handler: signal(7). */
static ssize_t receive_message(int fd, struct msghdr *message)
{
    ssize_t got;

    do
        got = recvmsg(fd, message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    return got;
}

static bool receive_hello(int fd, struct hello *hello)
{
    struct iovec bytes = {.iov_base = hello, .iov_len = sizeof(*hello)};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

    return receive_message(fd, &message) == sizeof(*hello);
}

/* Anybody may connect. Returns whether it is a task that was missing.
 */
static bool admit(struct aspt_meeting *meeting, int fd)
{
    struct hello hello;

    set_timeouts(fd, MESSAGE_MS);
    if (!is_ours(fd) || !receive_hello(fd, &hello) ||
        hello.version != MEETING_VERSION || hello.local == 0 ||
        hello.local >= meeting->nlocal || meeting->guests[hello.local] >= 0) {
        close(fd);
        return false;
    }
    meeting->guests[hello.local] = fd;
    add_cpus(&meeting->cpus, &hello.cpus);
    return true;
}

int aspt_meet_gather(struct aspt_meeting *meeting, uint32_t nlocal,
                     const struct asp_cpuset *cpus, int timeout_ms,
                     struct asp_err *err)
{
    long long until_ms = asp_now_ms() + timeout_ms;
    uint32_t here = 1;

    *meeting = (struct aspt_meeting){
        .socket = -1, .nlocal = nlocal, .cpus = *cpus};
    if (open_meeting(meeting, err) < 0)
        return -1;
    while (here < nlocal) {
        struct pollfd wait = {.fd = meeting->socket, .events = POLLIN};
        long long left = until_ms - asp_now_ms();
        int fd = -1;

        if (left <= 0)
            return asp_errf(err, ETIMEDOUT,
                            "only %" PRIu32 " of %" PRIu32
                            " tasks of this node came within %d s",
                            here, nlocal, timeout_ms / 1000);
        if (poll(&wait, 1, (int) left) > 0)
            fd = accept4(meeting->socket, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            here += admit(meeting, fd);
    }
    return 0;
}

/* A message with a descriptor, or without. */
static void send_answer(int fd, struct iovec *bytes, int board)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.room = {0}};
    struct msghdr message = {.msg_iov = bytes, .msg_iovlen = 1};
    struct cmsghdr *head;

    if (board >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof(control.room);
        head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &board, sizeof(int));
    }
    (void) sendmsg(fd, &message, MSG_NOSIGNAL);
}

void aspt_meet_answer(const struct aspt_meeting *meeting,
                      const struct aspt_decision *decision)
{
    struct answer *answer = calloc(1, sizeof(*answer));
    struct iovec bytes = {.iov_base = answer};

    if (!answer || !meeting->guests) {
        free(answer);
        return;
    }
    answer->version = MEETING_VERSION;
    answer->verdict = decision->verdict;
    snprintf(answer->text, sizeof(answer->text), "%s",
             decision->text ? decision->text : "");
    bytes.iov_len = offsetof(struct answer, text) + strlen(answer->text) + 1;
    for (uint32_t i = 0; i < meeting->nlocal; i++)
        if (meeting->guests[i] >= 0)
            send_answer(meeting->guests[i], &bytes, decision->board);
    free(answer);
}

void aspt_meet_close(struct aspt_meeting *meeting)
{
    for (uint32_t i = 0; meeting->guests && i < meeting->nlocal; i++)
        if (meeting->guests[i] >= 0)
            close(meeting->guests[i]);
    free(meeting->guests);
    meeting->guests = NULL;
    if (meeting->socket >= 0)
        close(meeting->socket);
    meeting->socket = -1;
}

/* ---- a follower --------------------------------------------------------------- */

/* The leader may not be there yet. */
static int reach_leader(int fd, long long until_ms, struct asp_err *err)
{
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    struct sockaddr_un address;
    socklen_t len = make_name(&address);

    set_timeouts(fd, MESSAGE_MS);
    while (connect(fd, (struct sockaddr *) &address, len) < 0) {
        if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
            return asp_errf(err, errno,
                            "the tasks of this node cannot meet: %s",
                            strerror(errno));
        if (asp_now_ms() >= until_ms)
            return asp_errf(err, ETIMEDOUT,
                            "the first task of this node did not come");
        nanosleep(&pause, NULL);
    }
    if (!is_ours(fd))
        return asp_errf(err, EPERM,
                        "the tasks of this node cannot meet: another user "
                        "took the name of their socket");
    return 0;
}

/* Returns the bytes of the message, 0 at the end, or -1; and a descriptor. */
static ssize_t receive(int fd, struct answer *answer, int *board_p)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec bytes = {.iov_base = answer, .iov_len = sizeof(*answer)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof(control.room)};
    ssize_t got = receive_message(fd, &message);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    *board_p = -1;
    if (head && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(board_p, CMSG_DATA(head), sizeof(int));
    return got;
}

static int take_answer(int fd, struct answer *answer,
                       struct aspt_decision *out_p, struct asp_err *err)
{
    const size_t head = offsetof(struct answer, text);
    ssize_t got = receive(fd, answer, &out_p->board);
    size_t len = got > 0 ? (size_t) got : 0;

    if (got < 0 && errno == EAGAIN)
        return asp_errf(err, ETIMEDOUT,
                        "the first task of this node did not answer");
    if (len == 0)
        return asp_errf(err, ECONNRESET, "the first task of this node is gone");
    if (len <= head || answer->version != MEETING_VERSION ||
        answer->verdict > ASPT_GIVE_UP || answer->text[len - head - 1] != '\0')
        return asp_errf(err, EPROTO,
                        "the first task of this node is of another version of "
                        "Aspen");
    out_p->verdict = (enum aspt_verdict) answer->verdict;
    out_p->text = strdup(answer->text);
    return out_p->text ? 0 : asp_errf(err, ENOMEM, "out of memory");
}

int aspt_meet_follow(uint32_t local, const struct asp_cpuset *cpus,
                     int timeout_ms, struct aspt_decision *out_p,
                     struct asp_err *err)
{
    long long until_ms = asp_now_ms() + timeout_ms, left;
    struct hello hello = {
        .version = MEETING_VERSION, .local = local, .cpus = *cpus};
    struct answer *answer = malloc(sizeof(*answer));
    int fd = new_socket(), rc = -1;

    *out_p = (struct aspt_decision){.board = -1};
    if (!answer || fd < 0)
        asp_errf(err, errno, "the tasks of this node cannot meet: %s",
                 strerror(errno));
    else if (reach_leader(fd, until_ms, err) == 0) {
        left = until_ms - asp_now_ms();
        if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
            asp_errf(err, errno, "the first task of this node is gone");
        else {
            set_timeouts(fd, left > RETRY_MS ? (int) left : RETRY_MS);
            rc = take_answer(fd, answer, out_p, err);
        }
    }
    free(answer);
    if (fd >= 0)
        close(fd);
    return rc;
}
