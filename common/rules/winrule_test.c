/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of rules for windows: schema, values, combinations, text form. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/policy/policy.h"

static void schema(void **state)
{
    (void) state;
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++) {
        const struct asp_winkey *key = &asp_winkeys[id];
        char value[ASP_VALUE_MAX], *end;
        struct asp_winrule rule = {.first = 0};

        assert_int_equal(asp_winkey_find(key->name), id);
        if (key->alias[0])
            assert_int_equal(asp_winkey_find(key->alias), id);
        assert_true(key->help[0] != '\0');
        snprintf(value, sizeof(value), "%s", key->values);
        end = strchr(value, '|');
        *end = '\0';
        assert_int_equal(asp_winrule_set(&rule, key->name, value, NULL), 0);
        assert_string_equal(rule.value[id], value);
        /* A key that bears a knob's name takes the knob's values. */
        if (key->flags & ASP_WIN_KNOB)
            assert_string_equal(asp_knobs[asp_knob_find(key->name)].values,
                                key->values);
    }
    assert_int_equal(asp_winkey_find(""), ASP_WINKEY_COUNT);
    assert_int_equal(asp_winkey_find("order"), ASP_WINKEY_COUNT);
}

/* What a user may write, and what becomes of it. */
static void values(void **state)
{
    static const char *const rows[][3] = {
        {"epochs_used", "lock,fence", "fence,lock"},
        {"epoch_type", "lockall", "lockall"},
        {"epochs_used", "lock, lockall", "lock,lockall"},
        {"epochs_used", "fence,pscw,lock,lockall", "fence,pscw,lock,lockall"},
        {"no_locks", "yes", "true"},
        {"no_local_load_store", "0", "false"},
        {"accumulate_ordering", "waw,rar", "rar,waw"},
        {"accumulate_ordering", "none", "none"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_winrule rule = {.first = 0};
        struct asp_err err = {.text = ""};

        if (asp_winrule_set(&rule, rows[i][0], rows[i][1], &err) < 0)
            fail_msg("%s", err.text);
        assert_string_equal(rule.value[asp_winkey_find(rows[i][0])],
                            rows[i][2]);
        assert_int_equal(asp_winrule_set(&rule, rows[i][0], rows[i][1], NULL),
                         -1); /* twice */
    }
}

static void orders(void **state)
{
    static const struct {
        const char *text;
        uint32_t first, last;
    } rows[] = {
        {"1", 1, 1},
        {"2-7", 2, 7},
        {"5-", 5, UINT32_MAX},
        {"3-3", 3, 3},
        /* refused */
        {"0", 0, 0},
        {"-3", 0, 0},
        {"4-2", 0, 0},
        {"", 0, 0},
        {"x", 0, 0},
        {"1-x", 0, 0},
        {"1,2", 0, 0},
        {"99999999999", 0, 0},
        {"1-4294967295", 0, 0},
        {"1--", 0, 0},
        {"0-3", 0, 0},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_winrule rule = {.first = 0};

        assert_int_equal(asp_winrule_set(&rule, "order", rows[i].text, NULL),
                         rows[i].first ? 0 : -1);
        assert_int_equal(rule.first, rows[i].first);
        assert_int_equal(rule.last, rows[i].last);
    }
}

static void refuses(void **state)
{
    /* A text form each, and what the refusal says. */
    static const char *const rows[][2] = {
        {"", "KEY:VALUE"},
        {"order", "KEY:VALUE"},
        {"order:1", "sets nothing"},
        {"order:1;", "KEY:VALUE"},
        {"order:1;order:2;no_locks:true", "twice"},
        {"no_locks:true;no_locks:true", "twice"},
        {"no_load_store:true;no_local_load_store:true", "twice"},
        {"colour:blue", "colour"},
        {"no_locks:maybe", "true|false"},
        {"async_config:false", "on|off"},
        {"epochs_used:locks", "fence|pscw"},
        {"epochs_used:", "fence|pscw"},
        {"accumulate_ordering:none%2Crar", "none|rar"},
        {"name:a%2A;async_config:native", "MPI_Win_set_name"},
        {"name:a;order:1;rma.binding:segment", "MPI_Win_set_name"},
        {"async_config:off;rma.balance:ops", "async_config"},
        {"async_config:native;rma.binding:rank", "native leaves to MPI"},
        {"no_locks:true;epochs_used:lockall", "contradicts"},
        {"name:;rma.balance:ops", "pattern"},
        {"name:%0a;rma.balance:ops", "KEY:VALUE"},
        {"name:%1F;rma.balance:ops", "KEY:VALUE"},
        {"name:%0;rma.balance:ops", "KEY:VALUE"},
        {"name:a b;rma.balance:ops", "KEY:VALUE"},
        {"from:x;from:y;no_locks:true", "twice"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_winrule rule;
        struct asp_err err = {.text = ""};

        errno = 0;
        if (!asp_winrule_parse(rows[i][0], strlen(rows[i][0]), &rule, &err))
            fail_msg("accepted: %s", rows[i][0]);
        assert_int_equal(errno, EINVAL);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], err.text);
    }
}

static void round_trip(void **state)
{
    static const char *const rows[] = {
        "no_locks:true",
        "order:1-4;async_config:off;from:job.yaml%3A3%3A5",
        "name:a%2A%20%2C%3B%25;rma.balance:queue",
        "order:5-;site:app%3Amain%2A;epochs_used:fence%2Clock;"
        "accumulate_ordering:none;accumulate_ops:same_op;same_size:false;"
        "alloc_shared_noncontig:true;rma.binding:segment",
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_winrule rule;
        char text[ASP_WINRULE_TEXT_MAX];

        assert_int_equal(
            asp_winrule_parse(rows[i], strlen(rows[i]), &rule, NULL), 0);
        assert_int_equal(asp_winrule_print(&rule, text, sizeof(text)),
                         strlen(rows[i]));
        assert_string_equal(text, rows[i]);
        assert_int_equal(asp_winrule_print(&rule, text, strlen(rows[i])), -1);
        assert_int_equal(errno, ENOSPC);
    }
}

/* The longest of everything fits. */
static void longest(void **state)
{
    struct asp_winrule rule = {.first = 4000000000u, .last = 4000000001u};
    struct asp_winrule again;
    char text[ASP_WINRULE_TEXT_MAX];
    int len;

    (void) state;
    memset(rule.name, '*', sizeof(rule.name) - 1);
    memset(rule.site, '%', sizeof(rule.site) - 1);
    memset(rule.origin, ':', sizeof(rule.origin) - 1);
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++)
        memset(rule.value[id], ',', ASP_WINVALUE_MAX - 1);
    assert_true(asp_winrule_print(&rule, text, sizeof(text)) > 0);
    memset(rule.value, 0, sizeof(rule.value));
    strcpy(rule.value[ASP_WIN_BALANCE], "bytes");
    len = asp_winrule_print(&rule, text, sizeof(text));
    assert_true(len > 0);
    assert_int_equal(asp_winrule_parse(text, (size_t) len, &again, NULL), 0);
    assert_memory_equal(&rule, &again, sizeof(rule));
}

static void words(void **state)
{
    static const char text[] = "name:x;order:2-;rma.balance:ops";
    struct asp_winrule rule;
    char buf[256];

    (void) state;
    assert_int_equal(asp_winrule_parse(text, strlen(text), &rule, NULL), 0);
    assert_string_equal(asp_winrule_matchers(&rule, buf, sizeof(buf)),
                        "name x, order 2-");
    assert_string_equal(asp_winrule_values(&rule, buf, sizeof(buf)),
                        "rma.balance=ops");
    rule.name[0] = '\0';
    rule.first = 0;
    assert_string_equal(asp_winrule_matchers(&rule, buf, sizeof(buf)),
                        "every window");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema),  cmocka_unit_test(values),
        cmocka_unit_test(orders),  cmocka_unit_test(refuses),
        cmocka_unit_test(longest), cmocka_unit_test(round_trip),
        cmocka_unit_test(words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
