/* SPDX-License-Identifier: BSD-3-Clause */
/* Piece sizes for element sizes of all kinds. */
#include "config.h"

#include "acc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define GI (UINT64_C(1) << 30)

static uint64_t piece(uint64_t a, uint64_t b)
{
    const uint64_t element[] = {a, b};

    return aspx_piece_bytes(element, 2);
}

static void test_as_many_elements_as_allowed(void **state)
{
    (void) state;
    assert_int_equal(piece(1, 1), GI);
    assert_int_equal(piece(8, 8), 8 * GI);
    assert_int_equal(piece(8, 1), GI);
    assert_int_equal(piece(1, 1000), GI / 1000 * 1000);
}

static void test_in_whole_elements_of_every_side(void **state)
{
    static const uint64_t three[] = {2, 3, 5};
    uint64_t bytes = aspx_piece_bytes(three, 3);

    (void) state;
    assert_int_equal(bytes % 30, 0);
    assert_true(bytes / 2 <= ASPX_PIECE_MAX && bytes / 2 > ASPX_PIECE_MAX - 16);
    assert_int_equal(piece(3 * GI / 2, GI / 2), GI / 2 * (GI / 3 * 3));
}

static void test_what_cannot_be_cut_small_is_refused(void **state)
{
    (void) state;
    assert_int_equal(piece(3 * GI, 1), 0);
    assert_int_equal(piece(GI + 1, 8), 0);
    assert_int_equal(piece(GI, 1), GI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_elements_as_allowed),
        cmocka_unit_test(test_in_whole_elements_of_every_side),
        cmocka_unit_test(test_what_cannot_be_cut_small_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
