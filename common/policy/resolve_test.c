/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes of all that was said: precedence, rules, limits, windows, and the
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

#include "try.h"

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

/* built-in < defaults < rules < job < environment < command line. */
static void precedence(void **state)
{
    struct asp_policy *policy = create();
    struct asp_facts facts = {.partition = "gpu7"};
    const struct asp_setting *ghosts;

    (void) state;
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
        {"version: 1\ndefaults: {mode: offload}\n", NULL, NULL, "on",
         "offload"},
        {"version: 1\nlimits: {mode: {allow: [off]}}\n", NULL, NULL, "on",
         "off"},
    };

    (void) state;
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

    (void) state;
    add(policy, ASP_POLICY_JOB, "offload: yes\n");
    resolve(policy, NULL);
    assert_null(
        strstr(asp_policy_notes(policy, notes, sizeof(notes)), "left out"));
    assert_int_equal(
        asp_policy_add_spec(policy, "thread", ASP_LAYER_LINE, "line", NULL), 0);
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

    (void) state;
    add(policy, ASP_POLICY_SITE, site_text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        resolve(policy, &rows[i].facts);
        assert_int_equal(asp_policy_number(policy, ASP_KNOB_GHOSTS),
                         rows[i].ghosts);
    }
    asp_policy_destroy(policy);
}

/* Counting hears of the site's knobs that change counts; the nodes read them in
 * the site's policy. */
static void counting(void **state)
{
    struct asp_policy *policy = create();
    struct asp_facts fat = {.partition = "fat"};
    char line[ASP_SPEC_MAX + 1];

    (void) state;
    add(policy, ASP_POLICY_SITE,
        "version: 1\n"
        "defaults: {placement: {share: yes, spread: pack}, idle.spin_us: 7}\n"
        "rules:\n"
        "  - match: {partition: fat}\n"
        "    set: {thread.service_cores: 9}\n"
        "limits:\n"
        "  thread.service_cores: {min: 2, max: 4}\n");
    assert_int_equal(asp_policy_add_spec(policy, "thread,pmix=off",
                                         ASP_LAYER_LINE, "line", NULL),
                     0);
    resolve(policy, NULL);
    asp_policy_canonical(policy, line, sizeof(line), NULL);
    assert_string_equal(line, "thread,pmix=off");
    asp_policy_counting(policy, line, sizeof(line), NULL);
    assert_string_equal(line, "thread,placement.share=yes,"
                              "thread.service_cores=2,pmix=off");
    resolve(policy, &fat);
    asp_policy_counting(policy, line, sizeof(line), NULL);
    assert_string_equal(line, "thread,placement.share=yes,"
                              "thread.service_cores=4,pmix=off");
    asp_policy_destroy(policy);
}

static void limits(void **state)
{
    struct asp_policy *policy = create();
    struct asp_err err = {.text = ""};
    char notes[1024], line[ASP_SPEC_MAX + 1];

    (void) state;
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
        enum asp_knob_id id;
        const char *limit, *line, *value;
    } rows[] = {
        {ASP_KNOB_IDLE_SPIN, "spin_us: {max: 100}", "", "100"},
        {ASP_KNOB_IDLE_SPIN, "spin_us: {max: 100}", ",idle.spin_us=auto",
         "100"},
        {ASP_KNOB_IDLE_SPIN, "spin_us: {max: 100}", ",idle.spin_us=7", "7"},
        {ASP_KNOB_IDLE_SPIN, "spin_us: {max: 2000}", "", "auto"},
        {ASP_KNOB_IDLE_SPIN, "spin_us: {min: 10}", "", "auto"},
        {ASP_KNOB_IDLE_SPIN, "spin_us: {min: 50}", "", "50"},
        {ASP_KNOB_IDLE_YIELD, "yield_us: {max: 400}", "", "400"},
        {ASP_KNOB_IDLE_YIELD, "yield_us: {max: 400}", ",idle.yield_us=3000",
         "400"},
        {ASP_KNOB_IDLE_YIELD, "yield_us: {max: 500}", "", "auto"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_policy *policy = create();
        char site[128], line[64];

        snprintf(site, sizeof(site), "version: 1\nlimits: {idle.%s}\n",
                 rows[i].limit);
        snprintf(line, sizeof(line), "ghost%s", rows[i].line);
        add(policy, ASP_POLICY_SITE, site);
        asp_policy_add_spec(policy, line, ASP_LAYER_LINE, "line", NULL);
        resolve(policy, NULL);
        assert_string_equal(asp_policy_text(policy, rows[i].id), rows[i].value);
        asp_policy_destroy(policy);
    }
}

/* What mode auto chooses, of itself and for adapt, and why. */
static void chooses(void **state)
{
    static const char no_cores[] = "4 CPUs are too few";
    static const struct {
        struct asp_facts facts;
        const char *site, *line, *answer, *note;
    } rows[] = {
        {{.nodes = 2, .tasks_per_node = 2},
         "",
         "auto",
         "ghost:1,adapt=auto",
         "auto chose ghost: several ranks"},
        {{.nodes = 1, .tasks_per_node = 1}, "", "auto", "off", "one rank"},
        {{.nodes = 2, .tasks_per_node = 1},
         "",
         "auto",
         "ghost:1,adapt=auto",
         "several ranks"},
        {{.no_ghosts = no_cores}, "", "auto", "off", no_cores},
        {{.no_ghosts = no_cores}, "", "ghost:2", "ghost:2", ""},
        {{0}, "", "ghost:2", "ghost:2", ""},
        {{0}, "", "auto,adapt=user", "ghost:1,adapt=user", "several"},
        {{0}, "defaults: {adapt: profile}\n", "auto", "ghost:1", "several"},
        {{0},
         "",
         "off,coll=tune,profile=a",
         "off,coll=tune,coll.table=a.coll,coll.save=a.coll,profile=a",
         ""},
        {{0},
         "",
         "off,coll=table,profile=a",
         "off,coll=table,coll.table=a.coll,profile=a",
         ""},
        {{0},
         "",
         "off,coll=tune,coll.table=b,profile=a",
         "off,coll=tune,coll.table=b,profile=a",
         ""},
        {{0},
         "",
         "off,coll=tune,coll.save=b,profile=a",
         "off,coll=tune,coll.table=a.coll,coll.save=b,profile=a",
         ""},
        {{0}, "", "off,profile=a", "off,profile=a", ""},
        {{0},
         "defaults: {coll: table, coll.table: /site}\n",
         "off,profile=a",
         "off,profile=a",
         ""},
        {{0},
         "limits: {adapt: {allow: [off, user]}}\n",
         "auto",
         "ghost:1",
         "several"},
        {{0},
         "limits: {adapt: {allow: [user]}}\n",
         "auto",
         "ghost:1",
         "adapt off (built-in) became user"},
    };

    (void) state;
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
    const struct asp_objrules *windows = asp_policy_objects(policy,
                                                            ASP_OBJ_WINDOW);
    size_t used = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < windows->n; i++) {
        char values[ASP_VALUE_MAX];

        used += (size_t) snprintf(
            buf + used, size - used, "%s %s\n", windows->rule[i].origin,
            asp_objrule_values(&windows->rule[i], values, sizeof(values)));
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

    (void) state;
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
    size_t used = (size_t) sprintf(text, "windows:\n");

    (void) state;
    for (int i = 0; i < ASP_OBJRULES_MAX; i++)
        used += (size_t) sprintf(text + used,
                                 "  - {order: 3, no_locks: yes}\n");
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

    (void) state;
    assert_non_null(layout);
    asp_policy_add_spec(one, "ghost:2,rma.balance=ops", ASP_LAYER_LINE, "line",
                        NULL);
    add(two, ASP_POLICY_JOB, "mode: ghost\nghosts: 2\nrma.balance: ops\n");
    resolve(one, NULL);
    resolve(two, NULL);
    asp_policy_digest(one, a);
    asp_policy_digest(two, b);
    assert_string_equal(a, b); /* of values, not of their sources */
    assert_int_equal(strlen(a), 16);
    asp_policy_add_spec(two, "ghost:3,p2p=large", ASP_LAYER_LINE, "line", NULL);
    resolve(two, NULL);
    asp_policy_digest(two, b);
    assert_string_not_equal(a, b);
    asp_policy_to_layout(two, layout);
    assert_string_equal(layout->policy_digest, b);
    assert_int_equal(layout->knobs.init_timeout_s, 60);
    assert_int_equal(layout->knobs.rma_balance, ASP_BALANCE_OPS);
    assert_int_equal(layout->knobs.p2p, ASP_P2P_LARGE);
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

    (void) state;
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
        cmocka_unit_test(precedence),
        cmocka_unit_test(on_is_a_wish),
        cmocka_unit_test(idle_offload),
        cmocka_unit_test(rules),
        cmocka_unit_test(counting),
        cmocka_unit_test(limits),
        cmocka_unit_test(limits_of_words),
        cmocka_unit_test(chooses),
        cmocka_unit_test(window_rules),
        cmocka_unit_test(too_many_window_rules),
        cmocka_unit_test(digests),
        cmocka_unit_test(site_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
