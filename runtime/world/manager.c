/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "manager.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MS = 5000 };

static struct stat known; /* st_mode 0: none */

static int number(void)
{
    const char *text = getenv("PMI_FD");
    int fd = text ? atoi(text) : -1;

    return fd > 2 ? fd : -1;
}

void aspx_manager_know(void)
{
    if (fstat(number(), &known) != 0 || !S_ISSOCK(known.st_mode))
        known.st_mode = 0;
}

/* The socket if it is still what it was, or -1. */
static int find(void)
{
    struct stat now;
    int fd = number();

    return known.st_mode && fstat(fd, &now) == 0 &&
                   now.st_dev == known.st_dev && now.st_ino == known.st_ino
               ? fd
               : -1;
}

static bool say(int fd, const char *message)
{
    return fd >= 0 && send(fd, message, strlen(message), MSG_NOSIGNAL) > 0;
}

void aspx_manager_abort(void)
{
    if (say(find(), "cmd=abort exitcode=1\n"))
        (void) poll(NULL, 0, ANSWER_MS);
}

/* It answers, which nobody reads, and closes its end. */
void aspx_manager_leave(void)
{
    struct pollfd closed = {.fd = find(), .events = POLLRDHUP};

    if (say(closed.fd, "cmd=finalize\n"))
        (void) poll(&closed, 1, ANSWER_MS);
}
