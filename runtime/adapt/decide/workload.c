/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of workloads, and the figures that decisions compare. The members of a
 * workload are all doubles, so two are added as arrays. */
#include "config.h"

#include "workload.h"

#include <string.h>

void aspx_workload_add(struct aspx_workload *sum,
                       const struct aspx_workload *more)
{
    double a[ASPX_WORKLOAD_DOUBLES], b[ASPX_WORKLOAD_DOUBLES];

    memcpy(a, sum, sizeof(a));
    memcpy(b, more, sizeof(b));
    for (int i = 0; i < ASPX_WORKLOAD_DOUBLES; i++)
        a[i] += b[i];
    memcpy(sum, a, sizeof(a));
}

double aspx_workload_ops(const struct aspx_workload *workload)
{
    double ops = 0;

    for (int k = 0; k < ASPX_KINDS; k++)
        ops += workload->ops[k];
    return ops;
}

double aspx_workload_rate(const struct aspx_workload *workload)
{
    return workload->user_s > 0 ? aspx_workload_ops(workload) *
                                      workload->users / workload->user_s
                                : 0;
}

double aspx_workload_delay(const struct aspx_workload *workload)
{
    return workload->user_s > 0 ? workload->outside_s2 / 2 / workload->user_s
                                : 0;
}
