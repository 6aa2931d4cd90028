/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenPMIx 4 and 5 listen on TCP only, and its "native" security compares the
 * uid that a client states. "munge" would prove the uid, but a client hands its
 * credential to whoever listens on the port: when the agent is gone that can be
 * another user, who then holds a fresh credential of the victim. So the kernel
 * is asked whose socket the other end is (NETLINK_SOCK_DIAG, as ss does),
 * before the library reads the first byte of a connection: it would wait for
 * that byte without a limit, and serve nobody meanwhile.
 *
 * The library offers no hook there. This program defines accept() itself: the
 * dynamic linker prefers the program's functions to those of libc. */
#include "config.h"

#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* The kernel answers before send() returns; a bound all the same. */
enum { ANSWER_LIMIT_S = 1 };

/* All else in this program is hidden. */
#define EXPORT __attribute__((visibility("default")))

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 what;
};

union answer {
    struct nlmsghdr head;
    char bytes[1024]; /* the socket's, without attributes: 88 are used */
};

/* Returns 0, or -1 for a family that has no ports. */
static int put_end(const struct sockaddr_storage *addr, __be32 *host,
                   __be16 *port)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *) addr;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *) addr;

    if (addr->ss_family == AF_INET) {
        host[0] = v4->sin_addr.s_addr;
        *port = v4->sin_port;
        return 0;
    }
    if (addr->ss_family == AF_INET6) {
        memcpy(host, &v6->sin6_addr, sizeof(v6->sin6_addr));
        *port = v6->sin6_port;
        return 0;
    }
    errno = EAFNOSUPPORT;
    return -1;
}

static int exchange(const struct question *question, union answer *answer)
{
    struct timeval limit = {.tv_sec = ANSWER_LIMIT_S};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t got = -1;

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        send(fd, question, sizeof(*question), 0) == sizeof(*question))
        do
            got = recv(fd, answer->bytes, sizeof(answer->bytes), 0);
        while (got < 0 && errno == EINTR);
    close(fd);
    if (got < 0)
        return -1;
    if ((size_t) got < NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
        answer->head.nlmsg_type != SOCK_DIAG_BY_FAMILY) {
        errno = ENOENT;
        return -1;
    }
    return 0;
}

/* Is the socket whose own end is `own` and whose other end is `other` in that
 * state, and ours? A socket that was closed has no owner any more, and its uid
 * reads 0: hence the state. */
static bool is_ours(const struct sockaddr_storage *own,
                    const struct sockaddr_storage *other, uint8_t state)
{
    struct question question = {
        .head = {.nlmsg_len = sizeof(question),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .what = {.sdiag_family = (uint8_t) own->ss_family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = ~0U,
                 .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    struct inet_diag_sockid *id = &question.what.id;
    const struct inet_diag_msg *found;
    union answer answer;

    if (put_end(own, id->idiag_src, &id->idiag_sport) < 0 ||
        put_end(other, id->idiag_dst, &id->idiag_dport) < 0 ||
        exchange(&question, &answer) < 0)
        return false;
    found = NLMSG_DATA(&answer.head);
    errno = EPERM;
    return found->idiag_state == state && found->idiag_uid == getuid();
}

bool aspa_peer_is_ours(int fd)
{
    struct sockaddr_storage here = {0};
    struct sockaddr_storage there = {0};
    socklen_t here_size = sizeof(here);
    socklen_t there_size = sizeof(there);

    return getsockname(fd, (struct sockaddr *) &here, &here_size) == 0 &&
           getpeername(fd, (struct sockaddr *) &there, &there_size) == 0 &&
           is_ours(&there, &here, TCP_ESTABLISHED);
}

int aspa_peer_check(int listening, struct asp_err *err)
{
    struct sockaddr_storage here = {0};
    struct sockaddr_storage nobody = {0};
    socklen_t size = sizeof(here);

    if (getsockname(listening, (struct sockaddr *) &here, &size) == 0) {
        nobody.ss_family = here.ss_family;
        if (is_ours(&here, &nobody, TCP_LISTEN))
            return 0;
    }
    return asp_errf(err, errno,
                    "the kernel does not tell whose a connection is: %m");
}

/* In a thread of libpmix. After EAGAIN every release goes on listening; after
 * ECONNABORTED only those whose listener has a thread of its own (4.2.2), while
 * 4.2.9 and 5 close the socket: one connection of a stranger, or one that the
 * kernel says was aborted, would end the service. The peer that is refused sees
 * its connection closed. */
static int accept_ours(int fd, struct sockaddr *addr, socklen_t *size,
                       int flags)
{
    int got = (int) syscall(SYS_accept4, fd, addr, size, flags);

    if (got >= 0 && aspa_peer_is_ours(got))
        return got;
    if (got >= 0)
        close(got);
    if (got >= 0 || errno == ECONNABORTED)
        errno = EAGAIN;
    return -1;
}

EXPORT int accept(int fd, struct sockaddr *restrict addr,
                  socklen_t *restrict size)
{
    return accept_ours(fd, addr, size, 0);
}

/* 4.2 and 5.0 use accept(); a later one must not slip through. */
EXPORT int accept4(int fd, struct sockaddr *restrict addr,
                   socklen_t *restrict size, int flags)
{
    return accept_ours(fd, addr, size, flags);
}
