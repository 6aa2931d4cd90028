/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reference of random programs says of planted histories: three
 * messages, and receives that got them. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ANY_SOURCE = MPI_ANY_SOURCE, ANY_TAG = MPI_ANY_TAG };

/* Messages 0 and 1 are of sender 0, in this order, and 2 of sender 1. */
static const struct phase phase = {
    .n = 3,
    .messages = {{.from = 0, .source = 0, .tag = 5, .group = 0},
                 {.from = 0, .source = 0, .tag = 6, .group = 1},
                 {.from = 1, .source = 1, .tag = 5, .group = 2}}};

/* Receives were posted in the order in which they stand. */
#define GOT(from_source, with_tag, message)                                    \
    (struct receive)                                                           \
    {                                                                          \
        .source = (from_source), .tag = (with_tag), .got = (message),          \
        .posted = __COUNTER__                                                  \
    }

static const char *fault(const struct receive *r)
{
    return matching_fault(&phase, r, 3);
}

static void test_right(void **state)
{
    struct receive exact[] = {GOT(0, 6, 1), GOT(1, 5, 2), GOT(0, 5, 0)};
    struct receive any[] = {GOT(ANY_SOURCE, ANY_TAG, 2), GOT(0, ANY_TAG, 0),
                            GOT(ANY_SOURCE, 6, 1)};

    (void) state;
    assert_null(fault(exact));
    assert_null(fault(any));
}

static void test_other_envelope(void **state)
{
    struct receive tag[] = {GOT(0, 6, 0), GOT(0, ANY_TAG, 1), GOT(1, 5, 2)};
    struct receive source[] = {GOT(0, 5, 2), GOT(ANY_SOURCE, 5, 0),
                               GOT(0, 6, 1)};

    (void) state;
    assert_non_null(fault(tag));
    assert_non_null(fault(source));
}

/* Message 1 came before message 0, or a later receive before an earlier one. */
static void test_overtaken(void **state)
{
    struct receive sent[] = {GOT(0, ANY_TAG, 1), GOT(0, 5, 0), GOT(1, 5, 2)};
    struct receive posted[] = {GOT(ANY_SOURCE, ANY_TAG, 1), GOT(1, 5, 2),
                               GOT(ANY_SOURCE, ANY_TAG, 0)};

    (void) state;
    assert_string_equal(fault(sent), "messages overtook each other");
    assert_string_equal(fault(posted), "messages overtook each other");
}

/* One MPI_Startall sends, or posts, in no order. */
static void test_together(void **state)
{
    struct receive r[] = {GOT(0, ANY_TAG, 1), GOT(0, 5, 0), GOT(1, 5, 2)};
    struct phase together = phase;

    (void) state;
    together.messages[1].group = 0;
    assert_non_null(fault(r));
    assert_null(matching_fault(&together, r, 3));
    r[1].posted = r[0].posted;
    assert_null(fault(r));
}

static void test_passed_over(void **state)
{
    struct receive r[] = {GOT(ANY_SOURCE, 5, -1), GOT(1, 5, 2), GOT(0, 5, 0)};

    (void) state;
    r[0].cancelled = true;
    r[0].revoked = 1000;
    r[1].ended = r[2].ended = 1001;
    assert_null(fault(r)); /* cancelled before anything was seen to have come */
    r[1].ended = 999;
    assert_string_equal(fault(r), "a receive was passed over");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_other_envelope),
        cmocka_unit_test(test_overtaken),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
