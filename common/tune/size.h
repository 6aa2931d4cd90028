/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of calls of which each rank knows but its own bytes (MPI_Alltoallv):
 * what is in their key is a bucket (key.h) that was agreed on, so it is equal
 * on all ranks, whatever each of them passes now.
 *
 *   each rank: the greatest bucket of its calls in this epoch --MAX--> now
 *
 * An agreement is due at the end of an epoch, whose length in calls all ranks
 * know: 1, then FIRST after a change, and twice as long as the one before where
 * nothing changed, up to LONGEST. Agreements that the search or the pattern
 * wants anyway carry the value, too: a size that rose is known then, one that
 * fell at the end of the epoch, as calls of several sizes may take turns. */
#ifndef ASPEN_COMMON_TUNE_SIZE_H
#define ASPEN_COMMON_TUNE_SIZE_H

#include "key.h"

enum {
    ASP_SIZE_FIRST = 8, /* calls */
    /* Calls in which a change may stay unnoticed; an agreement takes as long as
     * some calls, so it is less than one percent of them. */
    ASP_SIZE_LONGEST = 1024,
};

/* All zeros: the operation has none. */
struct asp_size {
    uint32_t now;         /* ASP_TUNE_BUCKET_ANY: not agreed on yet */
    uint32_t epoch, seen; /* calls; with now equal on all ranks */
    uint32_t most;        /* this rank's */
};

void asp_size_start(struct asp_size *size);

/* What this rank passes in a call, of those that are counted by
 * asp_size_pass(), too. */
static inline void asp_size_note(struct asp_size *size, uint64_t bytes)
{
    uint32_t bucket = asp_tune_bucket(bytes);

    if (bucket > size->most)
        size->most = bucket;
}

/* A call begins. Returns whether an agreement is due at its end. */
bool asp_size_call(struct asp_size *size);

/* How many calls from now on need none, and that so many have been made without
 * asp_size_call(). */
uint32_t asp_size_rest(const struct asp_size *size);
void asp_size_pass(struct asp_size *size, uint32_t calls);

/* What goes into an agreement (MAX), and what came out of it. */
double asp_size_value(const struct asp_size *size);
void asp_size_agreed(struct asp_size *size, double value);

#endif
