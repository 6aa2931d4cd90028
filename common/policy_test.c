/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the policy: schema, SPEC, YAML, precedence, rules, limits and the
 * site file's demands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/nearest.h"
#include "common/policy.h"

static const char site_text[] = "version: 1\n"
                                "defaults:\n"
                                "  mode: ghost\n"
                                "  placement: {spread: pack}\n"
                                "rules:\n"
                                "  - match: {partition: [gpu*, fat]}\n"
                                "    set: {ghosts: 2}\n"
                                "  - match: {program: lu.*, nodes: \">=4\"}\n"
                                "    set:\n"
                                "      ghosts: 3\n"
                                "      pmix: off\n"
                                "limits:\n"
                                "  ghosts: {min: 1, max: 4}\n"
                                "  pmix: {allow: [auto, off]}\n";

static struct asp_policy *create(void)
{
    struct asp_policy *policy = asp_policy_create();

    assert_non_null(policy);
    return policy;
}

static void add(struct asp_policy *policy, enum asp_policy_kind kind,
                const char *text)
{
    struct asp_err err = {.text = ""};

    if (asp_policy_add_text(policy,
                            kind == ASP_POLICY_SITE ? "site.yaml" : "job.yaml",
                            text, strlen(text), kind, &err))
        fail_msg("%s: %s", err.place, err.text);
}

static void resolve(struct asp_policy *policy, const struct asp_facts *facts)
{
    struct asp_err err = {.text = ""};

    if (asp_policy_resolve(policy, facts, &err))
        fail_msg("%s: %s", err.place, err.text);
}

/* The whole schema obeys itself. */
static void schema(void **state)
{
    (void)state;
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

    (void)state;
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

    (void)state;
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
    };

    (void)state;
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

static void refuse_yaml(enum asp_policy_kind kind, const char *text, size_t len,
                        const char *place, const char *says)
{
    struct asp_policy *policy = create();
    struct asp_err err = {.text = ""};

    if (!asp_policy_add_text(policy, "f", text, len, kind, &err))
        fail_msg("accepted: %s", text);
    if (strcmp(err.place, place) || !strstr(err.text, says))
        fail_msg("%s\ngives %s: %s", text, err.place, err.text);
    asp_policy_destroy(policy);
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
        {"windows: {order: 1}\n", "f:1:10", "list"},
        {"windows:\n  - order: 1\n", "f:2:5", "nothing"},
        {"windows:\n  - order: 0\n", "f:2:12", "1-4"},
        {"windows:\n  - {order: 1, no_lock: yes}\n", "f:2:16",
         "\"no_locks\""},
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

    (void)state;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        refuse_yaml(ASP_POLICY_JOB, jobs[i][0], strlen(jobs[i][0]), jobs[i][1],
                    jobs[i][2]);
    for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
        refuse_yaml(ASP_POLICY_SITE, sites[i][0], strlen(sites[i][0]),
                    sites[i][1], sites[i][2]);
    refuse_yaml(ASP_POLICY_JOB, "mode: \0ghost\n", 13, "f", "NUL");
}

/* built-in < defaults < rules < job < environment < command line. */
static void precedence(void **state)
{
    struct asp_policy *policy = create();
    struct asp_facts facts = {.partition = "gpu7"};
    const struct asp_setting *ghosts;

    (void)state;
    ghosts = asp_policy_setting(policy, ASP_KNOB_GHOSTS);
    resolve(policy, &facts);
    assert_string_equal(ghosts->origin, "built-in");
    add(policy, ASP_POLICY_SITE, site_text);
    resolve(policy, NULL);
    assert_string_equal(ghosts->value, "1");
    assert_string_equal(asp_policy_text(policy, ASP_KNOB_SPREAD), "pack");
    assert_string_equal(asp_policy_setting(policy, ASP_KNOB_SPREAD)->origin,
                        "site.yaml:4:23");
    resolve(policy, &facts);
    assert_int_equal(asp_policy_number(policy, ASP_KNOB_GHOSTS), 2);
    assert_int_equal(ghosts->layer, ASP_LAYER_RULE);
    add(policy, ASP_POLICY_JOB, "ghosts: 3\n");
    resolve(policy, &facts);
    assert_string_equal(ghosts->origin, "job.yaml:1:9");
    assert_int_equal(asp_policy_add_spec(policy, "ghosts=4", ASP_LAYER_ENV,
                                         "ASPEN_PROGRESS", NULL),
                     0);
    resolve(policy, &facts);
    assert_string_equal(ghosts->value, "4");
    assert_int_equal(asp_policy_add_spec(policy, "ghost:2", ASP_LAYER_LINE,
                                         "command line", NULL),
                     0);
    resolve(policy, &facts);
    assert_string_equal(ghosts->value, "2");
    assert_string_equal(ghosts->origin, "command line");
    asp_policy_destroy(policy);
}

/* "on" is a wish that leaves the how to weaker layers; their off counts only
 * where the same user wrote it into a file. */
static void on_is_a_wish(void **state)
{
    static const struct {
        const char *site, *job, *env, *line, *mode;
    } rows[] = {
        {NULL, NULL, NULL, "on", "auto"},
        {NULL, "mode: thread\n", NULL, "on", "thread"},
        {NULL, "mode: thread\n", NULL, "auto", "auto"},
        {NULL, "mode: thread\n", NULL, "on,ghosts=2", "thread"},
        {NULL, "mode: off\n", NULL, "on", "off"},
        {NULL, "mode: thread\n", "off", "on", "auto"},
        {NULL, "mode: thread\n", "offload", "on", "offload"},
        {NULL, NULL, "on", "offload", "offload"},
        {"version: 1\ndefaults: {mode: off}\n", NULL, "on", NULL, "auto"},
        {"version: 1\ndefaults: {mode: off}\n", NULL, NULL, "pmix=off", "off"},
        {"version: 1\ndefaults: {mode: offload}\n", NULL, NULL, "on", "offload"},
        {"version: 1\nlimits: {mode: {allow: [off]}}\n", NULL, NULL, "on", "off"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        const struct asp_setting *mode;

        if (rows[i].site)
            add(policy, ASP_POLICY_SITE, rows[i].site);
        if (rows[i].job)
            add(policy, ASP_POLICY_JOB, rows[i].job);
        if (rows[i].env)
            assert_int_equal(asp_policy_add_spec(policy, rows[i].env,
                                                 ASP_LAYER_ENV, "env", NULL),
                             0);
        if (rows[i].line)
            assert_int_equal(asp_policy_add_spec(policy, rows[i].line,
                                                 ASP_LAYER_LINE, "line", NULL),
                             0);
        resolve(policy, NULL);
        mode = asp_policy_setting(policy, ASP_KNOB_MODE);
        if (strcmp(rows[i].mode, "auto") == 0)
            assert_true(asp_policy_is_auto(policy));
        else
            assert_string_equal(mode->value, rows[i].mode);
        asp_policy_destroy(policy);
    }
}

/* A knob of one layer, and of another a mode that has no use for it. */
static void idle_offload(void **state)
{
    struct asp_policy *policy = create();
    char notes[ASP_ERR_TEXT_MAX], line[ASP_SPEC_MAX + 1];

    (void)state;
    add(policy, ASP_POLICY_JOB, "offload: yes\n");
    resolve(policy, NULL);
    assert_null(strstr(asp_policy_notes(policy, notes, sizeof(notes)),
                       "left out"));
    assert_int_equal(asp_policy_add_spec(policy, "thread", ASP_LAYER_LINE,
                                         "line", NULL),
                     0);
    resolve(policy, NULL);
    assert_string_equal(asp_policy_notes(policy, notes, sizeof(notes)),
                        "offload (job.yaml:1:10) is left out: mode thread has "
                        "no offload threads");
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_string_equal(line, "thread");
    asp_policy_destroy(policy);
}

static void rules(void **state)
{
    static const struct {
        struct asp_facts facts;
        int ghosts;
    } rows[] = {
        {{.partition = "gpu1"}, 2},
        {{.partition = "fat"}, 2},
        {{.partition = "fatter"}, 1},
        {{.program = "/opt/lu.C", .nodes = 4}, 3},
        {{.program = "lu.C", .nodes = 3}, 1},
        {{.program = "lu.C"}, 1}, /* nodes not known */
        {{.program = "lu.C", .nodes = 9, .partition = "fat"}, 3},
        {{.program = "/lu.d/bt.C", .nodes = 4}, 1},
    };
    struct asp_policy *policy = create();

    (void)state;
    add(policy, ASP_POLICY_SITE, site_text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        resolve(policy, &rows[i].facts);
        assert_int_equal(asp_policy_number(policy, ASP_KNOB_GHOSTS),
                         rows[i].ghosts);
    }
    asp_policy_destroy(policy);
}

static void limits(void **state)
{
    struct asp_policy *policy = create();
    struct asp_err err = {.text = ""};
    char notes[1024], line[ASP_SPEC_MAX + 1];

    (void)state;
    add(policy, ASP_POLICY_SITE, site_text);
    asp_policy_add_spec(policy, "ghost:9", ASP_LAYER_LINE, "line", NULL);
    resolve(policy, NULL);
    assert_int_equal(asp_policy_number(policy, ASP_KNOB_GHOSTS), 4);
    asp_policy_notes(policy, notes, sizeof(notes));
    assert_non_null(strstr(notes, "9"));
    assert_non_null(strstr(notes, "site.yaml:13"));
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_string_equal(line, "ghost:4");
    asp_policy_destroy(policy);
    policy = create();
    add(policy, ASP_POLICY_SITE, site_text);
    asp_policy_add_spec(policy, "ghost:9,require", ASP_LAYER_LINE, "line",
                        NULL);
    assert_int_equal(asp_policy_resolve(policy, NULL, &err), -1);
    assert_int_equal(errno, EPERM);
    asp_policy_destroy(policy);
    policy = create();
    add(policy, ASP_POLICY_SITE,
        "version: 1\nlimits: {mode: {allow: [auto]}}\n");
    asp_policy_add_spec(policy, "ghost:1", ASP_LAYER_LINE, "line", NULL);
    resolve(policy, NULL);
    assert_int_equal(asp_policy_mode(policy), ASP_MODE_OFF);
    asp_policy_destroy(policy);
}

/* A word that stands for a number is no way around a bound. */
static void limits_of_words(void **state)
{
    static const struct {
        const char *limit, *line, *value;
    } rows[] = {
        {"max: 100", "ghost", "100"},
        {"max: 100", "ghost,idle.spin_us=auto", "100"},
        {"max: 100", "ghost,idle.spin_us=7", "7"},
        {"max: 2000", "ghost", "auto"},
        {"min: 10", "ghost", "auto"},
        {"min: 50", "ghost", "50"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        char site[128];

        snprintf(site, sizeof(site),
                 "version: 1\nlimits: {idle.spin_us: {%s}}\n", rows[i].limit);
        add(policy, ASP_POLICY_SITE, site);
        asp_policy_add_spec(policy, rows[i].line, ASP_LAYER_LINE, "line", NULL);
        resolve(policy, NULL);
        assert_string_equal(asp_policy_text(policy, ASP_KNOB_IDLE_SPIN),
                            rows[i].value);
        asp_policy_destroy(policy);
    }
}

/* What mode auto chooses, of itself and for adapt, and why. */
static void chooses(void **state)
{
    static const char room[] = "4 CPUs are too few";
    static const struct {
        struct asp_facts facts;
        const char *site, *line, *answer, *note;
    } rows[] = {
        {{.nodes = 2, .tasks_per_node = 2}, "", "auto", "ghost:1,adapt=auto",
         "auto chose ghost: several ranks"},
        {{.nodes = 1, .tasks_per_node = 1}, "", "auto", "off", "one rank"},
        {{.nodes = 2, .tasks_per_node = 1}, "", "auto", "ghost:1,adapt=auto",
         "several ranks"},
        {{.no_ghosts = room}, "", "auto", "off", room},
        {{.no_ghosts = room}, "", "ghost:2", "ghost:2", ""},
        {{0}, "", "ghost:2", "ghost:2", ""},
        {{0}, "", "auto,adapt=user", "ghost:1,adapt=user", "several"},
        {{0}, "defaults: {adapt: profile}\n", "auto", "ghost:1", "several"},
        {{0}, "limits: {adapt: {allow: [off, user]}}\n", "auto", "ghost:1",
         "several"},
        {{0}, "limits: {adapt: {allow: [user]}}\n", "auto", "ghost:1",
         "adapt off (built-in) became user"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        char line[ASP_SPEC_MAX + 1], notes[1024], site[256];

        snprintf(site, sizeof(site), "version: 1\n%s", rows[i].site);
        add(policy, ASP_POLICY_SITE, site);
        asp_policy_add_spec(policy, rows[i].line, ASP_LAYER_LINE, "line", NULL);
        resolve(policy, &rows[i].facts);
        asp_policy_canonical(policy, line, sizeof(line), NULL);
        assert_string_equal(line, rows[i].answer);
        asp_policy_notes(policy, notes, sizeof(notes));
        if (!strstr(notes, rows[i].note))
            fail_msg("row %zu: %s", i, notes);
        asp_policy_destroy(policy);
    }
}

/* "ORIGIN VALUES" of all rules for windows, one a line. */
static const char *window_lines(const struct asp_policy *policy, char *buf,
                                size_t size)
{
    const struct asp_winrules *windows = asp_policy_windows(policy);
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < windows->n; i++) {
        char values[ASP_VALUE_MAX];

        used += (size_t)snprintf(
            buf + used, size - used, "%s %s\n", windows->rule[i].origin,
            asp_winrule_values(&windows->rule[i], values, sizeof(values)));
    }
    return buf;
}

/* Site, the site's rules that match, job, environment, line; what the job has
 * travels, and the node adds the site's again. */
static void window_rules(void **state)
{
    static const char site[] =
        "version: 1\n"
        "rules:\n"
        "  - match: {program: nwchem}\n"
        "    windows: [{order: 2, rma: {binding: segment}}]\n"
        "windows: [{no_locks: true}]\n"
        "limits: {rma.balance: {allow: [none, ops]}}\n";
    static const char job[] = "windows:\n"
                              "  - order: 1-4\n"
                              "    epochs_used: [lock, fence]\n"
                              "  - {name: 'a, *', rma.balance: queue}\n";
    static const char lines[] = "site.yaml:5:11 no_locks=true\n"
                                "site.yaml:4:15 rma.binding=segment\n"
                                "job.yaml:2:5 epochs_used=fence,lock\n"
                                "job.yaml:4:5 rma.balance=none\n";
    struct asp_facts facts = {.program = "/opt/nwchem"};
    struct asp_policy *policy = create();
    char buf[1024], line[ASP_SPEC_MAX + 1];

    (void)state;
    add(policy, ASP_POLICY_SITE, site);
    resolve(policy, NULL);
    assert_string_equal(window_lines(policy, buf, sizeof(buf)),
                        "site.yaml:5:11 no_locks=true\n");
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_null(strstr(line, "window"));
    add(policy, ASP_POLICY_JOB, job);
    resolve(policy, &facts);
    assert_string_equal(window_lines(policy, buf, sizeof(buf)), lines);
    asp_policy_notes(policy, buf, sizeof(buf));
    assert_non_null(strstr(buf, "site.yaml:6"));
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_string_equal(line, "ghost:1,adapt=auto,window=order:1-4;"
                              "epochs_used:fence%2Clock;"
                              "from:job.yaml%3A2%3A5,"
                              "window=name:a%2C%20%2A;rma.balance:none;"
                              "from:job.yaml%3A4%3A5");
    asp_policy_destroy(policy);
    policy = create();
    add(policy, ASP_POLICY_SITE, site);
    assert_int_equal(
        asp_policy_add_spec(policy, line, ASP_LAYER_LINE, "request", NULL), 0);
    resolve(policy, &facts);
    assert_string_equal(window_lines(policy, buf, sizeof(buf)), lines);
    assert_int_equal(asp_policy_add_spec(policy, "window=order:1;no_locks:1,x",
                                         ASP_LAYER_ENV, "env", NULL),
                     -1);
    resolve(policy, &facts); /* and nothing is left of it */
    assert_string_equal(window_lines(policy, buf, sizeof(buf)), lines);
    asp_policy_destroy(policy);
}

static void too_many_window_rules(void **state)
{
    struct asp_policy *policy = create();
    struct asp_err err = {.text = ""};
    char text[4096];
    size_t used = (size_t)sprintf(text, "windows:\n");

    (void)state;
    for (int i = 0; i < ASP_WINRULES_MAX; i++)
        used += (size_t)sprintf(text + used, "  - {order: 3, no_locks: yes}\n");
    add(policy, ASP_POLICY_JOB, text);
    resolve(policy, NULL);
    add(policy, ASP_POLICY_SITE, "version: 1\nwindows: [{no_locks: yes}]\n");
    assert_int_equal(asp_policy_resolve(policy, NULL, &err), -1);
    assert_non_null(strstr(err.text, "32"));
    asp_policy_destroy(policy);
    sprintf(text + used, "  - {order: 3, no_locks: yes}\n");
    refuse_yaml(ASP_POLICY_JOB, text, strlen(text), "f:34:5", "32");
}

static void digests(void **state)
{
    struct asp_policy *one = create(), *two = create();
    struct asp_layout *layout = calloc(1, sizeof(*layout));
    char a[17], b[17];

    (void)state;
    assert_non_null(layout);
    asp_policy_add_spec(one, "ghost:2", ASP_LAYER_LINE, "line", NULL);
    add(two, ASP_POLICY_JOB, "mode: ghost\nghosts: 2\n");
    resolve(one, NULL);
    resolve(two, NULL);
    asp_policy_digest(one, a);
    asp_policy_digest(two, b);
    assert_string_equal(a, b); /* of values, not of their sources */
    assert_int_equal(strlen(a), 16);
    asp_policy_add_spec(two, "ghost:3", ASP_LAYER_LINE, "line", NULL);
    resolve(two, NULL);
    asp_policy_digest(two, b);
    assert_string_not_equal(a, b);
    asp_policy_to_layout(two, layout);
    assert_string_equal(layout->policy_digest, b);
    assert_string_equal(asp_layout_knob(layout, "init.timeout_s", ""), "60");
    assert_null(asp_layout_knob(layout, "ghosts", NULL));
    asp_layout_destroy(layout);
    asp_policy_destroy(one);
    asp_policy_destroy(two);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

/* errno of adding path as a site policy of ours; 0 if it was accepted. */
static int site_errno(const char *path)
{
    struct asp_policy *policy = create();
    struct asp_err err = {.text = ""};
    int rc = asp_policy_add_site(policy, path, getuid(), &err);
    int errnum = rc ? errno : 0;

    assert_true(!rc || (err.text[0] && strstr(err.place, "policy")));
    asp_policy_destroy(policy);
    return errnum;
}

static void site_files(void **state)
{
    char folder[] = "/tmp/aspen-policy-XXXXXX", path[64], link_path[64];
    struct asp_policy *policy = create();

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/p.yaml", folder);
    snprintf(link_path, sizeof(link_path), "%s/l.yaml", folder);
    assert_int_equal(site_errno(path), ENOENT);
    write_file(path, site_text, 0644);
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(site_errno(path), 0);
    assert_int_equal(site_errno(link_path), ELOOP);
    assert_int_equal(site_errno(folder), EISDIR);
    write_file(path, site_text, 0664);
    assert_int_equal(site_errno(path), EPERM);
    write_file(path, site_text, 0646);
    assert_int_equal(site_errno(path), EPERM);
    write_file(path, site_text, 0644);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(site_errno(path), EPERM);
    assert_int_equal(chmod(folder, 0755), 0);
    if (getuid() == 0) { /* only root can give files away */
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(site_errno(path), EPERM);
    }
    /* A job may use links; nobody may use 2 MB or a device. */
    assert_int_equal(truncate(path, 2 << 20), 0);
    assert_int_equal(asp_policy_add_job(policy, link_path, NULL), -1);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(asp_policy_add_job(policy, "/dev/zero", NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(asp_policy_add_job(policy, folder, NULL), -1);
    assert_int_equal(errno, EISDIR);
    asp_policy_destroy(policy);
    unlink(link_path);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema),       cmocka_unit_test(suggests),
        cmocka_unit_test(reads_specs),  cmocka_unit_test(refuses_specs),
        cmocka_unit_test(refuses_yaml), cmocka_unit_test(precedence),
        cmocka_unit_test(on_is_a_wish),
        cmocka_unit_test(idle_offload), cmocka_unit_test(rules),
        cmocka_unit_test(limits),       cmocka_unit_test(chooses),
        cmocka_unit_test(limits_of_words),
        cmocka_unit_test(window_rules),
        cmocka_unit_test(too_many_window_rules),
        cmocka_unit_test(digests),      cmocka_unit_test(site_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
