/* SPDX-License-Identifier: BSD-3-Clause */
/* libmpich closes each UCX connection with ucp_disconnect_nb() and then asks
 * ucp_request_is_completed() until it is so. Both lead here (plt_patch.h), and
 * the second is answered by what the kernel's send queues still hold. */
#include "config.h"

#include "tcp_finalize_fix.h"

#include "fixes.h"
#include "plt_patch.h"

#include "runtime/base/clock.h"

#include <dirent.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* The sockets are checked this often, in ns: some round trips. When so many
 * checks in a row find nothing under way, connections count as closed. */
enum { CHECK_PERIOD_NS = 10000000, QUIET_CHECKS = 5 };

/* UCX's functions; handles are pointers of its own. */
typedef void *disconnect_f(void *connection);
typedef int is_completed_f(void *request);
typedef void print_f(void *connection, FILE *to);

static disconnect_f *disconnect;
static is_completed_f *is_completed;
static print_f *print;

/* Connections that are being closed. */
static struct closing {
    void *connection, *request;
    enum { NOT_ASKED, TCP, OTHER } leads;
} * closing;
static size_t nclosing, capacity;

static uint64_t checked_ns;
static unsigned quiet_checks; /* in a row */

static int socket_option(int fd, int name)
{
    int value = -1;
    socklen_t size = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

/* Bytes that the peer's kernel has not acknowledged? Of other streams between
 * nodes than those of TCP it is not known. */
static bool may_have_unsent(int fd)
{
    int bytes = 0;

    if (socket_option(fd, SO_TYPE) != SOCK_STREAM ||
        socket_option(fd, SO_DOMAIN) == AF_UNIX)
        return false;
    if (socket_option(fd, SO_PROTOCOL) != IPPROTO_TCP)
        return true;
    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static bool all_is_sent(void)
{
    DIR *fds = opendir("/proc/self/fd");
    bool unsent = !fds; /* then it is not known */
    struct dirent *entry;

    while (!unsent && (entry = readdir(fds)))
        unsent = may_have_unsent(atoi(entry->d_name));
    if (fds)
        closedir(fds);
    return !unsent;
}

/* UCX tells how a connection leads only in words, a line for each lane:
 *     #                 lane[0]:  2:tcp/eth0.0 md[1]    -> md[1]/tcp/... am
 * None of them may lead elsewhere: a lane of shared memory is full until its
 * reader comes, and no kernel has what waits for it. */
static bool leads_over_tcp(void *connection)
{
    char *text = NULL, *line;
    size_t size = 0, lanes = 0, tcp = 0;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return false;
    print(connection, to);
    if (fclose(to) != 0 || !text)
        return false;
    for (line = strstr(text, "lane["); line; line = strstr(line + 1, "lane[")) {
        unsigned lane, resource;
        char transport[8] = "";

        lanes++;
        tcp += sscanf(line, "lane[%u]: %u:%7[^/]", &lane, &resource,
                      transport) == 3 &&
               strcmp(transport, "tcp") == 0;
    }
    free(text);
    return lanes > 0 && lanes == tcp;
}

/* Is there nothing left to wait for, as far as the kernel knows? */
static void check_sockets(void)
{
    uint64_t now = aspx_clock_ns(CLOCK_MONOTONIC);

    if (checked_ns == 0)
        checked_ns = now;
    if (quiet_checks == QUIET_CHECKS || now - checked_ns < CHECK_PERIOD_NS)
        return;
    quiet_checks = all_is_sent() ? quiet_checks + 1 : 0;
    checked_ns = aspx_clock_ns(CLOCK_MONOTONIC);
}

/* MPI_Finalize makes progress and asks for all, over and over: one check for
 * each time. */
static int is_closed(void *request)
{
    if (nclosing > 0 && request == closing[0].request)
        check_sockets();
    if (is_completed(request))
        return 1;
    if (quiet_checks < QUIET_CHECKS)
        return 0;
    for (size_t i = 0; i < nclosing; i++) {
        struct closing *it = &closing[i];

        if (it->request != request)
            continue;
        if (it->leads == NOT_ASKED)
            it->leads = leads_over_tcp(it->connection) ? TCP : OTHER;
        return it->leads == TCP;
    }
    return 0;
}

static bool is_request(const void *request)
{
    return request && (intptr_t) request > 0; /* errors are small, below 0 */
}

static void *start_close(void *connection)
{
    void *request = disconnect(connection);

    if (nclosing == capacity) {
        size_t more = capacity ? 2 * capacity : 16;
        struct closing *grown = realloc(closing, more * sizeof(*closing));

        if (!grown)
            return request; /* is waited for as ever */
        closing = grown;
        capacity = more;
    }
    if (is_request(request))
        closing[nclosing++] = (struct closing){connection, request, NOT_ASKED};
    return request;
}

static void find_function(void *function_p, const char *name)
{
    *(void **) function_p = aspx_plt_patch_find(name);
}

static void put_between(void)
{
    if (aspx_plt_patch_replace("ucp_disconnect_nb", start_close))
        (void) aspx_plt_patch_replace("ucp_request_is_completed", is_closed);
}

void aspx_tcp_finalize_fix(void)
{
    static bool done;

    if (done)
        return;
    done = true;
    find_function(&disconnect, "ucp_disconnect_nb");
    find_function(&is_completed, "ucp_request_is_completed");
    find_function(&print, "ucp_ep_print_info");
    if (!disconnect || !is_completed || !print)
        aspx_fix_note(ASPX_FIX_TCP_FINALIZE, false); /* not over UCX */
    else if (aspx_fix_is_for_release(ASPX_FIX_TCP_FINALIZE))
        put_between();
}
