/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of decisions: see decision.h. */
#include "config.h"

#include "decision.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static const char *const names[] = {
    [ASPX_DECISION_PREDICTOR] = "predictor",
    [ASPX_DECISION_ON] = "on",
    [ASPX_DECISION_OFF] = "off",
    [ASPX_DECISION_TRIAL] = "trial",
    [ASPX_DECISION_NOTHING] = "nothing",
    [ASPX_DECISION_THREADS] = "threads",
    [ASPX_DECISION_PLAIN] = "plain",
};

/* Only what may stand in a JSON string as it is. */
static bool are_words(const char why[ASPX_WHY_BYTES])
{
    int i;

    for (i = 0; i < ASPX_WHY_BYTES && why[i]; i++)
        if (why[i] < ' ' || why[i] > '~' || why[i] == '"' || why[i] == '\\')
            return false;
    return i < ASPX_WHY_BYTES;
}

static bool is_sane(const struct aspx_decision *decision)
{
    return decision->to >= 0 &&
           (size_t) decision->to < sizeof(names) / sizeof(names[0]) &&
           isfinite(decision->t_s) && are_words(decision->why);
}

void aspx_decisions_take(struct aspx_decisions *all,
                         const struct aspx_decision *list, uint32_t n,
                         uint32_t more)
{
    all->n = 0;
    all->more = more;
    for (uint32_t i = 0; i < n && i < ASPX_DECISIONS; i++) {
        all->list[all->n] = list[i]; /* a copy: it may change meanwhile */
        all->n += is_sane(&all->list[all->n]);
    }
}

const char *aspx_decision_name(int32_t to)
{
    return names[to];
}

void aspx_decisions_addv(struct aspx_decisions *all, double t_s,
                         enum aspx_decision_kind to, const char *why,
                         va_list args)
{
    struct aspx_decision *new;

    if (all->n >= ASPX_DECISIONS) {
        all->more++;
        return;
    }
    new = &all->list[all->n];
    new->t_s = t_s;
    new->to = (int32_t) to;
    vsnprintf(new->why, sizeof(new->why), why, args);
    all->n++;
}

void aspx_decisions_add(struct aspx_decisions *all, double t_s,
                        enum aspx_decision_kind to, const char *why, ...)
{
    va_list args;

    va_start(args, why);
    aspx_decisions_addv(all, t_s, to, why, args);
    va_end(args);
}
