/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters are read and written by one table, and nothing else is taken. */
#include "common/base/pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

struct object {
    uint32_t k;
    size_t bytes;
    uint8_t wait, few;
    bool on;
    uint16_t box[3];
};

static const char *const waits[] = {"spin", "sleep"};
static const char *const ons[] = {NULL, "on"};

static const struct asp_pair pairs[] = {
    ASP_PAIR_NUMBER("k", struct object, k, 2, 64),
    ASP_PAIR_NUMBER("bytes", struct object, bytes, 0, UINT64_C(1) << 40),
    ASP_PAIR_WORD("wait", struct object, wait, waits),
    ASP_PAIR_WORD("on", struct object, on, ons),
    ASP_PAIR_SIDES("box", struct object, box),
    ASP_PAIR_NUMBER("few", struct object, few, 0, 4),
};
enum { N = sizeof(pairs) / sizeof(pairs[0]) };

static int read_text(const char *text, struct object *object, uint32_t *given_p)
{
    struct asp_err err;

    return asp_pairs_read(pairs, N, text, object, given_p, &err);
}

static void test_same_text_again(void **state)
{
    static const char text[] = "k=64,bytes=1099511627776,wait=sleep,on=on,"
                               "box=4x65535,few=4";
    struct object object = {0};
    char buf[128];
    struct asp_strbuf sb = ASP_STRBUF(buf);
    uint32_t given;

    (void) state;
    assert_int_equal(read_text(text, &object, &given), 0);
    assert_int_equal(given, (1 << N) - 1);
    assert_int_equal(object.k, 64);
    assert_true(object.on && object.wait == 1 && object.box[1] == 65535);
    asp_strbuf_add(&sb, "op:");
    asp_pairs_write(pairs, N, &object, given, &sb);
    assert_string_equal(buf + 3, text);
}

static void test_any_order_and_the_rest_stays(void **state)
{
    struct object object = {.bytes = 7};
    uint32_t given;

    (void) state;
    assert_int_equal(read_text("wait=spin,k=2", &object, &given), 0);
    assert_int_equal(given, 1 << 0 | 1 << 2);
    assert_int_equal(object.bytes, 7);
    assert_int_equal(read_text("", &object, &given), 0);
    assert_int_equal(given, 0);
}

static void test_others_are_refused(void **state)
{
    static const char *const bad[] = {
        "k",          "k=",          "=2",         "k=1",
        "k=65",       "k=-2",        "k=2,",       ",k=2",
        "k=2,,on=on", "k=2,k=3",     "k=2 ",       "l=2",
        "kk=2",       "wait=spi",    "wait=spins", "on=off",
        "on=",        "box=",        "box=4x",     "box=0",
        "box=4x",     "box=1x1x1x1", "box=65536",  "bytes=99999999999999999999",
        "few=9",
    };
    struct object object;
    uint32_t given;

    (void) state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(read_text(bad[i], &object, &given), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text_again),
        cmocka_unit_test(test_any_order_and_the_rest_stays),
        cmocka_unit_test(test_others_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
