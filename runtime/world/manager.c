/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-1 messages on the socket in PMI_FD; before each, the socket is compared
 * with the one that was there before MPI_Init. */
#include "config.h"

#include "manager.h"

#include "runtime/base/backoff.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat known; /* st_mode 0: none */

static int find_fd(void)
{
    const char *text = getenv("PMI_FD");
    int fd = text ? atoi(text) : -1;

    return fd > 2 ? fd : -1;
}

void aspx_manager_note_socket(void)
{
    if (fstat(find_fd(), &known) != 0 || !S_ISSOCK(known.st_mode))
        known.st_mode = 0;
}

/* The socket if it is still what it was, or -1. */
static int find_socket(void)
{
    struct stat now;
    int fd = find_fd();

    return known.st_mode && fstat(fd, &now) == 0 &&
                   now.st_dev == known.st_dev && now.st_ino == known.st_ino
               ? fd
               : -1;
}

static bool send_message(int fd, const char *message)
{
    return fd >= 0 && send(fd, message, strlen(message), MSG_NOSIGNAL) > 0;
}

/* Returns whether the manager has answered, or closed its end (POLLRDHUP). */
static bool has_come(int fd, short events, enum aspx_waiter waiter)
{
    enum { US_PER_MS = 1000 };
    struct pollfd manager = {.fd = fd, .events = events};

    return poll(&manager, 1,
                (int) (aspx_wait_table[waiter].max_us / US_PER_MS)) > 0;
}

void aspx_manager_greet(void)
{
    int fd = find_socket();
    char answer[256];

    if (send_message(fd, "cmd=init pmi_version=1 pmi_subversion=1\n") &&
        has_come(fd, POLLIN, ASPX_WAIT_MANAGER))
        (void) recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
}

void aspx_manager_abort(void)
{
    if (send_message(find_socket(), "cmd=abort exitcode=1\n"))
        aspx_backoff_nap(ASPX_WAIT_MANAGER);
}

/* It answers, which nobody reads, and closes its end. */
void aspx_manager_leave(void)
{
    int fd = find_socket();

    if (send_message(fd, "cmd=finalize\n"))
        (void) has_come(fd, POLLRDHUP, ASPX_WAIT_MANAGER);
}

void aspx_manager_await_finalize(void)
{
    (void) has_come(find_socket(), POLLRDHUP, ASPX_WAIT_FINALIZE);
}
