/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts put together piece by piece: whole, cut at each length, growing. */
#include "strbuf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_pieces_follow_one_another(void **state)
{
    char buf[32];
    struct asp_strbuf sb = ASP_STRBUF(buf);

    (void) state;
    assert_string_equal(buf, "");
    assert_int_equal(asp_strbuf_end(&sb), 0);
    asp_strbuf_add(&sb, "rank %d", 3);
    asp_strbuf_add(&sb, "%s%s", sb.len ? ", " : "", "node");
    assert_string_equal(buf, "rank 3, node");
    assert_int_equal(asp_strbuf_end(&sb), 12);
}

/* Whatever the size is: no byte behind it, the text is a prefix, and nothing
 * is added once a piece was cut, however short. */
static void test_cut_at_every_size(void **state)
{
    static const char whole[] = "abc,defg,hi";
    char buf[sizeof(whole) + 1];

    (void) state;
    for (size_t size = 0; size <= sizeof(whole); size++) {
        struct asp_strbuf sb;

        memset(buf, '#', sizeof(buf));
        sb = asp_strbuf_on(buf, size);
        asp_strbuf_add(&sb, "abc");
        asp_strbuf_add(&sb, ",%s", "defg");
        asp_strbuf_add(&sb, "%s", "");
        asp_strbuf_add(&sb, ",hi");
        assert_int_equal(buf[size], '#');
        if (size == sizeof(whole)) {
            assert_int_equal(asp_strbuf_end(&sb), sizeof(whole) - 1);
            assert_string_equal(buf, whole);
            continue;
        }
        errno = 0;
        assert_int_equal(asp_strbuf_end(&sb), -1);
        assert_int_equal(errno, ENOSPC);
        if (size) {
            assert_int_equal(strlen(buf), sb.len);
            assert_int_equal(sb.len, size - 1);
            assert_memory_equal(buf, whole, size - 1);
        }
    }
}

static void test_grows(void **state)
{
    struct asp_strbuf sb = ASP_STRBUF_GROWING;
    char *text;

    (void) state;
    for (int i = 0; i < 5000; i++)
        asp_strbuf_add(&sb, "%04d;", i);
    assert_int_equal(asp_strbuf_end(&sb), 25000);
    text = asp_strbuf_take(&sb);
    assert_int_equal(strlen(text), 25000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(atoi(text + 5 * i), i);
    free(text);
    assert_null(sb.text);
    asp_strbuf_add(&sb, "again");
    text = asp_strbuf_take(&sb);
    assert_string_equal(text, "again");
    free(text);
    text = asp_strbuf_take(&sb);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_follow_one_another),
        cmocka_unit_test(test_cut_at_every_size),
        cmocka_unit_test(test_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
