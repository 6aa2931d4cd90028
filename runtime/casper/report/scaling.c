/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by casper/report/record.c. The first user of each node reads what its
 * first ghost has noted in the arena (casper/arena/ghost_scaling.h). */
#include "config.h"

#include "scaling.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/mpi/real.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of one node. */
struct node_scaling {
    uint64_t changes; /* all there were */
    aspx_scaling_change change[ASPX_SCALING_CHANGES];
};

enum { NUMBERS = sizeof(struct node_scaling) / sizeof(uint64_t) };

struct aspx_scaling_report {
    uint32_t nnodes;
    struct node_scaling node[]; /* own, then the sums */
};

static void read_scaling(struct node_scaling *node)
{
    const struct aspx_ghost_scaling *scaling =
        &aspx_engine.arena.doorbells[0].scaling;

    node->changes = atomic_load(&scaling->changes);
    for (uint64_t c = 0; c < node->changes && c < ASPX_SCALING_CHANGES; c++)
        node->change[c] = atomic_load(&scaling->change[c]);
}

struct aspx_scaling_report *aspx_scaling_gather(const struct aspx_world *world)
{
    size_t n = world->nnodes;
    struct aspx_scaling_report *report;
    int have, ok;

    if (!aspx_engine.settings.scaling) /* the same everywhere */
        return NULL;
    report = calloc(1, sizeof(*report) + 2 * n * sizeof(report->node[0]));
    have = report != NULL;
    aspx_real.MPI_Allreduce(&have, &ok, 1, MPI_INT, MPI_LAND, world->users);
    if (ok) {
        report->nnodes = world->nnodes;
        if (aspx_engine.arena.doorbells &&
            aspx_engine_local(world, (uint32_t) world->rank_all) == 0)
            read_scaling(&report->node[world->node]);
        aspx_real.MPI_Reduce(report->node, report->node + n, (int) n * NUMBERS,
                             MPI_UINT64_T, MPI_SUM, 0, world->users);
        if (world->rank_user == 0)
            return report;
    }
    free(report);
    return NULL;
}

void aspx_scaling_free(struct aspx_scaling_report *report)
{
    free(report);
}

void aspx_scaling_json(FILE *to, const struct aspx_scaling_report *report)
{
    const char *comma = "";
    uint64_t more = 0;

    if (!report)
        return;
    fputs(",\n  \"ghost_crew\": [", to);
    for (uint32_t n = 0; n < report->nnodes; n++) {
        const struct node_scaling *node = &report->node[report->nnodes + n];
        uint64_t room = ASPX_SCALING_CHANGES, c;

        for (c = 0; c < node->changes && c < room; c++) {
            fprintf(to,
                    "%s\n    {\"t_s\": %.6f, \"node\": %" PRIu32
                    ", \"active\": %" PRIu64 "}",
                    comma, 1e-6 * (double) (node->change[c] >> 8), n,
                    node->change[c] & 0xff);
            comma = ",";
        }
        more += node->changes - c;
    }
    fprintf(to, "\n  ],\n  \"ghost_crew_more\": %" PRIu64, more);
}
