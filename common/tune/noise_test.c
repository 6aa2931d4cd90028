/* SPDX-License-Identifier: BSD-3-Clause */
/* Is what a search chooses ever worse than the default, and how much does it
 * still find? Searches of four configurations beside the default, on a
 * simulated clock, whose calls vary as calls were measured to (noise.h), up to
 * 2,000 calls later. Configurations differ from the default by a part that is
 * drawn for each search:
 *
 *   tied    they take what the default takes
 *   worse   5 to 30 % more: the lead that noise gives one must not suffice
 *   mixed   from half to twice as much
 *
 * A call of the default takes 1, 30 or 1,000 us, read by a clock of 25 ns.
 *
 * Argument: number of searches, which are dealt out to all of these. */
#include "noise.h"
#include "quality_model.h"

#include "common/tune/search.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CONFIGS = 5, DEFAULT = 2, CALLS = 2000, SIZES = 3 };
enum kind { TIED, WORSE, MIXED, KINDS };

static const char *const kind_names[KINDS] = {"tied", "worse", "mixed"};
static const double default_us[SIZES] = {1, 30, 1000};

struct sums {
    uint32_t searches;
    uint32_t other;  /* not the default in the end */
    uint32_t worse;  /* more than 5 % over it */
    uint32_t chance; /* some configuration was 10 % below it */
    uint32_t taken;  /* ... and the choice is below it */
    uint32_t best;   /* ... and within 5 % of the best configuration */
    double ratio;    /* of logarithms: the choice over the default */
    double possible; /* ... the best over the default */
};

static uint32_t searches = 3000;

static void draw(enum kind kind, double standard_us, uint64_t *random,
                 double us[CONFIGS])
{
    for (uint32_t i = 0; i < CONFIGS; i++) {
        double u = quality_uniform(random);

        us[i] = standard_us * (i == DEFAULT || kind == TIED ? 1
                               : kind == WORSE              ? 1.0501 + 0.25 * u
                                               : pow(2, 2 * u - 1));
    }
}

static double read_clock(double us)
{
    static const double grain_us = 0.025;

    return grain_us * floor(us / grain_us + 0.5);
}

/* Returns the configuration in the end. */
static uint32_t search(const struct noise_shape *shape,
                       const double us[CONFIGS], uint64_t seed)
{
    struct noise_state noise = {.random = seed};
    struct asp_search_candidate list[CONFIGS];
    struct asp_search_try tries[CONFIGS];
    double values[ASP_SEARCH_VALUES];
    struct asp_search_sum sum;
    struct asp_search s;

    for (uint32_t i = 0; i < CONFIGS; i++)
        list[i] = (struct asp_search_candidate){i,
                                                us[DEFAULT] * (1 + 0.01 * i)};
    asp_search_start(&s, tries, CONFIGS, &asp_search_online, list, CONFIGS,
                     DEFAULT, 1);
    for (uint32_t call = 0; call < CALLS; call++) {
        uint32_t rest = asp_search_rest(&s);
        struct asp_search_step step;

        if (rest > 0) {
            rest = rest < CALLS - call ? rest : CALLS - call;
            asp_search_pass(&s, rest);
            call += rest;
        }
        step = asp_search_next(&s, 8);
        if (step.timed)
            asp_search_note(
                &s, read_clock(us[step.config] * noise_next(shape, &noise)));
        if (step.agree) {
            asp_search_values(&s, values);
            asp_search_agreed(&s, values);
        }
    }
    asp_search_sum(&s, &sum);
    return sum.config;
}

static void judge(const double us[CONFIGS], uint32_t config, struct sums *sum)
{
    double best = us[quality_best(us, CONFIGS)], standard = us[DEFAULT];

    sum->searches++;
    sum->other += config != DEFAULT;
    sum->worse += us[config] > 1.05 * standard;
    sum->ratio += log(us[config] / standard);
    sum->possible += log(best / standard);
    if (best > 0.9 * standard)
        return;
    sum->chance++;
    sum->taken += us[config] < standard;
    sum->best += us[config] <= 1.05 * best;
}

static double percent(uint32_t part, uint32_t whole)
{
    return whole ? 100.0 * part / whole : 0;
}

static void tell(const char *name, const struct sums *s)
{
    printf("%-24s %6" PRIu32 " searches: %5.2f %% worse than the default by 5 "
           "%%, %5.2f %% not the default; time %.3f (best configurations %.3f)",
           name, s->searches, percent(s->worse, s->searches),
           percent(s->other, s->searches), exp(s->ratio / s->searches),
           exp(s->possible / s->searches));
    if (s->chance)
        printf("; of %" PRIu32
               " with a configuration 10 %% faster, a faster one in %.1f "
               "%%, within 5 %% of the best in %.1f %%",
               s->chance, percent(s->taken, s->chance),
               percent(s->best, s->chance));
    printf("\n");
}

static void add(struct sums *to, const struct sums *from)
{
    to->searches += from->searches;
    to->other += from->other;
    to->worse += from->worse;
    to->chance += from->chance;
    to->taken += from->taken;
    to->best += from->best;
    to->ratio += from->ratio;
    to->possible += from->possible;
}

static void noise(void **state)
{
    struct sums kinds[KINDS] = {{0}}, all = {0};
    uint64_t random = 1;
    uint32_t shapes = 0;

    (void) state;
    while (noise_shapes[shapes].name)
        shapes++;
    for (uint32_t k = 0; k < shapes; k++) {
        struct sums one = {0};

        for (uint32_t i = 0; i < searches / shapes; i++) {
            enum kind kind = (enum kind)(i % KINDS);
            double us[CONFIGS];
            struct sums sum = {0};

            draw(kind, default_us[i / KINDS % SIZES], &random, us);
            judge(us, search(&noise_shapes[k], us, 1 + i * 7919ull), &sum);
            add(&kinds[kind], &sum);
            add(&one, &sum);
        }
        tell(noise_shapes[k].name, &one);
        add(&all, &one);
    }
    for (int kind = 0; kind < KINDS; kind++)
        tell(kind_names[kind], &kinds[kind]);
    tell("all", &all);
    assert_true(all.worse <= 0.01 * all.searches);
    assert_true(kinds[WORSE].worse <= 0.01 * kinds[WORSE].searches);
    assert_true(kinds[TIED].other <= 0.025 * kinds[TIED].searches);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(noise)};

    if (argc > 1)
        searches = (uint32_t) strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
