/* SPDX-License-Identifier: BSD-3-Clause */
/* The record's section of how many ghosts were active. The first user of each
 * node reads what its first ghost has noted in the arena
 * (casper/arena/ghost_scaling.h). */
#include "config.h"

#include "sections.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/world/world.h"

#include <inttypes.h>

/* Of one node. */
struct node_scaling {
    uint64_t changes; /* all there were */
    aspx_scaling_change change[ASPX_SCALING_CHANGES];
};

enum { NUMBERS = sizeof(struct node_scaling) / sizeof(uint64_t) };

static void read_scaling(struct node_scaling *node)
{
    const struct aspx_ghost_scaling *scaling =
        &aspx_engine.arena.doorbells[0].scaling;

    node->changes = atomic_load(&scaling->changes);
    for (uint64_t c = 0; c < node->changes && c < ASPX_SCALING_CHANGES; c++)
        node->change[c] = atomic_load(&scaling->change[c]);
}

static void *gather(struct aspx_record *record)
{
    size_t n = record->nnodes;
    struct node_scaling *own;

    if (!aspx_engine.settings.scaling) /* the same everywhere */
        return NULL;
    own = aspx_record_alloc(record, n * sizeof(*own));
    if (own && aspx_engine.arena.doorbells &&
        aspx_engine_local(&aspx_world, (uint32_t) aspx_world.rank_all) == 0)
        read_scaling(&own[record->node]);
    return aspx_record_sum(record, (const uint64_t *) own, NUMBERS * n);
}

static void put_json(FILE *to, const struct aspx_record *record,
                     const void *data)
{
    const struct node_scaling *nodes = data;
    const char *comma = "";
    uint64_t more = 0;

    fputs(",\n  \"active_ghosts\": [", to);
    for (uint32_t n = 0; n < record->nnodes; n++) {
        const struct node_scaling *node = &nodes[n];
        uint64_t most = ASPX_SCALING_CHANGES, c;

        for (c = 0; c < node->changes && c < most; c++) {
            fprintf(to,
                    "%s\n    {\"t_s\": %.6f, \"node\": %" PRIu32
                    ", \"active\": %" PRIu64 "}",
                    comma, 1e-6 * (double) (node->change[c] >> 8), n,
                    node->change[c] & 0xff);
            comma = ",";
        }
        more += node->changes - c;
    }
    fprintf(to, "\n  ],\n  \"active_ghosts_more\": %" PRIu64, more);
}

const struct aspx_section aspx_scaling_section = {
    .gather = gather,
    .json = put_json,
};
