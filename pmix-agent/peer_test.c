/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of our own, with both ends here. Another user's are in t3001. */
#include "peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int listening;
static struct sockaddr_in address;

static int start(void **state)
{
    socklen_t size = sizeof(address);

    (void) state;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listening = socket(AF_INET, SOCK_STREAM, 0);
    return listening >= 0 &&
                   bind(listening, (struct sockaddr *) &address, size) == 0 &&
                   listen(listening, 4) == 0 &&
                   getsockname(listening, (struct sockaddr *) &address,
                               &size) == 0
               ? 0
               : -1;
}

static int stop_server(void **state)
{
    (void) state;
    return close(listening);
}

static int connect_here(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof(address)),
                     0);
    return fd;
}

static void test_check(void **state)
{
    struct asp_err err = {0};
    int idle = socket(AF_INET, SOCK_STREAM, 0);

    (void) state;
    assert_int_equal(aspa_peer_check(listening, &err), 0);
    assert_int_equal(aspa_peer_check(idle, &err), -1);
    assert_int_equal(aspa_peer_check(-1, &err), -1);
    close(idle);
}

/* accept() is peer.c's. */
static void test_ours(void **state)
{
    int there = connect_here();
    int here = accept(listening, NULL, NULL);

    (void) state;
    assert_true(here >= 0);
    assert_true(aspa_peer_is_ours(here));
    assert_true(aspa_peer_is_ours(there));
    assert_false(aspa_peer_is_ours(listening));
    close(there);
    close(here);
}

/* A socket that was closed has no owner, and reads as root's: nobody's, also
 * for an agent of root. */
static void test_closed(void **state)
{
    (void) state;
    close(connect_here());
    errno = 0;
    assert_int_equal(accept(listening, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_ours),
        cmocka_unit_test(test_closed),
    };

    return cmocka_run_group_tests(tests, start, stop_server);
}
