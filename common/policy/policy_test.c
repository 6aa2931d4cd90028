/* SPDX-License-Identifier: BSD-3-Clause */
/* What policies may say: the schema, SPEC and YAML. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/nearest.h"
#include "try.h"

/* The whole schema obeys itself. */
static void schema(void **state)
{
    (void) state;
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        const struct asp_knob *knob = &asp_knobs[id];
        char out[ASP_VALUE_MAX], range[ASP_VALUE_MAX];

        assert_int_equal(asp_knob_find(knob->name), id);
        assert_int_equal(asp_knob_check(id, knob->builtin, out, NULL), 0);
        assert_string_equal(out, knob->builtin);
        assert_true(knob->help[0] && strlen(knob->name) < ASP_NAME_MAX);
        assert_true(asp_knob_range(id, range, sizeof(range))[0] != '\0');
    }
    assert_int_equal(asp_knob_find("nothing"), ASP_KNOB_COUNT);
}

static void suggests(void **state)
{
    static const char *const words[] = {"ghosts", "mode", "placement.spread"};

    (void) state;
    assert_string_equal(asp_nearest("ghots", words, 3), "ghosts");
    assert_string_equal(asp_nearest("placement.sperad", words, 3),
                        "placement.spread");
    assert_null(asp_nearest("xyz", words, 3));
    assert_null(asp_nearest("", words, 3));
}

static void reads_specs(void **state)
{
    static const char *const rows[][2] = {
        {"ghost", "ghost:1"},
        {"ghost:2", "ghost:2"},
        {"ghosts=3,mode=ghost", "ghost:3"},
        {"ghost:2,require", "ghost:2,require=yes"},
        {"ghost:2,offload", "ghost:2,offload=yes"},
        {"offload,require", "offload,require=yes"},
        {"ghost:1,require=off,placement.spread=pack",
         "ghost:1,require=no,placement.spread=pack"},
        {"ghost,report=/tmp/a=b", "ghost:1,report=/tmp/a=b"},
        {"ghost,idle.spin_us=0", "ghost:1,idle.spin_us=0"},
        {"off", "off"},
        {"", "ghost:1,adapt=auto"}, /* auto */
        {"auto,adapt=off", "ghost:1,adapt=off"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[ASP_SPEC_MAX + 1], again[ASP_SPEC_MAX + 1];
        struct asp_policy *policy = create();

        assert_int_equal(asp_policy_add_spec(policy, rows[i][0], ASP_LAYER_LINE,
                                             "line", NULL),
                         0);
        resolve(policy, NULL);
        assert_int_equal(asp_policy_canonical(policy, line, sizeof(line), NULL),
                         strlen(rows[i][1]));
        assert_string_equal(line, rows[i][1]);
        asp_policy_destroy(policy);
        /* What travels to the nodes says the same there. */
        policy = create();
        assert_int_equal(
            asp_policy_add_spec(policy, line, ASP_LAYER_LINE, "node", NULL), 0);
        resolve(policy, NULL);
        asp_policy_canonical(policy, again, sizeof(again), NULL);
        assert_string_equal(again, line);
        asp_policy_destroy(policy);
    }
}

static void refuses_specs(void **state)
{
    static const struct {
        const char *spec, *says;
        int errnum;
    } rows[] = {
        {"gost", "\"ghost\"", EINVAL},
        {"ghost,ghots=2", "\"ghosts\"", EINVAL},
        {"ghost,colour=blue", "colour", EINVAL},
        {"ghost:0", "1..64", EINVAL},
        {"ghost:65", "1..64", EINVAL},
        {"ghost:-1", "1..64", EINVAL},
        {"ghost:", "1..64", EINVAL},
        {"ghost:99999999999999999999", "1..64", EINVAL},
        {"ghost:1x", "1..64", EINVAL},
        {"ghost:2,ghosts=2", "twice", EINVAL},
        {"ghost,off", "two modes, ghost and off", EINVAL},
        {"ghost:1,offlod", "did you mean \"offload\"", EINVAL},
        {"off:2", "no number", EINVAL},
        {"ghost,", "empty", EINVAL},
        {",", "empty", EINVAL},
        {"ghost,require=maybe", "no|yes", EINVAL},
        {"ghost\n", "control", EINVAL},
        {"ghost,report=/tmp/\303\244.json", "ASCII", EINVAL},
        {"offload:1", "no number", EINVAL},
        {"thread:1", "no number", EINVAL},
        {"thread,thread.service_cores=0", "1..64", EINVAL},
        {"thread,offload", "write offload", EINVAL},
        {"offload=yes,mode=thread", "write offload", EINVAL},
        {"ghost:1,offload,p2p=large", "write ghost:N,p2p=large", EINVAL},
        {"ghost:1,p2p=yes", "off|all|large", EINVAL},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        struct asp_err err = {.text = ""};

        if (!asp_policy_add_spec(policy, rows[i].spec, ASP_LAYER_LINE, "line",
                                 &err))
            fail_msg("accepted: %s", rows[i].spec);
        assert_int_equal(errno, rows[i].errnum);
        if (!strstr(err.text, rows[i].says))
            fail_msg("%s: %s", rows[i].spec, err.text);
        assert_string_equal(err.place, "line");
        resolve(policy, NULL);
        assert_int_equal(asp_policy_setting(policy, ASP_KNOB_MODE)->layer,
                         ASP_LAYER_BUILTIN);
        asp_policy_destroy(policy);
    }
}

static void refuses_yaml(void **state)
{
    static const char *const jobs[][3] = {
        {"ghost: 2\n", "f:1:1", "\"ghosts\""},
        {"mode: ghost\nplacement:\n  sprad: numa\n", "f:3:3", "spread"},
        {"mode: gohst\n", "f:1:7", "\"ghost\""},
        {"ghosts: 0\n", "f:1:9", "1..64"},
        {"ghosts: [1]\n", "f:1:9", "list"},
        {"ghosts: 1\nghosts: 2\n", "f:2:1", "twice"},
        {"placement.spread: numa\nplacement: {spread: pack}\n", "f:2:21",
         "twice"},
        {"a: &x 1\n", "f:1:4", "anchor"},
        {"mode: *x\n", "f:1:7", "alias"},
        {"mode: !!str ghost\n", "f:1:7", "tag"},
        {"mode: ghost\n--- \nmode: off\n", "f:2:1", "document"},
        {"- a\n", "f:1:1", "map"},
        {"mode: {a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}}\n", "f:1:36",
         "deep"},
        {"mode: [\n", "f:2:1", "YAML"},
        {"limits: {ghosts: {max: 1}}\n", "f:1:18", "deep"},
        {"mode: thraed\n", "f:1:7", "did you mean"},
        {"mode: \xff\n", "f:1:7", "UTF-8"},
        /* What is quoted cannot act on a terminal. */
        {"\"mo\\e[2Jde\": off\n", "f:1:1", "\"mo?[2Jde\""},
        {"mode: \"\\u009b2J\\x7f\\r\"\n", "f:1:7", "\"??2J??\""},
        {"windows: {order: 1}\n", "f:1:10", "list"},
        {"windows:\n  - order: 1\n", "f:2:5", "nothing"},
        {"windows:\n  - order: 0\n", "f:2:12", "1-4"},
        {"windows:\n  - {order: 1, no_lock: yes}\n", "f:2:16", "\"no_locks\""},
        {"windows:\n  - {order: 1, rma: {bind: rank}}\n", "f:2:22", "bind"},
        {"windows:\n  - {order: 1, epochs_used: [fence, lok]}\n", "f:2:29",
         "pscw"},
        {"windows:\n  - name: x\n    async_config: native\n", "f:2:5",
         "order:"},
        {"windows:\n  - 7\n", "f:2:5", "map"},
    };
    static const char *const sites[][3] = {
        {"defaults: {mode: ghost}\n", "f:1:1", "version: 1"},
        {"version: 2\n", "f:1:10", "version 1"},
        {"version: 1\nlimit: {}\n", "f:2:1", "\"limits\""},
        {"version: 1\nrules:\n  - set: {ghost: 1}\n", "f:3:11", "ghosts"},
        {"version: 1\nrules:\n  - match: {part: x}\n    set: {}\n", "f:3:13",
         "partition"},
        {"version: 1\nrules:\n  - match: {nodes: few}\n    set: {}\n", "f:3:20",
         "comparison"},
        {"version: 1\nrules:\n  - match: {nodes: 2}\n", "f:3:5", "set:"},
        {"version: 1\nrules:\n  - windows: {}\n", "f:3:14", "list"},
        {"version: 1\nwindows: [{same_size: 3}]\n", "f:2:23", "true|false"},
        {"version: 1\nlimits: {mode: {max: 2}}\n", "f:2:22", "allow"},
        {"version: 1\nlimits: {ghosts: {max: 1, min: 2}}\n", "f:2:18", "above"},
        {"version: 1\nlimits: {ghosts: {maxx: 1}}\n", "f:2:19", "\"max\""},
        {"version: 1\nlimits: {idle.spin_us: {max: auto}}\n", "f:2:30",
         "no bound"},
        {"version: 1\ndefaults: {report: yes}\n", "f:2:20", "jobs"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        refuse_yaml(ASP_POLICY_JOB, jobs[i][0], strlen(jobs[i][0]), jobs[i][1],
                    jobs[i][2]);
    for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
        refuse_yaml(ASP_POLICY_SITE, sites[i][0], strlen(sites[i][0]),
                    sites[i][1], sites[i][2]);
    refuse_yaml(ASP_POLICY_JOB, "mode: \0ghost\n", 13, "f", "NUL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema),       cmocka_unit_test(suggests),
        cmocka_unit_test(reads_specs),  cmocka_unit_test(refuses_specs),
        cmocka_unit_test(refuses_yaml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
