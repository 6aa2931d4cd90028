/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading requests: the mode, the items, what is refused. */
#include "request_spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *text;
    int rc;
    const char *mode;
    uint32_t ghosts;
    bool require;
} specs[] = {
    {"ghost:1", 0, "ghost", 1, false},
    {"ghost", 0, "ghost", 1, false},
    {"ghost:64", 0, "ghost", 64, false},
    {"auto", 0, "ghost", 1, false},
    {"offload", 0, "offload", 0, false},
    {"thread,x=y", 0, "thread", 0, false},
    {"off", 0, "off", 0, false},
    {"ghost:2,require", 0, "ghost", 2, true},
    {"ghost:2,a=b,require=yes", 0, "ghost", 2, true},
    {"ghost:2,require=no", 0, "ghost", 2, false},
    {"ghost:2,requires=yes", 0, "ghost", 2, false},
    {"ghost:2,adapt=auto,require", 0, "ghost", 2, true},
    {"", -1, NULL, 0, false},
    {"ghost:0", -1, NULL, 0, false},
    {"ghost:65", -1, NULL, 0, false},
    {"ghost:-1", -1, NULL, 0, false},
    {"ghost:9999999999", -1, NULL, 0, false},
    {"ghost:1x", -1, NULL, 0, false},
    {"ghost:", -1, NULL, 0, false},
    {"ghosts", -1, NULL, 0, false},
    {"off:1", -1, NULL, 0, false},
    {"require,ghost:1", -1, NULL, 0, false},
    {"ghost:1\n", -1, NULL, 0, false},
    {"ghost:1,x=\033[0m", -1, NULL, 0, false},
    {"ghost:1,x=\x80", -1, NULL, 0, false},
};

static void test_spec(void **state)
{
    struct asp_request_spec spec;
    char *big = malloc(ASP_SPEC_MAX + 2);

    (void) state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        if (asp_request_spec_parse(specs[i].text, &spec) != specs[i].rc)
            fail_msg("spec \"%s\"", specs[i].text);
        if (specs[i].rc < 0)
            continue;
        assert_string_equal(spec.mode, specs[i].mode);
        assert_int_equal(spec.ghosts, specs[i].ghosts);
        assert_int_equal(spec.require, specs[i].require);
    }
    memset(big, 'x', ASP_SPEC_MAX + 1);
    memcpy(big, "ghost:1,", 8);
    big[ASP_SPEC_MAX + 1] = '\0';
    assert_int_equal(asp_request_spec_parse(big, &spec), -1);
    assert_int_equal(errno, EMSGSIZE);
    free(big);
}

static void test_items(void **state)
{
    const char *rest = "ghost:2,a=b=c,,word,e=";
    static const struct {
        const char *key, *value;
    } want[] = {
        {"ghost:2", NULL}, {"a", "b=c"}, {"", NULL}, {"word", NULL}, {"e", ""}};
    struct asp_spec_item item;
    size_t n = 0;

    (void) state;
    for (; asp_spec_next(&rest, &item); n++) {
        assert_int_equal(item.key_len, strlen(want[n].key));
        assert_memory_equal(item.key, want[n].key, item.key_len);
        assert_int_equal(item.value == NULL, want[n].value == NULL);
        if (item.value == NULL)
            continue;
        assert_int_equal(item.value_len, strlen(want[n].value));
        assert_memory_equal(item.value, want[n].value, item.value_len);
    }
    assert_int_equal(n, sizeof(want) / sizeof(want[0]));
}

static void test_says(void **state)
{
    struct asp_request_spec spec;

    (void) state;
    assert_true(asp_spec_says("ghost,a=b,c", "a", "b"));
    assert_true(asp_spec_says("ghost,a=b,c", "c", "yes"));
    assert_false(asp_spec_says("ghost,a=b,c", "a", "bc"));
    assert_false(asp_spec_says("ghost,ab=b", "a", "b"));
    assert_int_equal(asp_request_spec_parse("ghost,adapt=auto", &spec), 0);
    assert_true(spec.optional);
    assert_int_equal(asp_request_spec_parse("ghost,adapt=auto,require", &spec),
                     0);
    assert_false(spec.optional);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
