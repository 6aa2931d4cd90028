/* SPDX-License-Identifier: BSD-3-Clause */
/* Build ids in notes, good and broken ones, and which texts can be compared. */
#include "config.h"

#include "build_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* A note: sizes of name and text, type; name; text. */
#define NOTE(namesz, descsz, type, name, text)                                 \
    namesz, 0, 0, 0, descsz, 0, 0, 0, type, 0, 0, 0, name, text

#define GNU 'G', 'N', 'U', 0

static const unsigned char notes[] = {
    NOTE(4, 5, 5, GNU, 1),
    2,
    3,
    4,
    5,
    0,
    0,
    0, /* properties, filled up */
    NOTE(4, 4, 3, GNU, 0xab),
    0xcd,
    0x00,
    0x9f, /* the build id */
};

static void test_notes(void **state)
{
    char build[ASP_BUILD_MAX];

    (void) state;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        skip();
    assert_true(asp_build_of_notes(notes, sizeof(notes), build));
    assert_string_equal(build, "build-id:abcd009f");
    for (size_t cut = 0; cut < sizeof(notes); cut++)
        assert_false(asp_build_of_notes(notes, cut, build));
    assert_string_equal(build, "build-id:abcd009f");
}

static void test_long(void **state)
{
    static unsigned char big[16 + 255] = {NOTE(4, 252, 3, GNU, 0xff)};
    unsigned char huge[] = {NOTE(0xff, 0xff, 3, GNU, 0)};
    char build[ASP_BUILD_MAX];

    (void) state;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        skip();
    assert_true(asp_build_of_notes(big, sizeof(big), build));
    assert_true(strlen(build) < ASP_BUILD_MAX && strlen(build) > 90);
    memset(huge, 0xff, 8);
    assert_false(asp_build_of_notes(huge, sizeof(huge), build));
}

static void test_differs(void **state)
{
    char one[ASP_BUILD_MAX], other[ASP_BUILD_MAX];

    (void) state;
    asp_build_of_version("MPICH Version: 4.0.2\n--with-a", one);
    asp_build_of_version("MPICH Version: 4.0.2\n--with-b", other);
    assert_int_equal(strlen(one), strlen("version:") + 16);
    assert_true(asp_build_differs(one, other));
    assert_false(asp_build_differs(one, one));
    assert_false(asp_build_differs(one, "build-id:00"));
    assert_false(asp_build_differs("", one));
    assert_false(asp_build_differs("nonsense", "other"));
    assert_true(asp_build_differs("build-id:00", "build-id:01"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_differs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
