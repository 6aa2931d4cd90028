/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "workload.h"

#include <string.h>

void aspx_demand_add(struct aspx_demand *sum, const struct aspx_demand *more)
{
    double a[ASPX_DEMAND_DOUBLES], b[ASPX_DEMAND_DOUBLES];

    memcpy(a, sum, sizeof(a));
    memcpy(b, more, sizeof(b));
    for (int i = 0; i < ASPX_DEMAND_DOUBLES; i++)
        a[i] += b[i];
    memcpy(sum, a, sizeof(a));
}

double aspx_demand_ops(const struct aspx_demand *demand)
{
    double ops = 0;

    for (int k = 0; k < ASPX_KINDS; k++)
        ops += demand->ops[k];
    return ops;
}

double aspx_demand_rate(const struct aspx_demand *demand)
{
    return demand->user_s > 0
               ? aspx_demand_ops(demand) * demand->users / demand->user_s
               : 0;
}

double aspx_demand_silence(const struct aspx_demand *demand)
{
    return demand->user_s > 0 ? demand->silence_s2 / 2 / demand->user_s : 0;
}
