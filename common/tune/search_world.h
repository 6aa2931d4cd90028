/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine for tests of the search, on which calls take what they are told to,
 * exactly. */
#ifndef ASPEN_COMMON_TUNE_SEARCH_WORLD_H
#define ASPEN_COMMON_TUNE_SEARCH_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/tune/search.h"

enum { CONFIGS = 32, DEFAULT = 9 };

/* A machine on which a call of a configuration takes us[config]. */
struct world {
    struct asp_search search;
    struct asp_search_try tries[CONFIGS];
    double us[CONFIGS];
    uint32_t used[CONFIGS]; /* calls of each configuration */
    uint32_t calls, agreements;
    double total_us, trials_us;
};

/* Configurations 0 to n - 1 in the model's order, each a bit slower than the
 * one before as the model has it. */
static inline void begin(struct world *w,
                         const struct asp_search_effort *effort, uint32_t n,
                         uint32_t standard)
{
    struct asp_search_candidate list[CONFIGS];

    for (uint32_t i = 0; i < n; i++) {
        list[i] = (struct asp_search_candidate){i, 100 + i};
        if (w->us[i] == 0)
            w->us[i] = 100;
    }
    asp_search_start(&w->search, w->tries, CONFIGS, effort, list, n, standard,
                     1);
}

static inline struct asp_search_step call(struct world *w, uint64_t bytes)
{
    struct asp_search_step step = asp_search_next(&w->search, bytes);
    double values[ASP_SEARCH_VALUES];

    w->calls++;
    w->used[step.config]++;
    w->total_us += w->us[step.config];
    w->trials_us += step.trial ? w->us[step.config] : 0;
    if (step.timed)
        asp_search_note(&w->search, w->us[step.config]);
    if (step.agree) {
        w->agreements++;
        asp_search_values(&w->search, values);
        asp_search_agreed(&w->search, values);
    }
    return step;
}

/* Until the choice. Returns the configuration. */
static inline uint32_t choose(struct world *w)
{
    for (int i = 0; i < 1000 && w->search.phase < ASP_SEARCH_WATCH; i++)
        call(w, 8);
    assert_true(w->search.phase >= ASP_SEARCH_WATCH);
    return w->search.tries[w->search.chosen].config;
}

static inline struct asp_search_sum sum(const struct world *w)
{
    struct asp_search_sum sum;

    asp_search_sum(&w->search, &sum);
    return sum;
}

#endif
