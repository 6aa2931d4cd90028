/* SPDX-License-Identifier: BSD-3-Clause */
/* PMI-1 messages on the socket in PMI_FD; before each, the socket is compared
 * with the one that was there before MPI_Init. */
#include "config.h"

#include "manager.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* How long to wait for what the manager does: it ends the job, or closes.
     */
    ANSWER_MS = 5000,
    FINALIZE_MS = 60000, /* for another thread, to come through MPI_Finalize */
};

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

void aspx_manager_greet(void)
{
    struct pollfd answers = {.fd = find_socket(), .events = POLLIN};
    char answer[256];

    if (send_message(answers.fd, "cmd=init pmi_version=1 pmi_subversion=1\n") &&
        poll(&answers, 1, ANSWER_MS) > 0)
        (void) recv(answers.fd, answer, sizeof(answer), MSG_DONTWAIT);
}

void aspx_manager_abort(void)
{
    if (send_message(find_socket(), "cmd=abort exitcode=1\n"))
        (void) poll(NULL, 0, ANSWER_MS);
}

/* It answers, which nobody reads, and closes its end. */
void aspx_manager_leave(void)
{
    struct pollfd closed = {.fd = find_socket(), .events = POLLRDHUP};

    if (send_message(closed.fd, "cmd=finalize\n"))
        (void) poll(&closed, 1, ANSWER_MS);
}

void aspx_manager_await_finalize(void)
{
    struct pollfd closed = {.fd = find_socket(), .events = POLLRDHUP};

    (void) poll(&closed, 1, FINALIZE_MS);
}
