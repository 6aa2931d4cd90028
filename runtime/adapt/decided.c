/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "decided.h"

#include <stdio.h>

static const char *const names[] = {
    [ASPX_DECIDED_PREDICTOR] = "predictor",
    [ASPX_DECIDED_ON] = "on",
    [ASPX_DECIDED_OFF] = "off",
    [ASPX_DECIDED_TRIAL] = "trial",
    [ASPX_DECIDED_NOTHING] = "nothing",
    [ASPX_DECIDED_THREADS] = "threads",
    [ASPX_DECIDED_PLAIN] = "plain",
};

const char *aspx_decided_name(int32_t to)
{
    return names[to];
}

void aspx_decide_v(struct aspx_decisions *all, double t_s,
                   enum aspx_decided to, const char *why, va_list args)
{
    struct aspx_decision *new = &all->list[all->n];

    if (all->n == ASPX_DECISIONS) {
        all->more++;
        return;
    }
    new->t_s = t_s;
    new->to = (int32_t) to;
    vsnprintf(new->why, sizeof(new->why), why, args);
    all->n++;
}

void aspx_decide(struct aspx_decisions *all, double t_s, enum aspx_decided to,
                 const char *why, ...)
{
    va_list args;

    va_start(args, why);
    aspx_decide_v(all, t_s, to, why, args);
    va_end(args);
}
