/* SPDX-License-Identifier: BSD-3-Clause */
/* Points for quality_test.c; see quality_model.h. */
#include "quality_model.h"

#include "common/base/hash.h"
#include "common/coll/model/mpich.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* How far a configuration is from its model: its deviation, as a logarithm.
 * Nishtala's models are 1.1 to 1.43 x off at the choice (8.3.4). */
static const double own_factor = 0.15;

double quality_uniform(uint64_t *random)
{
    uint64_t x = *random += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double) ((x ^ x >> 31) >> 11) / (double) (UINT64_C(1) << 53);
}

double quality_gauss(uint64_t *random)
{
    double u = quality_uniform(random), v = quality_uniform(random);

    return sqrt(-2 * log(1 - u)) * cos(2 * 3.14159265358979 * v);
}

static struct asp_coll_problem problem_of(const struct quality_call *c,
                                          uint32_t node[QUALITY_RANKS])
{
    for (uint32_t i = 0; i < c->ranks; i++)
        node[i] = i / (c->ranks / c->nodes);
    return (struct asp_coll_problem){
        .op = c->op,
        .ranks = c->ranks,
        .bytes = c->bytes,
        .element_size = 8,
        .commutative = true,
        .node = node,
    };
}

static double predict(const struct asp_coll_machine *machine,
                      const struct asp_coll_config *config,
                      const struct asp_coll_problem *problem)
{
    struct asp_coll_cost cost;
    struct asp_err err = {.text = ""};
    char text[ASP_COLL_CONFIG_TEXT];

    if (asp_coll_predict(machine, config, problem, 1, &cost, &err) < 0)
        fail_msg("%s: %s", asp_coll_config_text(config, text), err.text);
    return (double) cost.time / 1e6;
}

/* The number of MPICH's algorithm, which is added where the index leaves it
 * out. */
static void find_standard(struct quality_point *p,
                          const struct asp_coll_problem *problem)
{
    struct asp_coll_config config;
    char text[ASP_COLL_CONFIG_TEXT], wanted[ASP_COLL_CONFIG_TEXT];

    assert_int_equal(asp_coll_mpich(problem, &config, NULL), 0);
    asp_coll_config_text(&config, wanted);
    for (p->standard = 0; p->standard < p->n; p->standard++)
        if (strcmp(asp_coll_config_text(&p->config[p->standard], text),
                   wanted) == 0)
            return;
    p->config[p->n++] = config;
}

static void sort(struct quality_point *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t at = i;

        for (; at > 0 && p->predicted_us[p->order[at - 1]] > p->predicted_us[i];
             at--)
            p->order[at] = p->order[at - 1];
        p->order[at] = i;
    }
}

static double predict_agreement(const struct quality_call *c)
{
    struct quality_call sum = *c;
    uint32_t node[QUALITY_RANKS];
    struct asp_coll_problem problem;
    struct asp_coll_config config;

    sum.op = ASP_COLL_ALLREDUCE;
    sum.bytes = 88;
    problem = problem_of(&sum, node);
    assert_int_equal(asp_coll_mpich(&problem, &config, NULL), 0);
    return predict(c->machine, &config, &problem);
}

void quality_predict(const struct quality_call *call, struct quality_point *p)
{
    uint32_t node[QUALITY_RANKS];
    struct asp_coll_problem problem = problem_of(call, node);
    struct asp_coll_configs configs = {.row = 0};

    p->call = *call;
    p->n = 0;
    while (p->n < QUALITY_CONFIGS - 1 &&
           asp_coll_configs_next(&configs, &problem))
        p->config[p->n++] = configs.config;
    find_standard(p, &problem);
    for (uint32_t i = 0; i < p->n; i++)
        p->predicted_us[i] = predict(call->machine, &p->config[i], &problem);
    sort(p);
    p->agree_us = predict_agreement(call);
}

/* ---- the true machine ---- */

static int64_t off(int64_t constant, uint64_t *random)
{
    double factor = pow(1.5, 2 * quality_uniform(random) - 1);

    return (int64_t) ((double) constant * factor);
}

static void shift_link(struct asp_coll_link *link, uint64_t *random)
{
    link->latency = off(link->latency, random);
    link->overhead = off(link->overhead, random);
    link->gap = off(link->gap, random);
    link->byte = off(link->byte, random);
}

/* A factor that belongs to a configuration on a machine. */
static double factor_of(const struct asp_coll_config *config, uint64_t seed)
{
    char text[ASP_COLL_CONFIG_TEXT];

    asp_coll_config_text(config, text);
    seed = asp_hash(seed, text, strlen(text));
    return exp(own_factor * quality_gauss(&seed));
}

void quality_true(const struct quality_point *p, uint64_t seed,
                  double us[QUALITY_CONFIGS])
{
    struct asp_coll_machine machine = *p->call.machine;
    uint32_t node[QUALITY_RANKS];
    struct asp_coll_problem problem = problem_of(&p->call, node);
    uint64_t random = seed;

    shift_link(&machine.inside, &random);
    shift_link(&machine.between, &random);
    machine.copy = off(machine.copy, &random);
    machine.reduce = off(machine.reduce, &random);
    for (uint32_t i = 0; i < p->n; i++)
        us[i] = predict(&machine, &p->config[i], &problem) *
                factor_of(&p->config[i], seed);
}

uint32_t quality_best(const double *us, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++)
        if (us[i] < us[best])
            best = i;
    return best;
}
