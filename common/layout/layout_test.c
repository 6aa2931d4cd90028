/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the layout and its text form, with a deterministic fuzz. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout.h"
#include "common/base/mutate.h"

#define HEAD "aspen-layout/1 job=12.0 mode=ghost gpn=1 bound=no "

static const char full[] = HEAD
    "reason=pretended%20CPUs digest=1a2b size=6 nnodes=2 node=0 "
    "nodes=n1:0-2;n2:3-5 service= "
    "task=0:user:0:2:numa0:h-1:c0 task=1:user:1:2:numa0:h-1:c1-2 "
    "task=2:ghost:-:-:numa0:h-1:c3 knob=heap:shared knob=verbose:no "
    "knob=report:%2Fa%20b%3Ac knob=a%20b%3Ac:d:e end";

static const char cyclic[] = HEAD
    "reason= digest=x size=8 nnodes=2 node=1 "
    "nodes=:0-6/2;b%3A1:1-7/2 service=7 "
    "task=1:user:1:7:numa-1:h5:c0 task=3:user:3:7:numa-1:h-1:c "
    "task=5:user:5:7:numa-1:h-1:c task=7:ghost:-:-:numa3:h-1:c9,11 end";

static const char degraded[] = HEAD
    "reason=agent%20lost digest= size=4 nnodes=2 node=1 service= "
    "task=-:user:-:-:numa-1:h-1:c task=-:ghost:-:-:numa-1:h-1:c end";

static const char mode_off[] =
    "aspen-layout/1 job= mode=off gpn=0 bound=yes reason= digest= size=1 "
    "nnodes=1 node=0 nodes=n:0 service= task=0:user:0:-:numa0:h-1:c0 end";

static const char windows[] =
    "aspen-layout/1 job=1.0 mode=off gpn=0 bound=yes reason= digest= size=1 "
    "nnodes=1 node=0 nodes=n:0 service= task=0:user:0:-:numa0:h-1:c0 "
    "knob=heap:private window=order:1-4;async_config:off;from:j.yaml%3A3%3A5 "
    "window=name:a%2A;rma.balance:ops communicator=size:4-;p2p:large end";

static const char *const good[] = {full, cyclic, degraded, mode_off, windows};
enum {
    GOOD = sizeof(good) / sizeof(good[0]),
    TEXT_MAX = 4096, /* the encoder writes some 1 KiB of knobs */
};

static struct asp_layout *decode(const char *text)
{
    struct asp_layout *layout = NULL;
    struct asp_err err = {0};

    if (asp_layout_decode(text, strlen(text), &layout, &err))
        fail_msg("%s: %s", err.place, err.text);
    return layout;
}

/* The encoder writes every knob, where those that were missing have their
 * defaults, and in the order of the table. All else is as it was read. */
static void round_trip(void **state)
{
    (void) state;
    for (size_t i = 0; i < GOOD; i++) {
        struct asp_layout *layout = decode(good[i]), *again;
        char text[TEXT_MAX], second[TEXT_MAX];
        const char *knobs = strstr(good[i], " knob="), *end;

        if (!knobs)
            knobs = strstr(good[i], " end");
        end = strstr(good[i], " window=") ? strstr(good[i], " window=")
                                          : strstr(good[i], " end");
        assert_true(asp_layout_encode(layout, text, sizeof(text), NULL) > 0);
        assert_memory_equal(text, good[i], (size_t) (knobs - good[i]));
        assert_string_equal(text + strlen(text) - strlen(end), end);
        again = decode(text);
        assert_true(asp_layout_encode(again, second, sizeof(second), NULL) > 0);
        assert_string_equal(second, text);
        assert_memory_equal(&again->knobs, &layout->knobs,
                            sizeof(layout->knobs));
        asp_layout_destroy(again);
        asp_layout_destroy(layout);
    }
}

/* Decode a layout of this mode with these knobs. */
static struct asp_layout *with_knobs(const char *mode, const char *knobs)
{
    char text[TEXT_MAX];

    snprintf(text, sizeof(text),
             "aspen-layout/1 job= mode=%s gpn=0 bound=yes reason= digest= "
             "size=1 nnodes=1 node=0 nodes=n:0 service= "
             "task=0:user:0:-:numa0:h-1:c0%s end",
             mode, knobs);
    return decode(text);
}

/* What a layout may bring that no row of the table accepts. */
static void broken_knobs(void **state)
{
    static const char *const values[] = {
        "",    "x",          "-1",   "+1",
        "1.5", "1x",         "0x10", "99999999999999999999999",
        "%7C", "off%7Cauto", "YES",  "%41x",
        "8%20"};
    struct asp_layout *layout = with_knobs("thread", "");
    struct asp_knobs defaults;

    (void) state;
    asp_knobs_init(&defaults, false);
    assert_memory_equal(&layout->knobs, &defaults, sizeof(defaults));
    asp_layout_destroy(layout);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++)
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            bool any = asp_knobs[id].type >= ASP_TYPE_NAME;
            char text[400];

            if (any && values[v][0]) /* any text names a file */
                continue;
            snprintf(text, sizeof(text), " knob=%s:%s", asp_knobs[id].name,
                     values[v]);
            layout = with_knobs("thread", text);
            if (memcmp(&layout->knobs, &defaults, sizeof(defaults)))
                fail_msg("%s is not the default", text);
            asp_layout_destroy(layout);
        }
}

/* In mode off messages are mended only when that was said. */
static void knobs_of_mode_off(void **state)
{
    struct asp_layout *layout = with_knobs("off", "");

    (void) state;
    assert_int_equal(layout->knobs.pack, ASP_SWITCH_OFF);
    assert_int_equal(layout->knobs.match, ASP_SWITCH_OFF);
    assert_int_equal(layout->knobs.pack_threads, ASP_SWITCH_AUTO);
    assert_int_equal(layout->knobs.init_timeout_s, 60);
    asp_layout_destroy(layout);
    layout = with_knobs("off", " knob=pack:auto knob=match:broken");
    assert_int_equal(layout->knobs.pack, ASP_SWITCH_AUTO);
    assert_int_equal(layout->knobs.match, ASP_SWITCH_OFF);
    asp_layout_destroy(layout);
    layout = with_knobs("thread", "");
    assert_int_equal(layout->knobs.pack, ASP_SWITCH_AUTO);
    assert_int_equal(layout->knobs.match, ASP_SWITCH_AUTO);
    asp_layout_destroy(layout);
}

/* By the knob, or by a rule; not by offload threads, or without ghosts. */
static void carries(void **state)
{
    static const struct {
        enum asp_mode mode;
        const char *text;
        bool carries;
    } rows[] = {
        {ASP_MODE_GHOST, "", false},
        {ASP_MODE_GHOST, " knob=p2p:large", true},
        {ASP_MODE_GHOST, " communicator=size:2;p2p:all", true},
        {ASP_MODE_GHOST,
         " communicator=size:2;p2p:off communicator=exact_length:true", false},
        {ASP_MODE_GHOST, " knob=p2p:all knob=offload:yes", false},
        {ASP_MODE_THREAD, " knob=p2p:all communicator=p2p:all", false},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_layout *layout = with_knobs("off", rows[i].text);

        layout->mode = rows[i].mode;
        if (asp_layout_carries(layout) != rows[i].carries)
            fail_msg("row %zu", i);
        asp_layout_destroy(layout);
    }
}

static void reads_fields(void **state)
{
    struct asp_layout *layout = decode(full);
    const struct asp_layout_task *ghost = &layout->tasks[2];
    const struct asp_objrules *of_windows;

    (void) state;
    assert_string_equal(layout->reason, "pretended CPUs");
    assert_string_equal(layout->nodes[1].name, "n2");
    assert_int_equal(layout->nodes[1].ranks_world[2], 5);
    assert_int_equal(ghost->role, ASP_ROLE_GHOST);
    assert_int_equal(ghost->rank_user, ASP_RANK_NONE);
    assert_true(asp_cpuset_has(&ghost->cpus, 3));
    assert_int_equal(layout->knobs.heap, ASP_HEAP_SHARED);
    assert_string_equal(layout->knobs.report, "/a b:c");
    assert_int_equal(layout->knobs.heap_threshold_kb, 128);
    asp_layout_destroy(layout);
    layout = decode(cyclic);
    assert_string_equal(layout->nodes[1].name, "b:1");
    asp_layout_destroy(layout);
    layout = decode(windows);
    of_windows = &layout->rules[ASP_OBJ_WINDOW];
    assert_int_equal(of_windows->n, 2);
    assert_int_equal(of_windows->rule[0].order.last, 4);
    assert_string_equal(of_windows->rule[0].origin, "j.yaml:3:5");
    assert_string_equal(of_windows->rule[1].name, "a*");
    assert_int_equal(layout->rules[ASP_OBJ_COMM].n, 1);
    assert_int_equal(layout->rules[ASP_OBJ_COMM].rule[0].size.first, 4);
    asp_layout_destroy(layout);
}

static void roles(void **state)
{
    struct asp_layout *layout = decode(cyclic);
    /* 0 2 4 | 6 ghost; 1 3 5 | 7 ghost: users keep their order. */
    static const int user[] = {0, 1, 2, 3, 4, 5, -1, -1};
    enum asp_role role;
    uint32_t rank_user;

    (void) state;
    for (uint32_t r = 0; r < 8; r++) {
        assert_int_equal(asp_layout_role(layout, r, &role, &rank_user), 0);
        assert_int_equal(role, user[r] < 0 ? ASP_ROLE_GHOST : ASP_ROLE_USER);
        assert_int_equal((int) rank_user, user[r]);
    }
    assert_int_equal(asp_layout_role(layout, 8, &role, NULL), -1);
    assert_int_equal(errno, ENOENT);
    asp_layout_destroy(layout);
    layout = decode(degraded);
    assert_true(asp_layout_degraded(layout));
    assert_int_equal(asp_layout_role(layout, 0, &role, NULL), -1);
    asp_layout_destroy(layout);
}

static void alone(void **state)
{
    /* text of task 1 and its CPUs; and does it share none of them? */
    static const struct {
        const char *bound, *task, *ghost;
        bool is;
    } cases[] = {
        {"yes", "c0-1", "c3", true},      {"no", "c0-1", "c3", false},
        {"yes", "c0-1", "c1", false},     {"yes", "c0-1", "c1-2", false},
        {"yes", "c0-1", "c", false},      {"yes", "c", "c3", true},
        {"yes", "c0,600", "c600", false}, {"yes", "c64", "c0", true},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct asp_layout *layout;
        char text[512];

        snprintf(text, sizeof(text),
                 "aspen-layout/1 job=1.0 mode=ghost gpn=1 bound=%s reason= "
                 "digest= size=2 nnodes=1 node=0 nodes=n:0-1 service= "
                 "task=0:user:0:1:numa0:h-1:%s task=1:ghost:-:-:numa0:h-1:%s "
                 "end",
                 cases[i].bound, cases[i].task, cases[i].ghost);
        layout = decode(text);
        assert_int_equal(asp_layout_alone(layout, 1), cases[i].is);
        assert_false(asp_layout_alone(layout, 2));
        asp_layout_destroy(layout);
    }
}

/* Replace the first from by to in text and expect a refusal with errnum. */
static void refuse(const char *text, const char *from, const char *to,
                   int errnum)
{
    char changed[1024];
    const char *at = strstr(text, from);
    struct asp_layout *layout = NULL;
    struct asp_err err = {0};

    assert_non_null(at);
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int) (at - text), text, to,
             at + strlen(from));
    if (!asp_layout_decode(changed, strlen(changed), &layout, &err))
        fail_msg("accepted: %s", changed);
    assert_int_equal(errno, errnum);
    assert_null(layout);
    assert_true(err.text[0] != '\0');
}

static void refuses(void **state)
{
    static const char *const edits[][2] = {
        {"aspen", "aspem"},
        {"gpn=1", "gpn=01"},
        {"gpn=1", "gpn=-1"},
        {"gpn=1", "gpn=0"},
        {"gpn=1", "gpn=3"},
        {"gpn=1", "gpn=4294967297"},
        {"mode=ghost", "mode=off"},
        {"mode=ghost", "mode=auto"},
        {"mode=ghost", "mode="},
        {"bound=no", "bound=maybe"},
        {"size=6", "size=5"},
        {"size=6", "size=7"},
        {"size=6", "size=1048577"},
        {"nnodes=2", "nnodes=3"},
        {"nnodes=2", "nnodes=1"},
        {"node=0", "node=2"},
        {"node=0", "node=1"},
        {"n2:3-5", "n2:2-4"},
        {"n2:3-5", "n2:3,5,4"},
        {"n2:3-5", "n2:3-5/0"},
        {"n2:3-5", "n2:5-3"},
        {"n2:3-5", "n2:"},
        {"n2:3-5", "n2:3-5,"},
        {"n2:3-5", "n2:0-1048575"},
        {"task=0:", "task=1:"},
        {"task=2:ghost", "task=2:user"},
        {"ghost:-", "ghost:2"},
        {":user:0:2", ":user:1:2"},
        {":user:0:2", ":user:0:1"},
        {":user:0:2", ":user:0:5"},
        {"numa0", "numa-2"},
        {"numa0", "numa1024"},
        {"h-1", "h1024"},
        {":c0", ":c1024"},
        {":c0", ":c0,"},
        {" end", " end "},
        {" end", ""},
        {" knob=v", " knob=heap:private knob=v"},
        {" end", " extra=1 end"},
        {"%20", "%2x"},
        {"%20", "%00"},
        {"%20", "%0a"},
        {"%20", " "},
        {"job=", "jobs="},
        {"job=12.0", "job=12\n0"},
        {" knob=heap:shared", " knob=:1"},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++)
        refuse(full, edits[i][0], edits[i][1], EINVAL);
    refuse(full, "layout/1", "layout/2", EPROTO);
    refuse(windows, "window=order", "window=border", EINVAL);
    refuse(windows, "order:1-4;async_config:off;", "", EINVAL);
    refuse(windows, "1-4", "4-1", EINVAL);
    refuse(windows, "rma.balance:ops", "no_locks:true", EINVAL);
    refuse(windows, " window=name", " window= window=name", EINVAL);
    refuse(windows, "communicator=size", "communicator=name", EINVAL);
    refuse(windows, "knob=heap", "window=no_locks:true knob=heap", EINVAL);
    refuse(degraded, "task=-:ghost", "task=-:user", EINVAL);
    refuse(degraded, "task=-:user:-:-", "task=-:user:-:3", EINVAL);
}

/* Every prefix of a layout is refused: a cut text is never a shorter one. */
static void refuses_cuts(void **state)
{
    (void) state;
    for (size_t i = 0; i < GOOD; i++) {
        for (size_t len = 0; len < strlen(good[i]); len++) {
            struct asp_layout *layout = NULL;
            char *cut = malloc(len + 1); /* exact size, for the sanitizer */

            assert_non_null(cut);
            memcpy(cut, good[i], len);
            assert_int_equal(asp_layout_decode(cut, len, &layout, NULL), -1);
            free(cut);
        }
    }
}

static void no_room(void **state)
{
    struct asp_layout *layout = decode(full);
    char text[TEXT_MAX];
    size_t len = (size_t) asp_layout_encode(layout, text, sizeof(text), NULL);

    (void) state;
    assert_int_equal(strlen(text), len);
    assert_int_equal(asp_layout_encode(layout, text, len + 1, NULL), (int) len);
    /* One byte less: the other node's name goes. */
    assert_int_equal(asp_layout_encode(layout, text, len, NULL), (int) len - 2);
    assert_non_null(strstr(text, "nodes=n1:0-2;:3-5"));
    for (size_t size = 0; size < len - 1; size++) {
        struct asp_err err = {0};

        errno = 0;
        assert_int_equal(asp_layout_encode(layout, text, size, &err), -1);
        assert_int_equal(errno, ENOSPC);
        assert_true(err.text[0] != '\0');
    }
    asp_layout_destroy(layout);
    asp_layout_destroy(NULL);
}

/* As many rules of each kind as there may be, and one more. */
static void many_rules(void **state)
{
    static const char *const rules[ASP_OBJ_KINDS] = {
        [ASP_OBJ_WINDOW] = " window=order:7;no_locks:true",
        [ASP_OBJ_COMM] = " communicator=size:7;exact_length:true",
    };
    char text[4096], *at = text;
    struct asp_layout *layout = NULL;

    (void) state;
    for (int i = 0; i < 2 * ASP_OBJ_KINDS; i++) {
        enum asp_objkind_id kind = (enum asp_objkind_id)(i / 2);
        int extra = i % 2;

        at = text + sprintf(text, "%.*s", (int) strlen(mode_off) - 4, mode_off);
        for (int n = 0; n < ASP_OBJRULES_MAX + extra; n++)
            at += sprintf(at, "%s", rules[kind]);
        at += sprintf(at, " end");
        assert_int_equal(
            asp_layout_decode(text, (size_t) (at - text), &layout, NULL),
            -extra);
        if (!extra)
            assert_int_equal(layout->rules[kind].n, ASP_OBJRULES_MAX);
        asp_layout_destroy(layout);
        layout = NULL;
    }
}

/* What a reader may rely on, written independently of the decoder. */
static void assert_sound(const struct asp_layout *layout)
{
    uint32_t ranks = 0;

    assert_in_range(layout->nnodes, 1, ASP_NODES_MAX);
    assert_true(layout->node < layout->nnodes);
    assert_in_range(layout->ntasks, 1, ASP_TASKS_MAX);
    assert_true(layout->ghosts_per_node < layout->ntasks);
    assert_in_range(layout->size_world, layout->ntasks, ASP_RANKS_MAX);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        char value[ASP_VALUE_MAX];
        struct asp_knobs again;

        if (!(asp_knobs[id].flags & ASP_KNOB_TO_RUNTIME))
            continue;
        asp_knobs_text(&layout->knobs, id, value);
        assert_int_equal(asp_knobs_set(&again, id, value), 0);
    }
    assert_non_null(asp_mode_name(layout->mode));
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++) {
        const struct asp_objrules *rules = &layout->rules[kind];

        assert_true(rules->n <= ASP_OBJRULES_MAX);
        for (uint32_t r = 0; r < rules->n; r++)
            assert_int_equal(asp_objrule_check(&rules->rule[r], NULL), 0);
    }
    for (uint32_t n = 0; layout->nodes && n < layout->nnodes; n++) {
        assert_true(layout->nodes[n].ntasks > layout->ghosts_per_node);
        ranks += layout->nodes[n].ntasks;
        for (uint32_t i = 0; i < layout->nodes[n].ntasks; i++)
            assert_true(layout->nodes[n].ranks_world[i] < layout->size_world);
    }
    assert_true(!layout->nodes || ranks == layout->size_world);
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        const struct asp_layout_task *task = &layout->tasks[t];

        assert_int_equal(task->role == ASP_ROLE_GHOST,
                         t >= layout->ntasks - layout->ghosts_per_node);
        assert_true(task->rank_world == ASP_RANK_NONE ||
                    task->rank_world < layout->size_world);
        assert_true(task->rank_user == ASP_RANK_NONE ||
                    task->rank_user < layout->size_world);
        assert_in_range(task->numa + 1, 0, ASP_CPUS_MAX);
        assert_in_range(task->cpu_helper_os + 1, 0, ASP_CPUS_MAX);
    }
}

static const char *const edges[] = {"4294967295", "1048576", "-1", "1024",
                                    "65536",      "0",       "-",  "%41"};
static const struct asp_mutate how = {
    .edits = 4,
    .span = 12,
    .bytes = " :;,=-%/0159acn",
    .edges = edges,
    .nedges = sizeof(edges) / sizeof(edges[0]),
};

static void fuzz(void **state)
{
    uint32_t seed = 20090, accepted = 0;

    (void) state;
    for (int i = 0; i < 60000; i++) {
        const char *origin = good[i % GOOD];
        struct asp_layout *layout = NULL, *again = NULL;
        char text[TEXT_MAX], *exact;
        size_t len = strlen(origin);
        int n;

        memcpy(text, origin, len);
        len = asp_mutate(&how, text, len, sizeof(text), &seed);
        exact = malloc(len + 1);
        assert_non_null(exact);
        memcpy(exact, text, len);
        if (!asp_layout_decode(exact, len, &layout, NULL)) {
            accepted++;
            assert_sound(layout);
            n = asp_layout_encode(layout, text, sizeof(text), NULL);
            assert_true(n > 0);
            assert_int_equal(asp_layout_decode(text, (size_t) n, &again, NULL),
                             0);
            asp_layout_destroy(again);
        }
        asp_layout_destroy(layout);
        free(exact);
    }
    /* A fuzz that only ever meets the first check tests nothing. */
    assert_true(accepted > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),   cmocka_unit_test(reads_fields),
        cmocka_unit_test(broken_knobs), cmocka_unit_test(knobs_of_mode_off),
        cmocka_unit_test(roles),        cmocka_unit_test(refuses),
        cmocka_unit_test(alone),        cmocka_unit_test(refuses_cuts),
        cmocka_unit_test(no_room),      cmocka_unit_test(many_rules),
        cmocka_unit_test(carries),      cmocka_unit_test(fuzz),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
