/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules as GOAL (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly
 * Language", ICPP 2009), for LogGOPSim as a check from outside. */
#include "config.h"

#include "tools/explain/coll.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void put_step(FILE *to, const struct aspt_coll *coll,
                     const struct asp_coll_step *step, uint32_t number)
{
    int64_t each = step->action == ASP_COLL_REDUCE_LOCAL ? coll->machine->reduce
                                                         : coll->machine->copy;

    fprintf(to, "l%" PRIu32 ": ", number);
    if (step->action == ASP_COLL_SEND)
        fprintf(to, "send %zub to %" PRIu32 " tag %" PRIu32 "\n",
                asp_coll_payload(step), step->peer, step->tag);
    else if (step->action == ASP_COLL_RECV)
        fprintf(to, "recv %zub from %" PRIu32 " tag %" PRIu32 "\n",
                asp_coll_payload(step), step->peer, step->tag);
    else
        fprintf(to, "calc %" PRId64 "\n", each * (int64_t) step->bytes);
}

static void put_rank(FILE *to, const struct aspt_coll *coll, uint32_t rank)
{
    const struct asp_coll_schedule *s = &coll->schedules[rank];

    fprintf(to, "\nrank %" PRIu32 " {\n", rank);
    for (uint32_t i = 0; i < s->nsteps; i++)
        put_step(to, coll, &s->steps[i], i + 1);
    for (uint32_t i = 0; i < s->nsteps; i++)
        for (uint32_t k = 0; k < s->steps[i].nneeds; k++)
            fprintf(to, "l%" PRIu32 " requires l%" PRIu32 "\n", i + 1,
                    s->needs[s->steps[i].needs_first + k] + 1);
    fprintf(to, "}\n");
}

int aspt_coll_goal(FILE *to, const struct aspt_coll *coll, struct asp_err *err)
{
    const struct asp_coll_problem *p = coll->problem;
    struct asp_coll_cost cost;

    if (asp_coll_simulate(coll->machine, p->node, p->ranks, coll->schedules,
                          INT64_MAX, &cost) < 0)
        return asp_errf(err, errno, "cannot simulate: %s", strerror(errno));
    fprintf(to, "num_ranks %" PRIu32 "\n", p->ranks);
    fprintf(to, "// picoseconds: calc, and the whole: %" PRId64 "\n",
            cost.time);
    for (uint32_t r = 0; r < p->ranks; r++)
        put_rank(to, coll, r);
    return 0;
}
