/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks find their thread: a server stands in for the offload thread, and
 * its commands for MPI, which calls a function of the program. Built with
 * --enable-sanitizer=thread it tells of each missing order. */
#include "config.h"

#include "callback.h"
#include "pending.h"
#include "direct_call.h"
#include "raised.h"
#include "state.h"

#include "runtime/mpi/helper_thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { CALLS = 2000, CALLERS = 4, AWAY_MS = 30 };

/* What the tested files want from the others. */
atomic_bool aspx_helper_thread_stop_flag;

static const struct aspx_command_hooks hooks = {aspx_callback_serve, NULL};

void aspx_helper_thread_stay(void)
{
    abort();
}

bool aspx_real_has(const void *address)
{
    return address == (const void *) pthread_self;
}

static _Atomic bool over;
static pthread_t server;

static void *serve(void *unused)
{
    aspx_offload_self = true;
    aspx_callback_i_am_thread();
    while (!atomic_load(&over)) {
        struct aspx_command *command = aspx_command_next();

        if (command) {
            aspx_raising.by = command;
            command->run(command);
            aspx_command_unblock();
        } else {
            (void) aspx_command_block(1000);
        }
    }
    return unused;
}

static void start(bool many)
{
    atomic_store(&over, false);
    aspx_command_start(true, many, ASPX_CPUS_SHARED, &hooks);
    aspx_callback_start(many);
    assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
}

static void stop_thread(void)
{
    atomic_store(&over, true);
    aspx_command_wake_thread();
    assert_int_equal(pthread_join(server, NULL), 0);
    assert_int_equal(atomic_load(&aspx_callbacks.state), ASPX_CALLBACK_NONE);
}

/* A command that calls back once, as MPI would. */
struct call {
    struct aspx_command head;
    aspx_function_f *stub;
    long argument, answer;
    _Atomic bool is_over;
};

typedef long stub_f(long, long, long, long, long, long, long, long);

static void call_back(struct aspx_command *head)
{
    struct call *call = (void *) head;

    call->answer = ((stub_f *) call->stub)(call->argument, 2, 3, 4, 5, 6, 7, 8);
    atomic_store(&call->is_over, true);
    aspx_command_done(head);
}

static _Thread_local long its_own;
static long calls; /* plain on purpose: one at a time */

static long sum(long a, long b, long c, long d, long e, long f, long g, long h)
{
    calls++;
    return its_own + a + b + c + d + e + f + g + h;
}

static void *ask(void *first)
{
    aspx_function_f *stub = aspx_callback_stub((aspx_function_f *) sum,
                                               ASPX_CALLBACK_OP);
    long wrong = 0;

    its_own = *(const long *) first;
    for (long i = 0; i < CALLS; i++) {
        struct call call = {.head.run = call_back, .stub = stub, .argument = i};

        aspx_command_call(&call.head);
        wrong += call.answer < i + 35; /* the caller's own comes on top */
    }
    return (void *) wrong;
}

static void test_a_caller_runs_it(void **state)
{
    long mine = 100;

    (void) state;
    start(false);
    calls = 0;
    assert_null(ask(&mine));
    assert_int_equal(calls, CALLS);
    stop_thread();
}

static void test_one_of_many_runs_it(void **state)
{
    pthread_t threads[CALLERS];
    long mine[CALLERS];

    (void) state;
    start(true);
    calls = 0;
    for (int i = 0; i < CALLERS; i++) {
        mine[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &mine[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        void *wrong;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_int_equal(calls, CALLERS * CALLS);
    stop_thread();
}

static void wait_until(uint32_t wanted)
{
    while (atomic_load(&aspx_callbacks.state) != wanted)
        sched_yield();
}

static void rest_away(void)
{
    const struct timespec away = {0, AWAY_MS * 1000000L};

    nanosleep(&away, NULL);
}

/* Posted and left alone, it is not run before its caller looks. */
static void test_not_while_nobody_is_in_mpi(void **state)
{
    struct call call = {
        .head.run = call_back,
        .stub = aspx_callback_stub((aspx_function_f *) sum, ASPX_CALLBACK_OP)};

    (void) state;
    start(false);
    calls = 0;
    aspx_command_post(&call.head);
    wait_until(ASPX_CALLBACK_ASKED);
    rest_away();
    assert_int_equal(calls, 0);
    assert_false(atomic_load(&call.is_over));
    aspx_command_wait(&call.head);
    assert_int_equal(calls, 1);
    stop_thread();
}

/* What may want MPI's lock the thread runs, and its caller stays. */
static void test_the_thread_runs_it(void **state)
{
    struct call call = {.head.run = call_back,
                        .stub = aspx_callback_stub((aspx_function_f *) sum,
                                                   ASPX_CALLBACK_FUNCTION)};

    (void) state;
    start(true);
    its_own = 1000;
    aspx_command_post(&call.head);
    wait_until(ASPX_CALLBACK_ASKED);
    aspx_command_wait(&call.head);
    assert_int_equal(call.answer, 35);
    its_own = 0;
    stop_thread();
}

/* Nobody waits, but a direct call is in MPI. */
static void test_beside_a_guest(void **state)
{
    struct call call = {
        .head.run = call_back,
        .stub = aspx_callback_stub((aspx_function_f *) sum, ASPX_CALLBACK_OP)};

    (void) state;
    start(true);
    aspx_command_post(&call.head);
    wait_until(ASPX_CALLBACK_ASKED);
    atomic_store(&aspx_direct_calls, true);
    while (!atomic_load(&call.is_over))
        sched_yield();
    atomic_store(&aspx_direct_calls, false);
    aspx_callback_end_direct_call();
    stop_thread();
}

static int handle = 42, code = 7, told;
static bool told_in_time;
static const struct call *failing;

static void handler(int *its_handle, int *its_code, ...)
{
    told += *its_handle == 42 && *its_code == 7;
    told_in_time = atomic_load(&failing->is_over) && !aspx_offload_self;
}

static void raise_error(struct aspx_command *head)
{
    struct call *call = (void *) head;
    int gone = handle, its = code;

    ((stub_f *) call->stub)((long) &gone, (long) &its, 0, 0, 0, 0, 0, 0);
    gone = its = 0;
    atomic_store(&call->is_over, true);
    aspx_command_done(head);
}

static void test_handlers_come_when_the_call_is_over(void **state)
{
    struct call call = {.head.run = raise_error,
                        .stub = aspx_callback_stub((aspx_function_f *) handler,
                                                   ASPX_CALLBACK_HANDLER)};

    (void) state;
    start(false);
    failing = &call;
    aspx_command_call(&call.head);
    assert_int_equal(told, 1);
    assert_true(told_in_time);
    assert_int_equal(atomic_load(&aspx_callbacks.raised), 0);
    stop_thread();
}

static void test_stubs(void **state)
{
    aspx_function_f *first, *function;
    static char places[0x100]; /* as many functions as there are stubs */

    (void) state;
    first = aspx_callback_stub((aspx_function_f *) sum, ASPX_CALLBACK_OP);
    assert_ptr_equal(
        first, aspx_callback_stub((aspx_function_f *) sum, ASPX_CALLBACK_OP));
    assert_ptr_not_equal(first, (aspx_function_f *) sum);
    assert_null(aspx_callback_stub(NULL, ASPX_CALLBACK_OP));
    function = (aspx_function_f *) pthread_self; /* MPI's, as we pretend */
    assert_ptr_equal(function, aspx_callback_stub(function, ASPX_CALLBACK_OP));
    for (size_t i = 0; i < sizeof(places); i++) {
        *(void **) &function = &places[i];
        (void) aspx_callback_stub(function, ASPX_CALLBACK_OP);
    }
    assert_ptr_equal(function, aspx_callback_stub(function, ASPX_CALLBACK_OP));
    assert_ptr_equal(
        first, aspx_callback_stub((aspx_function_f *) sum, ASPX_CALLBACK_OP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_caller_runs_it),
        cmocka_unit_test(test_one_of_many_runs_it),
        cmocka_unit_test(test_not_while_nobody_is_in_mpi),
        cmocka_unit_test(test_the_thread_runs_it),
        cmocka_unit_test(test_beside_a_guest),
        cmocka_unit_test(test_handlers_come_when_the_call_is_over),
        cmocka_unit_test(test_stubs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
