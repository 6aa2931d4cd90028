/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cost.h"

/* Handling an operation takes base + per_byte * bytes. Measured by
 * bench/handling (contiguous doubles, MPICH 4.0.2, UCX over shared memory). */
static const struct {
    double base_s, per_byte_s;
} prices[ASPX_KINDS] = {
    [ASPX_KIND_PUT] = {0.30e-6, 0.06e-9},
    [ASPX_KIND_GET] = {0.25e-6, 0.05e-9},
    [ASPX_KIND_ACC] = {0.45e-6, 0.25e-9},
};

/* Operations that go the same way, nearly all. */
static const double NEARLY = 0.1;
/* An opinion needs a difference of this, and of this share of the time. */
static const double MARGIN = 1.25, MATTERS = 0.01;
/* Enough operations to learn from; how much one interval changes; bounds. */
static const double LEARN_OPS = 1000, LEARN = 0.25, LEAST = 0.2, MOST = 50;

static double handling(const struct aspx_workload *workload)
{
    double sum = 0;

    for (int k = 0; k < ASPX_KINDS; k++)
        sum += prices[k].base_s * workload->ops[k] +
               prices[k].per_byte_s * workload->bytes[k];
    return sum;
}

void aspx_cost_learn(struct aspx_cost *cost,
                     const struct aspx_workload *workload)
{
    double ops = aspx_workload_ops(workload), table, scale;

    if (workload->redirected < LEARN_OPS || workload->busy_s <= 0 || ops <= 0)
        return;
    table = handling(workload) * workload->redirected / ops;
    scale = cost->scale + LEARN * (workload->busy_s / table - cost->scale);
    cost->scale = scale < LEAST ? LEAST : scale > MOST ? MOST : scale;
}

/* How much longer an operation takes because others are before it: as in an
 * open queue, but no more than all users of the ghost can have there. */
static double crowding(double load, double users_per_ghost)
{
    double most = users_per_ghost > 1 ? users_per_ghost : 1;

    return load >= 1 || 1 / (1 - load) > most ? most : 1 / (1 - load);
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

struct aspx_forecast aspx_cost_forecast(const struct aspx_cost *cost,
                                        const struct aspx_workload *workload)
{
    struct aspx_forecast f = {.cheaper = ASPX_CHEAPER_NEITHER};
    double each, seen, share;

    if (workload->user_s <= 0 || workload->ghosts <= 0)
        return f;
    each = cost->scale * handling(workload) / workload->user_s;
    f.load = each * workload->users / workload->ghosts;
    f.with_s = each * crowding(f.load, workload->users / workload->ghosts);
    f.without_s = each + workload->waits / workload->user_s *
                             aspx_workload_delay(workload);
    seen = each + workload->wait_s / workload->user_s;
    share = workload->redirected / aspx_workload_ops(workload);
    if (share < NEARLY)
        f.without_s = lesser(f.without_s, seen);
    else if (share > 1 - NEARLY)
        f.with_s = lesser(f.with_s, seen);
    if (f.without_s > MARGIN * f.with_s && f.without_s - f.with_s > MATTERS)
        f.cheaper = ASPX_CHEAPER_GHOSTS;
    else if (f.with_s > MARGIN * f.without_s &&
             f.with_s - f.without_s > MATTERS)
        f.cheaper = ASPX_CHEAPER_TARGETS;
    return f;
}
