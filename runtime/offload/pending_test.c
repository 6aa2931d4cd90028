/* SPDX-License-Identifier: BSD-3-Clause */
/* Which requests MPI is asked for, and how often: MPI is an array here. */
#include "config.h"

#include "pending.h"

#include "raised.h"
#include "state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { WINDOW = ASPX_PENDING_WINDOW, CROWD = 1000, MANY = 200000 };

/* What the tested file wants from the others. */
static uint64_t taken, looked;

uint64_t aspx_command_taken(void)
{
    return taken;
}

static struct aspx_event slept_at, other;
static const void *sleeps_for; /* this request, a caller */

struct aspx_event *aspx_command_event_of(const void *request)
{
    return request == sleeps_for ? &slept_at : &other;
}

void aspx_command_looked(uint64_t run)
{
    looked = run;
}

void aspx_command_notify(void)
{
}

void aspx_command_ended(struct aspx_command *command, struct aspx_event *event)
{
    (void) event;
    atomic_store(&command->state, ASPX_DONE);
}

/* Request i + 1 is that of slot i. */
static struct aspx_request *slots;
static bool complete[CROWD + WINDOW];
static int asked[CROWD + WINDOW], questions;
static uint64_t asked_at[CROWD + WINDOW]; /* when so many had been taken */
static void (*handler)(void); /* called by the test of the first one */

static bool ask(MPI_Request request)
{
    questions++;
    asked[request - 1]++;
    asked_at[request - 1] = taken;
    return complete[request - 1];
}

static int fake_testsome(int count, MPI_Request requests[], int *ended,
                         int indices[], MPI_Status statuses[])
{
    (void) statuses;
    *ended = 0;
    for (int i = 0; i < count; i++) {
        if (ask(requests[i]))
            indices[(*ended)++] = i;
    }
    return MPI_SUCCESS;
}

static int fake_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void) status;
    *flag = ask(*request);
    if (*request == 1 && handler)
        handler();
    return MPI_SUCCESS;
}

static void post(int i)
{
    complete[i % (CROWD + WINDOW)] = false;
    asked_at[i % (CROWD + WINDOW)] = taken++;
    atomic_store(&slots[i].head.state, ASPX_BUSY);
    slots[i].real = i + 1;
    aspx_request_posted(&slots[i], MPI_SUCCESS);
}

static void post_all(int from, int to)
{
    for (int i = from; i < to; i++)
        post(i);
}

static void ask_for(int i)
{
    struct aspx_request *slot = &slots[i];

    aspx_pending_test(&slot, 1);
}

static bool has_ended(int i)
{
    return aspx_command_is_done(&slots[i].head);
}

static uint32_t poll(void)
{
    memset(asked, 0, sizeof(asked));
    questions = 0;
    return aspx_pending_poll(taken);
}

static int begin(void **state)
{
    (void) state;
    slots = aligned_alloc(64, MANY * sizeof(*slots));
    if (!slots)
        return -1;
    memset(slots, 0, MANY * sizeof(*slots));
    aspx_behind.MPI_Testsome = fake_testsome;
    aspx_behind.MPI_Test = fake_test;
    return 0;
}

static int end(void **state)
{
    (void) state;
    for (int i = 0; i < MANY; i++)
        aspx_pending_remove(&slots[i]);
    free(slots);
    memset(complete, 0, sizeof(complete));
    taken = looked = 0;
    handler = NULL;
    atomic_store(&aspx_offload_handlers_set, false);
    return aspx_pending_count() != 0;
}

/* Up to a window all are looked at in each poll, but what is new comes first,
 * and not again and again. */
static void test_few(void **state)
{
    (void) state;
    post_all(0, WINDOW - 2);
    for (int i = 0; i < 3 * WINDOW; i++) {
        assert_int_equal(poll(), 0);
        assert_int_equal(looked, taken);
        for (int k = 0; k < WINDOW - 2; k++)
            assert_int_equal(asked[k], 1);
    }
    for (int i = WINDOW - 2; i < WINDOW; i++) {
        post(i);
        (void) poll();
        assert_int_equal(questions, i == WINDOW - 2 ? 1 : WINDOW);
        assert_int_equal(asked[i], 1);
    }
    assert_int_equal(looked, taken);
    /* So are those that come after a crowd. */
    post_all(WINDOW, CROWD);
    for (int i = 0; i < CROWD; i++)
        aspx_pending_remove(&slots[i]);
    post(0);
    for (int i = 0; i < 2; i++) /* the first may end an earlier sweep */
        (void) poll();
    assert_int_equal(asked[0], 1);
    assert_int_equal(looked, taken);
}

/* What was posted before so many had been taken has been asked for since. */
static void assert_sound(void)
{
    for (int i = 0; i < CROWD; i++) {
        if (slots[i].pending_seq != 0)
            assert_true(asked_at[i] >= looked);
    }
}

/* When a poll says that all have been looked at, they have. */
static void test_says_what_it_looked_at(void **state)
{
    uint64_t last = looked;
    int said = 0;

    (void) state;
    srandom(1);
    for (int i = 0; i < 100 * CROWD; i++) {
        /* crowds come and go */
        int which = (int) (random() % (i / CROWD % 10 * 50 + 20));

        if (slots[which].pending_seq == 0)
            post(which);
        else if (random() % 4 == 0)
            ask_for(which);
        else if (random() % 4 == 0)
            aspx_pending_remove(&slots[which]);
        else
            complete[which] = random() % 4 == 0;
        if (random() % 2 == 0)
            taken++;
        if (random() % 2 == 0)
            (void) poll();
        said += looked != last;
        last = looked;
        assert_sound();
    }
    assert_in_range(said, CROWD / 10, 100 * CROWD);
}

/* In a crowd nothing is forgotten, what was posted lately is seen at once, and
 * it costs no more than a few questions. */
static void test_crowd(void **state)
{
    int seen[CROWD] = {0}, all = 0, polls = 0, most = 0;

    (void) state;
    post_all(0, CROWD);
    for (; all < CROWD && polls < CROWD; polls++) {
        (void) poll();
        assert_in_range(questions, 1, WINDOW);
        for (int i = 0; i < CROWD; i++)
            all += asked[i] && !seen[i]++;
    }
    assert_int_equal(all, CROWD);
    for (int i = 0; i < 3 * WINDOW; i++) {
        post(CROWD);
        (void) poll();
        assert_int_equal(asked[CROWD], 1);
        complete[CROWD] = true;
        taken++;
        assert_int_equal(poll(), 1);
        assert_true(has_ended(CROWD));
        most = questions;
    }
    assert_in_range(most, 1, 16);
}

/* Who waits for an old one asks for it, and mostly next for those behind it. */
static void test_asked_for(void **state)
{
    (void) state;
    post_all(0, CROWD);
    assert_true(atomic_load(&slots[100].old));
    ask_for(100);
    assert_false(has_ended(100));
    assert_false(atomic_load(&slots[100].old));
    for (int i = 0; i < 10; i++) {
        (void) poll();
        assert_int_equal(asked[100], 1);
    }
    for (int i = 300; i < 400; i++)
        complete[i] = true;
    ask_for(300);
    assert_true(has_ended(300));
    for (int polls = 0; polls < 6; polls++)
        (void) poll();
    for (int i = 300; i < 400; i++)
        assert_true(has_ended(i));
    /* One for which somebody sleeps stays recent. */
    ask_for(500);
    ask_for(501);
    sleeps_for = &slots[500];
    aspx_event_prepare_wait(&slept_at);
    for (int i = 0; i < 3 * WINDOW; i++)
        (void) poll();
    assert_false(atomic_load(&slots[500].old));
    assert_true(atomic_load(&slots[501].old));
}

/* Many at once are looked at and stay old. */
static void test_asked_for_many(void **state)
{
    struct aspx_request *window[WINDOW];

    (void) state;
    post_all(0, CROWD);
    for (int i = 0; i < WINDOW; i++) {
        window[i] = &slots[2 * i];
        complete[2 * i] = i % 2;
    }
    aspx_pending_test(window, WINDOW);
    for (int i = 0; i < WINDOW; i++) {
        assert_int_equal(has_ended(2 * i), i % 2);
        assert_int_equal(atomic_load(&window[i]->old), i % 2 == 0);
    }
}

/* A function of the program frees an older one, and waits for one of its own.
 */
static void handle(void)
{
    handler = NULL;
    aspx_pending_remove(&slots[1]);
    memset(asked, 0, sizeof(asked));
    post(3);
    assert_int_equal(aspx_pending_poll(taken), 0);
    assert_int_equal(asked[3], 1);
    assert_int_equal(asked[2], 0);
    complete[2] = true;
    ask_for(2);
    assert_true(has_ended(2));
    memset(asked, 0, sizeof(asked));
}

static void test_handler(void **state)
{
    (void) state;
    atomic_store(&aspx_offload_handlers_set, true);
    handler = handle;
    post_all(0, 3);
    complete[0] = true;
    assert_int_equal(poll(), 1);
    assert_true(has_ended(0));
    assert_int_equal(asked[1] + asked[2] + asked[3], 0);
    assert_int_equal(aspx_pending_count(), 1);
    (void) poll();
    assert_int_equal(questions, 1);
    assert_int_equal(asked[3], 1);
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Linear, it takes some 10 ms; quadratic, some 10 s. */
static void test_freed(void **state)
{
    double began;

    (void) state;
    post_all(0, MANY);
    began = cpu_seconds();
    for (int i = 0; i < MANY; i++)
        aspx_pending_remove(&slots[i]);
    assert_true(cpu_seconds() - began < 1);
    assert_int_equal(aspx_pending_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_few, begin, end),
        cmocka_unit_test_setup_teardown(test_says_what_it_looked_at, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_crowd, begin, end),
        cmocka_unit_test_setup_teardown(test_asked_for, begin, end),
        cmocka_unit_test_setup_teardown(test_asked_for_many, begin, end),
        cmocka_unit_test_setup_teardown(test_handler, begin, end),
        cmocka_unit_test_setup_teardown(test_freed, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
