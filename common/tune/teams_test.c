/* SPDX-License-Identifier: BSD-3-Clause */
/* Is one configuration enough? Searches as in quality_test.c, on simulated
 * machines with a simulated clock, whose numbers are the same each time. The
 * numbers in brackets are those of docs/bench/coll-statements.md:
 *
 *   [11]  how many configurations the table of a collective has, and what the
 *         best single one costs over it
 *   [12]  a reduction whose calls stand alone, or come back to back
 *   [13]  16 ranks as 4 x 4: the world, a row in a node, a column across nodes
 */
#include "quality_model.h"

#include "common/tune/pattern.h"
#include "common/tune/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MACHINE = 3 /* number of the true machine */, CALLS_MOST = 100 };
static const double sigma = 0.05; /* of a call, as quality_test's "ordinary" */

/* ---- one search ------------------------------------------------------------- */

/* The configuration that a search comes to, as an index into us. */
static uint32_t search(const struct quality_point *p, const double *us)
{
    static struct asp_search_try tries[QUALITY_CONFIGS];
    static struct asp_search_candidate list[QUALITY_CONFIGS];
    struct asp_search s;
    uint64_t random = 7;
    uint32_t standard = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        list[i] = (struct asp_search_candidate){p->order[i],
                                                p->predicted_us[p->order[i]]};
        if (p->order[i] == p->standard)
            standard = i;
    }
    asp_search_start(&s, tries, QUALITY_CONFIGS, &asp_search_online, list, p->n,
                     standard, 1);
    for (int i = 0; i < CALLS_MOST && s.phase < ASP_SEARCH_WATCH; i++) {
        struct asp_search_step step = asp_search_next(&s, 8);
        double values[ASP_SEARCH_VALUES];

        if (step.timed)
            asp_search_note(&s, us[step.config] *
                                    exp(sigma * quality_gauss(&random)));
        if (step.agree) {
            asp_search_values(&s, values);
            asp_search_agreed(&s, values);
        }
    }
    return s.tries[s.chosen].config;
}

/* The number of a configuration among those of a point; n: it is none of them.
 */
static uint32_t find(const struct quality_point *p,
                     const struct asp_coll_config *config)
{
    char wanted[ASP_COLL_CONFIG_TEXT], text[ASP_COLL_CONFIG_TEXT];
    uint32_t i = 0;

    asp_coll_config_text(config, wanted);
    while (i < p->n &&
           strcmp(asp_coll_config_text(&p->config[i], text), wanted) != 0)
        i++;
    return i;
}

/* ---- [11] no universal winner ----------------------------------------------- */

static const struct quality_call points[] = {
    {NULL, ASP_COLL_BCAST, 8, 2, 1},
    {NULL, ASP_COLL_BCAST, 65536, 2, 1},
    {NULL, ASP_COLL_BCAST, 1048576, 2, 2},
    {NULL, ASP_COLL_BCAST, 8, 16, 1},
    {NULL, ASP_COLL_BCAST, 4096, 16, 1},
    {NULL, ASP_COLL_BCAST, 65536, 16, 1},
    {NULL, ASP_COLL_BCAST, 1048576, 16, 1},
    {NULL, ASP_COLL_BCAST, 8, 16, 4},
    {NULL, ASP_COLL_BCAST, 4096, 16, 4},
    {NULL, ASP_COLL_BCAST, 65536, 16, 4},
    {NULL, ASP_COLL_BCAST, 1048576, 16, 4},
};
enum { POINTS = sizeof(points) / sizeof(points[0]), LARGE_FIRST = 3 };

static struct quality_point point[POINTS];
static double us[POINTS][QUALITY_CONFIGS];
static uint32_t chosen[POINTS];

/* Algorithm and tree, without numbers: two of them differ if they are not the
 * same shape. */
static void shape_of(const struct asp_coll_config *config, char *buf,
                     size_t size)
{
    snprintf(buf, size, "%s/%d/%d", config->row->name, (int) config->tree.shape,
             (int) config->across);
}

static int count_shapes(void)
{
    char shapes[POINTS][64];
    int n = 0;

    for (int i = 0; i < POINTS; i++) {
        int known = 0;

        shape_of(&point[i].config[chosen[i]], shapes[n], sizeof(shapes[n]));
        for (int k = 0; k < n; k++)
            known = known || strcmp(shapes[k], shapes[n]) == 0;
        n += !known;
    }
    return n;
}

/* What a configuration costs over the table at all points of 16 ranks,
 * geometric mean; 0 where it is no configuration at one of them. */
static double cost_everywhere(const struct asp_coll_config *config)
{
    double sum = 0;

    for (int i = LARGE_FIRST; i < POINTS; i++) {
        uint32_t at = find(&point[i], config);

        if (at == point[i].n)
            return 0;
        sum += log(us[i][at] / us[i][chosen[i]]);
    }
    return exp(sum / (POINTS - LARGE_FIRST));
}

static double least_cost(char *name)
{
    const struct quality_point *p = &point[LARGE_FIRST];
    double least = 1e9;

    for (uint32_t w = 0; w < p->n; w++) {
        double cost = cost_everywhere(&p->config[w]);

        if (cost > 0 && cost < least) {
            least = cost;
            asp_coll_config_text(&p->config[w], name);
        }
    }
    return least;
}

static void no_universal_winner(void **state)
{
    char name[ASP_COLL_CONFIG_TEXT] = "";

    (void) state;
    for (const struct asp_coll_machine *m = asp_coll_machines; m->name; m++) {
        double cost;
        int shapes;

        for (int i = 0; i < POINTS; i++) {
            struct quality_call call = points[i];

            call.machine = m;
            quality_predict(&call, &point[i]);
            quality_true(&point[i], MACHINE, us[i]);
            chosen[i] = search(&point[i], us[i]);
        }
        shapes = count_shapes();
        cost = least_cost(name);
        printf("[11] %s: %d shapes of bcast among %d points; the best single "
               "configuration, %s, costs %.2f x\n",
               m->name, shapes, POINTS, name, cost);
        assert_true(shapes >= 3);
        assert_true(cost >= 1.2);
    }
}

/* ---- [12] strict or loose --------------------------------------------------- */

enum {
    LOOSE = 16,
    SPAN = 1 << 22 /* bytes of a buffer, above any used here */
};

static struct asp_coll_place past(uint8_t buffer, size_t offset, uint32_t call)
{
    return asp_coll_at(buffer, offset + (size_t) call * SPAN);
}

/* As many calls back to back: the same steps with buffers of their own. */
static void repeat(const struct asp_coll_schedule *one,
                   struct asp_coll_schedule *all)
{
    asp_coll_reset(all);
    asp_coll_scratch(all, (size_t) LOOSE * SPAN);
    asp_coll_signals(all, LOOSE * SPAN);
    for (uint32_t call = 0; call < LOOSE; call++)
        for (uint32_t i = 0; i < one->nsteps; i++) {
            const struct asp_coll_step *s = &one->steps[i];
            struct asp_coll_place from = past(s->from_buffer, s->from, call);
            struct asp_coll_place to = past(s->to_buffer, s->to, call);

            if (s->action == ASP_COLL_SEND)
                asp_coll_send(all, s->peer, s->tag + call * ASP_COLL_TAGS, from,
                              s->bytes);
            else if (s->action == ASP_COLL_RECV)
                asp_coll_recv(all, s->peer, s->tag + call * ASP_COLL_TAGS, to,
                              s->bytes);
            else if (s->action == ASP_COLL_COPY)
                asp_coll_copy(all, from, to, s->bytes);
            else
                asp_coll_reduce_local(all, from, to, s->bytes);
        }
    assert_int_equal(asp_coll_finish(all), 0);
}

/* Of one call of many, us. */
static double loose_us(const struct asp_coll_machine *machine,
                       const struct asp_coll_config *config,
                       const struct asp_coll_problem *problem)
{
    static struct asp_coll_schedule one[QUALITY_RANKS], all[QUALITY_RANKS];
    struct asp_coll_cost cost;
    struct asp_err err;

    assert_int_equal(
        asp_coll_build_some(config, problem, 1, UINT64_MAX, one, &err), 0);
    for (uint32_t r = 0; r < problem->ranks; r++)
        repeat(&one[r], &all[r]);
    assert_int_equal(asp_coll_simulate(machine, problem->node, problem->ranks,
                                       all, INT64_MAX, &cost),
                     0);
    return 1e-6 * (double) cost.time / LOOSE;
}

static void compare_patterns(const struct asp_coll_machine *machine,
                             uint32_t nodes)
{
    static struct quality_point p;
    static double loose[QUALITY_CONFIGS];
    const struct quality_call call = {machine, ASP_COLL_REDUCE, 8192, 16,
                                      nodes};
    uint32_t node[QUALITY_RANKS], at_once, in_a_row;
    struct asp_coll_problem problem = {.op = ASP_COLL_REDUCE,
                                       .ranks = 16,
                                       .bytes = 8192,
                                       .element_size = 8,
                                       .commutative = true,
                                       .node = node};
    char a[ASP_COLL_CONFIG_TEXT], b[ASP_COLL_CONFIG_TEXT];

    for (uint32_t r = 0; r < 16; r++)
        node[r] = r / (16 / nodes);
    quality_predict(&call, &p);
    for (uint32_t i = 0; i < p.n; i++)
        loose[i] = loose_us(machine, &p.config[i], &problem);
    at_once = quality_best(p.predicted_us, p.n);
    in_a_row = quality_best(loose, p.n);
    printf("[12] %s, %u nodes: strict %s, loose %s; the other's configuration "
           "costs "
           "%.2f x and %.2f x\n",
           machine->name, nodes, asp_coll_config_text(&p.config[at_once], a),
           asp_coll_config_text(&p.config[in_a_row], b),
           p.predicted_us[in_a_row] / p.predicted_us[at_once],
           loose[at_once] / loose[in_a_row]);
    assert_true(loose[in_a_row] <= loose[at_once]);
}

/* Calls until the detector sees what they are. */
static int calls_until(struct asp_pattern *pattern, enum asp_tune_pattern now,
                       double gap_us)
{
    int calls = 0;

    while (pattern->now != now && calls < 1000) {
        bool due = asp_pattern_call(pattern);

        calls++;
        asp_pattern_note(pattern, gap_us, 100, false);
        if (due)
            asp_pattern_agreed(pattern, asp_pattern_value(pattern));
    }
    return calls;
}

static void strict_or_loose(void **state)
{
    struct asp_pattern pattern;
    int calls;

    (void) state;
    for (const struct asp_coll_machine *m = asp_coll_machines; m->name; m++) {
        compare_patterns(m, 1);
        compare_patterns(m, 4);
    }
    asp_pattern_start(&pattern);
    calls = calls_until(&pattern, ASP_TUNE_LOOSE, 1);
    printf("[12] loose after %d calls", calls);
    assert_true(calls <= 32);
    calls = calls_until(&pattern, ASP_TUNE_STRICT, 1000);
    printf(", strict again after %d\n", calls);
    assert_true(calls <= 32);
}

/* ---- [13] teams ------------------------------------------------------------- */

static const struct {
    enum asp_coll_op op;
    size_t bytes;
} calls[] = {
    {ASP_COLL_BCAST, 8},     {ASP_COLL_BCAST, 65536},
    {ASP_COLL_ALLREDUCE, 8}, {ASP_COLL_ALLREDUCE, 65536},
    {ASP_COLL_REDUCE, 8192}, {ASP_COLL_ALLGATHER, 512},
    {ASP_COLL_ALLTOALL, 64}, {ASP_COLL_BARRIER, 0},
};
enum {
    CALLS = sizeof(calls) / sizeof(calls[0]),
    WORLD = 0,
    ROW,
    COLUMN,
    TEAMS
};

static const struct {
    const char *name;
    uint32_t ranks, nodes;
} teams[TEAMS] = {{"world", 16, 4}, {"row", 4, 1}, {"column", 4, 4}};

struct sums {
    int near[TEAMS];
    int calls, differs, impossible;
    double log_cost;
};

static void compare_teams(const struct asp_coll_machine *machine, int call,
                          struct sums *sums)
{
    uint32_t at;

    for (int t = 0; t < TEAMS; t++) {
        const struct quality_call c = {machine, calls[call].op,
                                       calls[call].bytes, teams[t].ranks,
                                       teams[t].nodes};

        quality_predict(&c, &point[t]);
        quality_true(&point[t], MACHINE, us[t]);
        chosen[t] = search(&point[t], us[t]);
        sums->near[t] += us[t][chosen[t]] <=
                         1.10 * us[t][quality_best(us[t], point[t].n)];
    }
    sums->calls++;
    at = find(&point[COLUMN], &point[WORLD].config[chosen[WORLD]]);
    if (at == point[COLUMN].n) {
        sums->impossible++;
        return;
    }
    sums->differs += at != chosen[COLUMN];
    sums->log_cost += log(us[COLUMN][at] / us[COLUMN][chosen[COLUMN]]);
}

/* Their keys differ, so each has its own entry. */
static void have_own_entries(void)
{
    uint32_t node[16], work[16];
    struct asp_tune_key key[TEAMS] = {{.call = 1}, {.call = 1}, {.call = 1}};

    for (int t = 0; t < TEAMS; t++) {
        for (uint32_t r = 0; r < teams[t].ranks; r++)
            node[r] = r / (teams[t].ranks / teams[t].nodes);
        asp_tune_shape_of(node, teams[t].ranks, work, &key[t].shape);
    }
    assert_true(asp_tune_key_compare(&key[WORLD], &key[ROW]) != 0);
    assert_true(asp_tune_key_compare(&key[WORLD], &key[COLUMN]) != 0);
    assert_true(asp_tune_key_compare(&key[ROW], &key[COLUMN]) != 0);
}

static void teams_of_ranks(void **state)
{
    (void) state;
    have_own_entries();
    for (const struct asp_coll_machine *m = asp_coll_machines; m->name; m++) {
        struct sums sums = {.calls = 0};

        for (int c = 0; c < CALLS; c++)
            compare_teams(m, c, &sums);
        printf("[13] %s: within 1.10 x their own best: world %d, row %d, "
               "column %d of %d; the world's configuration in a column: "
               "impossible %d, "
               "another %d, costs %.2f x\n",
               m->name, sums.near[WORLD], sums.near[ROW], sums.near[COLUMN],
               CALLS, sums.impossible, sums.differs,
               exp(sums.log_cost / fmax(1, sums.calls - sums.impossible)));
        for (int t = 0; t < TEAMS; t++)
            assert_true(10 * sums.near[t] >= 6 * CALLS);
        assert_true(sums.impossible + sums.differs > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_universal_winner),
        cmocka_unit_test(strict_or_loose),
        cmocka_unit_test(teams_of_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
