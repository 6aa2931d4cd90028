/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring, done flags, sleeping and pool, under contention and without MPI. What
 * travels is plain memory, so that a build with --enable-sanitizer=thread sees
 * each missing order. */
#include "config.h"

#include "pending.h"
#include "request_pool.h"
#include "state.h"
#include "thread.h"

#include "runtime/mpi/handle.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { CALLERS = 4, CALLS = 4000, POSTS = 20000, SLOTS = 3000, ROUNDS = 40 };

static _Atomic bool over;

static void *serve(void *pause_ms)
{
    const struct timespec pause = {0, *(const int *) pause_ms * 1000000L};

    aspx_offload_self = true;
    nanosleep(&pause, NULL);
    while (!atomic_load(&over)) {
        struct aspx_command *command = aspx_command_next();

        if (command)
            command->run(command);
        else
            (void) aspx_command_block(1000);
        if (command)
            aspx_command_unblock();
    }
    return NULL;
}

static pthread_t start_server(bool many, enum aspx_cpus cpus, int *pause_ms)
{
    pthread_t server;

    atomic_store(&over, false);
    aspx_command_start(many, many, cpus, NULL);
    aspx_pool_start(many);
    assert_int_equal(pthread_create(&server, NULL, serve, pause_ms), 0);
    return server;
}

static void stop_server(pthread_t server)
{
    atomic_store(&over, true);
    aspx_command_wake_thread();
    assert_int_equal(pthread_join(server, NULL), 0);
}

/* A call: the thread answers with twice the question. */
struct call {
    struct aspx_command head;
    long question, answer;
};

static long answered; /* plain on purpose: the server's */

static void answer(struct aspx_command *head)
{
    struct call *call = (void *) head;

    answered++;
    call->answer = 2 * call->question;
    aspx_command_done(head);
}

static void *ask(void *first)
{
    long wrong = 0;

    for (long i = 0; i < CALLS; i++) {
        struct call call = {.head.run = answer,
                            .question = *(const long *) first + i};

        aspx_command_call(&call.head);
        wrong += call.answer != 2 * call.question;
    }
    return (void *) wrong;
}

static void ask_from(int callers, enum aspx_cpus cpus)
{
    int none = 0;
    pthread_t server = start_server(callers > 1, cpus, &none);
    pthread_t threads[CALLERS];
    long first[CALLERS];

    answered = 0;
    for (int i = 0; i < callers; i++) {
        first[i] = 1000000L * i;
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &first[i]), 0);
    }
    for (int i = 0; i < callers; i++) {
        void *wrong;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    stop_server(server);
    assert_int_equal(answered, (long) callers * CALLS);
}

static void test_one_caller(void **state)
{
    (void) state;
    for (enum aspx_cpus cpus = 0; cpus <= ASPX_CPUS_SHARED; cpus++)
        ask_from(1, cpus);
}

static void test_many_callers(void **state)
{
    (void) state;
    for (enum aspx_cpus cpus = 0; cpus <= ASPX_CPUS_SHARED; cpus++)
        ask_from(CALLERS, cpus);
}

/* As of a send, of which the thread looks at the arguments early. */
static struct aspx_request *sending(void (*run)(struct aspx_command *head),
                                    int count)
{
    struct aspx_request *slot = aspx_pool_take(run, ASPX_BLOCK_READ);

    *(struct aspx_block *) (void *) slot->args = (struct aspx_block){
        NULL, count, MPI_INT};
    return slot;
}

static long order[POSTS];
static long ran;

static void note(struct aspx_command *head)
{
    struct aspx_request *slot = aspx_request_of(head);

    order[ran++] = ((const struct aspx_block *) (void *) slot->args)->count;
    slot->real = 1;
    aspx_request_posted(slot, MPI_SUCCESS);
    aspx_pending_remove(slot);
    aspx_request_ended(slot, MPI_SUCCESS);
}

/* The server is late, so the ring (4096) fills and the poster waits. */
static void test_full_ring_keeps_the_order(void **state)
{
    int late_ms = 50;
    pthread_t server = start_server(false, ASPX_CPUS_SHARED, &late_ms);
    MPI_Request *requests = calloc(POSTS, sizeof(*requests));

    (void) state;
    assert_non_null(requests);
    ran = 0;
    for (int i = 0; i < POSTS; i++)
        assert_int_equal(
            aspx_request_post(sending(note, i), true, &requests[i]),
            MPI_SUCCESS);
    for (long i = 0; i < POSTS; i++) {
        struct aspx_request *slot = aspx_pool_find(requests[i]);

        assert_non_null(slot);
        aspx_command_wait(&slot->head);
        assert_int_equal(order[i], i);
        aspx_pool_give(slot);
    }
    stop_server(server);
    assert_int_equal(ran, POSTS);
    free(requests);
}

static void refuse(struct aspx_command *head)
{
    aspx_request_posted(aspx_request_of(head), MPI_ERR_RANK);
}

/* What looks wrong is asked of MPI before the call returns. */
static void test_refused_at_once(void **state)
{
    int none = 0;
    pthread_t server = start_server(false, ASPX_CPUS_OWN, &none);
    MPI_Request request = 42;

    (void) state;
    ran = 0;
    assert_int_equal(aspx_request_post(sending(refuse, 1), false, &request),
                     MPI_ERR_RANK);
    assert_int_equal(request, 42);
    assert_int_equal(aspx_request_post(sending(note, 1), false, &request),
                     MPI_SUCCESS);
    assert_non_null(aspx_pool_find(request));
    stop_server(server);
}

/* Longer than a caller spins and yields: it has to be woken. */
static void test_sleeper_is_woken(void **state)
{
    int late_ms = 300;
    pthread_t server = start_server(false, ASPX_CPUS_OWN, &late_ms);
    struct call call = {.head.run = answer, .question = 21};
    struct timespec before, after;

    (void) state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    aspx_command_call(&call.head);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_int_equal(call.answer, 42);
    stop_server(server);
    /* 300 ms of spinning would be 300 ms of CPU time */
    assert_true((after.tv_sec - before.tv_sec) * 1000 +
                    (after.tv_nsec - before.tv_nsec) / 1000000 <
                150);
}

static struct timespec issued_at;

static void issue_late(struct aspx_command *head)
{
    const struct timespec pause = {0, 150 * 1000000L};

    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &issued_at);
    aspx_request_of(head)->real = 1;
    aspx_request_posted(aspx_request_of(head), MPI_SUCCESS);
}

/* Who sleeps until MPI has taken an operation is woken when it has; a sleep
 * lasts 100 ms. The best of some tries, because the machine may be busy. */
static void test_sleeper_is_woken_by_issue(void **state)
{
    int none = 0;
    pthread_t server = start_server(false, ASPX_CPUS_OWN, &none);
    long best_ms = 1000;

    (void) state;
    for (int i = 0; i < 5; i++) {
        struct timespec now;
        MPI_Request request;
        long ms;
        int error = aspx_request_post(sending(issue_late, 1), false, &request);

        assert_int_equal(error, MPI_SUCCESS);
        clock_gettime(CLOCK_MONOTONIC, &now);
        ms = (now.tv_sec - issued_at.tv_sec) * 1000 +
             (now.tv_nsec - issued_at.tv_nsec) / 1000000;
        best_ms = ms < best_ms ? ms : best_ms;
    }
    stop_server(server);
    assert_true(best_ms < 20);
}

/* Slots that many threads hold at once are different ones. */
static _Atomic int owner_of[1 << 20];

static void *hold(void *me)
{
    struct aspx_request **held = calloc(SLOTS, sizeof(struct aspx_request *));
    long wrong = held == NULL;

    for (int round = 0; held && round < ROUNDS; round++) {
        int n = SLOTS / (round % 7 + 1);

        for (int i = 0; i < n; i++) {
            held[i] = aspx_pool_take(NULL, ASPX_BLOCK_NONE);
            wrong += aspx_pool_find(held[i]->handle) != held[i];
            wrong += atomic_exchange(
                         &owner_of[(uint32_t) held[i]->handle & 0xfffff],
                         *(const int *) me) != 0;
        }
        for (int i = n; i-- > 0;) {
            wrong += atomic_exchange(
                         &owner_of[(uint32_t) held[i]->handle & 0xfffff], 0) !=
                     *(const int *) me;
            aspx_pool_give(held[i]);
        }
    }
    free(held);
    return (void *) wrong;
}

static void test_pool(void **state)
{
    pthread_t threads[CALLERS];
    int me[CALLERS];

    (void) state;
    aspx_pool_start(true);
    for (int i = 0; i < CALLERS; i++) {
        me[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, hold, &me[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        void *wrong;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

static void test_foreign_handles(void **state)
{
    (void) state;
    assert_null(aspx_pool_find(MPI_REQUEST_NULL));
    assert_null(aspx_pool_find(0));
    assert_null(aspx_pool_find(-1));
    assert_null(aspx_pool_find((MPI_Request) 0x6fffffff)); /* no such chunk */
    assert_null(aspx_pool_find((MPI_Request) 0xac000002)); /* as MPICH's */
}

static void test_basic_sizes(void **state)
{
    (void) state;
    assert_int_equal(aspx_handle_basic_size(MPI_BYTE), 1);
    assert_int_equal(aspx_handle_basic_size(MPI_INT), sizeof(int));
    assert_int_equal(aspx_handle_basic_size(MPI_C_DOUBLE_COMPLEX),
                     2 * sizeof(double));
    assert_int_equal(aspx_handle_basic_size(MPI_DOUBLE_INT), 0);
    assert_int_equal(aspx_handle_basic_size(MPI_DATATYPE_NULL), 0);
    assert_int_equal(aspx_handle_basic_size(MPI_INFO_ENV), 0);
}

static void test_bounds_of_blocks(void **state)
{
    enum { NO, YES };
    static const struct {
        bool own, direct_calls, awaited, pending, unseen;
        uint32_t longest_us;
    } cases[] = {
        {NO, NO, NO, NO, NO, 50000},  {NO, NO, NO, NO, YES, 2000},
        {NO, NO, NO, YES, YES, 1000}, {NO, NO, YES, YES, YES, 20},
        {NO, YES, NO, NO, NO, 50000}, {NO, YES, NO, NO, YES, 100},
        {NO, YES, NO, YES, NO, 100},  {NO, YES, YES, NO, NO, 100},
        {YES, YES, NO, YES, NO, 20},  {YES, YES, NO, NO, NO, 50000},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct aspx_wait_policy *row =
            &aspx_wait_table[aspx_thread_block_row((struct aspx_block_reasons){
                cases[i].own, cases[i].direct_calls, cases[i].awaited,
                cases[i].pending, cases[i].unseen})];

        assert_int_equal(row->first_us, 20);
        assert_int_equal(row->max_us, cases[i].longest_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_caller),
        cmocka_unit_test(test_many_callers),
        cmocka_unit_test(test_full_ring_keeps_the_order),
        cmocka_unit_test(test_refused_at_once),
        cmocka_unit_test(test_sleeper_is_woken),
        cmocka_unit_test(test_sleeper_is_woken_by_issue),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_foreign_handles),
        cmocka_unit_test(test_basic_sizes),
        cmocka_unit_test(test_bounds_of_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
