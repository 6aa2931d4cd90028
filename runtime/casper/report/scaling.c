/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by record/record.c. The first user of each node reads what its first
 * ghost has noted in the arena (casper/arena/ghost_scaling.h). */
#include "config.h"

#include "scaling.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/mpi/real.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of one node. */
struct crew {
    uint64_t changes; /* all there were */
    aspx_duty_change change[ASPX_DUTY_CHANGES];
};

enum { NUMBERS = sizeof(struct crew) / sizeof(uint64_t) };

struct aspx_crews {
    uint32_t nnodes;
    struct crew crew[]; /* own, then the sums */
};

static void read_crew(struct crew *crew)
{
    const struct aspx_duty *duty = &aspx_engine.arena.doorbells[0].duty;

    crew->changes = atomic_load(&duty->changes);
    for (uint64_t c = 0; c < crew->changes && c < ASPX_DUTY_CHANGES; c++)
        crew->change[c] = atomic_load(&duty->change[c]);
}

struct aspx_crews *aspx_crews_gather(const struct aspx_world *world)
{
    size_t n = world->nnodes;
    struct aspx_crews *crews;
    int have, ok;

    if (!aspx_engine.settings.crew) /* the same everywhere */
        return NULL;
    crews = calloc(1, sizeof(*crews) + 2 * n * sizeof(crews->crew[0]));
    have = crews != NULL;
    aspx_real.MPI_Allreduce(&have, &ok, 1, MPI_INT, MPI_LAND, world->users);
    if (ok) {
        crews->nnodes = world->nnodes;
        if (aspx_engine.arena.doorbells &&
            aspx_engine_local(world, (uint32_t) world->rank_all) == 0)
            read_crew(&crews->crew[world->node]);
        aspx_real.MPI_Reduce(crews->crew, crews->crew + n, (int) n * NUMBERS,
                             MPI_UINT64_T, MPI_SUM, 0, world->users);
        if (world->rank_user == 0)
            return crews;
    }
    free(crews);
    return NULL;
}

void aspx_crews_free(struct aspx_crews *crews)
{
    free(crews);
}

void aspx_crews_json(FILE *to, const struct aspx_crews *crews)
{
    const char *comma = "";
    uint64_t more = 0;

    if (!crews)
        return;
    fputs(",\n  \"ghost_crew\": [", to);
    for (uint32_t n = 0; n < crews->nnodes; n++) {
        const struct crew *crew = &crews->crew[crews->nnodes + n];
        uint64_t room = ASPX_DUTY_CHANGES, c;

        for (c = 0; c < crew->changes && c < room; c++) {
            fprintf(to,
                    "%s\n    {\"t_s\": %.6f, \"node\": %" PRIu32
                    ", \"active\": %" PRIu64 "}",
                    comma, 1e-6 * (double) (crew->change[c] >> 8), n,
                    crew->change[c] & 0xff);
            comma = ",";
        }
        more += crew->changes - c;
    }
    fprintf(to, "\n  ],\n  \"ghost_crew_more\": %" PRIu64, more);
}
