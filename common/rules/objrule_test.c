/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of rules for windows and communicators: schema, values,
 * combinations, text form, and what they say of a communicator. */
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
#include "common/rules/commrule.h"
#include "common/rules/winrule.h"

static void schema(void **state)
{
    (void) state;
    for (int i = 0; i < ASP_WINKEY_COUNT + ASP_COMMKEY_COUNT; i++) {
        bool comm = i >= ASP_WINKEY_COUNT;
        struct asp_objrule rule = {.kind = comm ? ASP_OBJ_COMM
                                                : ASP_OBJ_WINDOW};
        const struct asp_objkind *kind = asp_objkind(rule.kind);
        size_t k = (size_t) (comm ? i - ASP_WINKEY_COUNT : i);
        const struct asp_objkey *key = &kind->keys[k];
        char value[ASP_VALUE_MAX], *end;

        assert_int_equal(asp_objkey_find(kind, key->name), k);
        if (key->alias[0])
            assert_int_equal(asp_objkey_find(kind, key->alias), k);
        assert_true(key->help[0] != '\0');
        snprintf(value, sizeof(value), "%s", key->values);
        end = strchr(value, '|');
        *end = '\0';
        assert_int_equal(asp_objrule_set(&rule, key->name, value, NULL), 0);
        assert_string_equal(rule.value[k], value);
        /* A key that bears a knob's name takes the knob's values. */
        if (key->flags & ASP_OBJ_KNOB)
            assert_string_equal(asp_knobs[asp_knob_find(key->name)].values,
                                key->values);
    }
    for (enum asp_objkind_id id = 0; id < ASP_OBJ_KINDS; id++) {
        const struct asp_objkind *kind = asp_objkind(id);

        assert_int_equal(asp_objkind_find(kind->word), id);
        assert_int_equal(asp_objkey_find(kind, ""), kind->nkeys);
        assert_int_equal(asp_objkey_find(kind, "order"), kind->nkeys);
        assert_true(asp_objmatcher_known(kind, "order"));
        assert_int_equal(asp_objmatcher_known(kind, "size"),
                         id == ASP_OBJ_COMM);
    }
    assert_int_equal(asp_objkind_find("windows"), ASP_OBJ_KINDS);
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
        struct asp_objrule rule = {.kind = ASP_OBJ_WINDOW};
        struct asp_err err = {.text = ""};

        if (asp_objrule_set(&rule, rows[i][0], rows[i][1], &err) < 0)
            fail_msg("%s", err.text);
        assert_string_equal(
            rule.value[asp_objkey_find(&asp_window_kind, rows[i][0])],
            rows[i][2]);
        assert_int_equal(asp_objrule_set(&rule, rows[i][0], rows[i][1], NULL),
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
        struct asp_objrule rule = {.kind = ASP_OBJ_WINDOW};

        assert_int_equal(asp_objrule_set(&rule, "order", rows[i].text, NULL),
                         rows[i].first ? 0 : -1);
        assert_int_equal(rule.order.first, rows[i].first);
        assert_int_equal(rule.order.last, rows[i].last);
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
        {"size:2;no_locks:true", "size"},
        {"p2p:all", "p2p"},
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
        struct asp_objrule rule;
        struct asp_err err = {.text = ""};

        errno = 0;
        if (!asp_objrule_parse(ASP_OBJ_WINDOW, rows[i][0], strlen(rows[i][0]),
                               &rule, &err))
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
        struct asp_objrule rule;
        char text[ASP_OBJRULE_TEXT_MAX];

        assert_int_equal(asp_objrule_parse(ASP_OBJ_WINDOW, rows[i],
                                           strlen(rows[i]), &rule, NULL),
                         0);
        assert_int_equal(asp_objrule_print(&rule, text, sizeof(text)),
                         strlen(rows[i]));
        assert_string_equal(text, rows[i]);
        assert_int_equal(asp_objrule_print(&rule, text, strlen(rows[i])), -1);
        assert_int_equal(errno, ENOSPC);
    }
}

/* The longest of everything fits. */
static void longest(void **state)
{
    struct asp_objrule rule = {.order = {4000000000u, 4000000001u}};
    struct asp_objrule again;
    char text[ASP_OBJRULE_TEXT_MAX];
    int len;

    (void) state;
    memset(rule.name, '*', sizeof(rule.name) - 1);
    memset(rule.site, '%', sizeof(rule.site) - 1);
    memset(rule.origin, ':', sizeof(rule.origin) - 1);
    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++)
        memset(rule.value[id], ',', ASP_OBJVALUE_MAX - 1);
    assert_true(asp_objrule_print(&rule, text, sizeof(text)) > 0);
    memset(rule.value, 0, sizeof(rule.value));
    strcpy(rule.value[ASP_WIN_BALANCE], "bytes");
    len = asp_objrule_print(&rule, text, sizeof(text));
    assert_true(len > 0);
    assert_int_equal(
        asp_objrule_parse(ASP_OBJ_WINDOW, text, (size_t) len, &again, NULL), 0);
    assert_memory_equal(&rule, &again, sizeof(rule));
}

static void words(void **state)
{
    static const char text[] = "name:x;order:2-;rma.balance:ops";
    struct asp_objrule rule;
    char buf[256];

    (void) state;
    assert_int_equal(
        asp_objrule_parse(ASP_OBJ_WINDOW, text, strlen(text), &rule, NULL), 0);
    assert_string_equal(asp_objrule_matchers(&rule, buf, sizeof(buf)),
                        "name x, order 2-");
    assert_string_equal(asp_objrule_values(&rule, buf, sizeof(buf)),
                        "rma.balance=ops");
    rule.name[0] = '\0';
    rule.order.first = 0;
    assert_string_equal(asp_objrule_matchers(&rule, buf, sizeof(buf)),
                        "every window");
}

/* Add rules to a list, in their text form. */
static void add_rules(struct asp_objrules *rules, const char *const *texts)
{
    rules->n = 0;
    for (; *texts; texts++) {
        struct asp_err err = {.text = ""};

        if (asp_objrule_parse(ASP_OBJ_COMM, *texts, strlen(*texts),
                              &rules->rule[rules->n++], &err) < 0)
            fail_msg("%s: %s", *texts, err.text);
    }
}

static void refuses_of_communicators(void **state)
{
    static const char *const rows[][2] = {
        {"size:4", "a rule for communicators sets nothing"},
        {"p2p:yes", "off|all|large"},
        {"exact_length:maybe", "true|false"},
        {"exact_length:true;mpi_assert_exact_length:true", "twice"},
        {"size:4;size:2;p2p:all", "twice"},
        {"size:0;p2p:all", "size"},
        {"no_locks:true", "of a communicator"},
        {"name:halo%2A;p2p:all", "MPI_Comm_set_name"},
        {"name:MPI_COMM_WORLD;order:1;p2p:all", "does not make"},
        {"name:MPI_COMM_WORLD;site:a%2A;p2p:all", "does not make"},
    };
    static const char *const good[] = {
        "p2p:large;exact_length:true;from:job.yaml%3A3%3A5",
        "order:2-;size:3-64;site:app%3A%2A;p2p:all",
        "name:MPI_COMM_%2A;p2p:off;exact_length:false",
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_objrule rule;
        struct asp_err err = {.text = ""};

        if (!asp_objrule_parse(ASP_OBJ_COMM, rows[i][0], strlen(rows[i][0]),
                               &rule, &err))
            fail_msg("accepted: %s", rows[i][0]);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], err.text);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct asp_objrule rule;
        char text[ASP_OBJRULE_TEXT_MAX];

        assert_int_equal(asp_objrule_parse(ASP_OBJ_COMM, good[i],
                                           strlen(good[i]), &rule, NULL),
                         0);
        asp_objrule_print(&rule, text, sizeof(text));
        assert_string_equal(text, good[i]);
    }
}

/* All that match hold, and of those that set a key the last. */
static void said_of_communicators(void **state)
{
    static const char *const texts[] = {
        "p2p:large",                       /* 0 */
        "order:2-3;exact_length:true",     /* 1 */
        "size:1-2;p2p:off",                /* 2 */
        "site:libfft%2A;p2p:all",          /* 3 */
        "name:MPI_COMM_WORLD;p2p:all",     /* 4 */
        "order:3;size:8-;exact_length:no", /* 5 */
        NULL,
    };
    enum { LIBFFT = 0, OTHER = 1 << 3 };
    static const struct {
        struct asp_comm_made made;
        int p2p, exact_length;
        uint32_t holds;
    } rows[] = {
        {{"MPI_COMM_WORLD", 0, 8, OTHER}, ASP_P2P_ALL, -1, 0x11},
        {{"MPI_COMM_SELF", 0, 1, OTHER}, ASP_P2P_OFF, -1, 0x05},
        {{"", 1, 8, OTHER}, ASP_P2P_LARGE, -1, 0x01},
        {{"", 2, 8, OTHER}, ASP_P2P_LARGE, 1, 0x03},
        {{"", 3, 8, OTHER}, ASP_P2P_LARGE, 0, 0x23},
        {{"", 3, 7, OTHER}, ASP_P2P_LARGE, 1, 0x03},
        {{"", 4, 2, OTHER}, ASP_P2P_OFF, -1, 0x05},
        {{"", 4, 2, LIBFFT}, ASP_P2P_ALL, -1, 0x0d},
    };
    struct asp_objrules *rules = calloc(1, sizeof(*rules));
    struct asp_comm_said said;

    (void) state;
    assert_non_null(rules);
    said = asp_commrules_ask(rules, &rows[0].made);
    assert_int_equal(said.p2p, -1);
    assert_int_equal(said.exact_length, -1);
    assert_int_equal(said.holds, 0);
    add_rules(rules, texts);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        said = asp_commrules_ask(rules, &rows[i].made);
        if (said.p2p != rows[i].p2p ||
            said.exact_length != rows[i].exact_length ||
            said.holds != rows[i].holds)
            fail_msg("row %zu: %d %d %x", i, said.p2p, said.exact_length,
                     said.holds);
    }
    free(rules);
}

/* Who came from where: one bit for each rule that asks for another site. */
static void sites_of_communicators(void **state)
{
    static const char *const texts[] = {
        "p2p:large", "site:libfft.so%2A;p2p:all", "site:app%3Amain;p2p:off",
        "site:app%2B0x11;p2p:off", NULL};
    static const struct {
        const char *place, *function;
        uint32_t missed;
    } rows[] = {
        {"", "", 0xe},
        {"libfft.so.3+0x4", "", 0xc},
        {"app+0x11", "app:main", 0x2},
        {"app+0x110", "app:main", 0xa},
    };
    struct asp_objrules *rules = calloc(1, sizeof(*rules));

    (void) state;
    assert_non_null(rules);
    assert_int_equal(asp_commrules_missed(rules, "app+0x11", ""), 0);
    add_rules(rules, texts);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(
            asp_commrules_missed(rules, rows[i].place, rows[i].function),
            rows[i].missed);
    free(rules);
}

/* The digest is of what the rules say. */
static void digests(void **state)
{
    static const char *const one[] = {"p2p:large", "size:2;p2p:off", NULL};
    static const char *const two[] = {"size:2;p2p:off", "p2p:large", NULL};
    struct asp_objrules *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

    (void) state;
    assert_true(a && b);
    assert_int_equal(asp_objrules_digest(a), asp_objrules_digest(b));
    add_rules(a, one);
    assert_int_not_equal(asp_objrules_digest(a), asp_objrules_digest(b));
    add_rules(b, two);
    assert_int_not_equal(asp_objrules_digest(a), asp_objrules_digest(b));
    add_rules(b, one);
    assert_int_equal(asp_objrules_digest(a), asp_objrules_digest(b));
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema),
        cmocka_unit_test(values),
        cmocka_unit_test(orders),
        cmocka_unit_test(refuses),
        cmocka_unit_test(longest),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(words),
        cmocka_unit_test(refuses_of_communicators),
        cmocka_unit_test(said_of_communicators),
        cmocka_unit_test(sites_of_communicators),
        cmocka_unit_test(digests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
