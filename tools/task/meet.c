/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequenced packets: a hello and an answer are one message each. */
#include "config.h"

#include "meet.h"

#include "names.h"

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
#include <sys/time.h>
#include <unistd.h>

enum {
    MEETING_VERSION = 1,
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

static void set_timeouts(int fd, int timeout_ms)
{
    struct timeval limit = {.tv_sec = timeout_ms / 1000,
                            .tv_usec = timeout_ms % 1000 * 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* ---- the leader -------------------------------------------------------------- */

static int open_meeting(struct aspt_meeting *meeting, struct asp_err *err)
{
    meeting->guests = malloc(meeting->nlocal * sizeof(*meeting->guests));
    if (!meeting->guests)
        return asp_errf(err, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < meeting->nlocal; i++)
        meeting->guests[i] = -1;
    meeting->socket = aspt_names_listen(err);
    return meeting->socket < 0 ? -1 : 0;
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

/* Anybody may connect. Returns whether it is a task that was missing. */
static bool admit(struct aspt_meeting *meeting, int fd)
{
    struct hello hello;

    set_timeouts(fd, MESSAGE_MS);
    if (!aspt_names_is_ours(fd) || !receive_hello(fd, &hello) ||
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
        char buffer[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {.buffer = {0}};
    struct msghdr message = {.msg_iov = bytes, .msg_iovlen = 1};
    struct cmsghdr *head;

    if (board >= 0) {
        message.msg_control = control.buffer;
        message.msg_controllen = sizeof(control.buffer);
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

/* Returns the bytes of the message, 0 at the end, or -1; and a descriptor. */
static ssize_t receive(int fd, struct answer *answer, int *board_p)
{
    union {
        char buffer[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec bytes = {.iov_base = answer, .iov_len = sizeof(*answer)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.buffer,
                             .msg_controllen = sizeof(control.buffer)};
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
    out_p->verdict = (enum aspt_outcome) answer->verdict;
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
    int fd = -1, rc = -1;

    *out_p = (struct aspt_decision){.board = -1};
    if (!answer)
        asp_errf(err, ENOMEM, "out of memory");
    else if ((fd = aspt_names_connect(until_ms, err)) >= 0) {
        set_timeouts(fd, MESSAGE_MS);
        left = until_ms - asp_now_ms();
        if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
            asp_errf(err, errno, "the first task of this node is gone");
        else {
            set_timeouts(fd, left > 1 ? (int) left : 1);
            rc = take_answer(fd, answer, out_p, err);
        }
    }
    free(answer);
    if (fd >= 0)
        close(fd);
    return rc;
}
