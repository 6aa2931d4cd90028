/* SPDX-License-Identifier: BSD-3-Clause */
/* What other processes say when a job starts: too late, or nonsense. MPI is
 * played by the test. */
#include "config.h"

#include "join.h"
#include "runtime/mpi/real.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct aspx_real aspx_real;

static void *gathered; /* the buffer of the collective */

/* A clock of which each look takes a second. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static time_t seconds;

    (void) clock;
    *now = (struct timespec){.tv_sec = ++seconds};
    return 0;
}

static int begin_gather(const void *send, int nsend, MPI_Datatype sent,
                        void *receive, int nreceive, MPI_Datatype received,
                        MPI_Comm comm, MPI_Request *request)
{
    (void) send, (void) nsend, (void) sent;
    (void) nreceive, (void) received, (void) comm;
    gathered = receive;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int never(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void) request, (void) status;
    *flag = 0;
    return MPI_SUCCESS;
}

static int no_message(int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Status *status)
{
    (void) source, (void) tag, (void) comm, (void) status;
    *flag = 0;
    return MPI_SUCCESS;
}

static int send(const void *buffer, int count, MPI_Datatype type, int rank,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    (void) buffer, (void) count, (void) type;
    (void) rank, (void) tag, (void) comm;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int release(MPI_Request *request)
{
    (void) request;
    return MPI_SUCCESS;
}

/* The collective that was given up is under way for ever and may write. */
static void test_late_offers_find_memory(void **state)
{
    static const struct asp_layout layout = {.job = "7.0"};
    struct aspx_world world = {.size_all = 2, .layout = &layout};
    struct aspx_offer offers[2] = {{.role = ASP_ROLE_USER}};
    struct asp_err err;

    (void) state;
    aspx_real.MPI_Iallgather = begin_gather;
    aspx_real.MPI_Test = never;
    aspx_real.MPI_Iprobe = no_message;
    aspx_real.MPI_Isend = send;
    aspx_real.MPI_Request_free = release;
    assert_int_equal(aspx_join(&world, offers, &err), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_non_null(strstr(err.text, "rank 1"));
    /* the caller may free its offers now */
    assert_true((char *) gathered < (char *) offers ||
                (char *) gathered >= (char *) (offers + 2));
    memset(gathered, 0xff, sizeof(offers));
}

static int number(uint32_t a, uint32_t b, uint32_t c, struct aspx_peer peers[3])
{
    struct aspx_world world = {.size_all = 3, .rank_all = 2, .peers = peers};
    const uint32_t leaders[3] = {a, b, c};

    memset(peers, 0, 3 * sizeof(peers[0]));
    return aspx_world_number(&world, leaders);
}

static void test_nodes_are_numbered(void **state)
{
    struct aspx_peer peers[3];

    (void) state;
    assert_int_equal(number(0, 1, 0, peers), 0);
    assert_int_equal(peers[0].node, 0);
    assert_int_equal(peers[1].node, 1);
    assert_int_equal(peers[2].node, 0);
}

static void test_nonsense_is_not_followed(void **state)
{
    struct aspx_peer peers[3];

    (void) state;
    assert_int_equal(number(0, 2, 2, peers), -1); /* not the lowest */
    assert_int_equal(number(0, 0, 1, peers), -1); /* 1 leads nobody */
    assert_int_equal(number(0, 1, UINT32_MAX, peers), -1);
    assert_int_equal(number(1u << 30, 0, 0, peers), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_offers_find_memory),
        cmocka_unit_test(test_nodes_are_numbered),
        cmocka_unit_test(test_nonsense_is_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
