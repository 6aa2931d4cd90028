/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of the time that operations take: see cost.h. */
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

/* All operations go the same way, but for this share at most: then the time
 * that ranks waited bounds the price of that way. */
static const double STRAY_MAX = 0.1;
/* One way is cheaper if the other costs so many times as much, and by so much
 * more of a rank's time: the model is no better than the first, and less than
 * the second is not worth an order. */
static const double RATIO_MIN = 1.25, SHARE_MIN = 0.01;
/* Redirected operations that a correction needs, so that start and end of the
 * interval do not matter; the weight of one correction; bounds of the scale,
 * beyond which the busy time cannot be that of these operations. */
static const double LEARN_OPS = 1000, LEARN_WEIGHT = 0.25, SCALE_MIN = 0.2,
                    SCALE_MAX = 50;

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
    scale = cost->scale +
            LEARN_WEIGHT * (workload->busy_s / table - cost->scale);
    cost->scale = scale < SCALE_MIN   ? SCALE_MIN
                  : scale > SCALE_MAX ? SCALE_MAX
                                      : scale;
}

/* The factor by which queueing lengthens an operation: 1 / (1 - load) as in an
 * open queue, bounded by the users of the ghost, as each has one in front. */
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
    if (share < STRAY_MAX)
        f.without_s = lesser(f.without_s, seen);
    else if (share > 1 - STRAY_MAX)
        f.with_s = lesser(f.with_s, seen);
    if (f.without_s > RATIO_MIN * f.with_s &&
        f.without_s - f.with_s > SHARE_MIN)
        f.cheaper = ASPX_CHEAPER_GHOSTS;
    else if (f.with_s > RATIO_MIN * f.without_s &&
             f.with_s - f.without_s > SHARE_MIN)
        f.cheaper = ASPX_CHEAPER_TARGETS;
    return f;
}
