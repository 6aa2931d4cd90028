/* SPDX-License-Identifier: BSD-3-Clause */
/* The first exchange of a step: each process offers what it is. */
#ifndef ASPEN_RUNTIME_WORLD_JOIN_H
#define ASPEN_RUNTIME_WORLD_JOIN_H

#include "world.h"

/* What each process tells the others. */
struct aspx_offer {
    uint32_t version;
    uint32_t role;
    uint32_t local;       /* local task id */
    uint32_t ghost_local; /* user: local id of its main ghost, or NONE */
    char job[ASP_NAME_MAX];
};

/* Gather the offers of all ranks of the real world, within the limit of the
 * knob init.timeout_s (seconds).
 *   world   its layout, size_all and rank_all are set
 *   offers  size_all of them, by world rank; mine is filled in by the caller
 * Returns 0; -1 with errno EPROTO (another version or job), or ETIMEDOUT: then
 * the text names the ranks that are missing, in one process, and is "" in the
 * others, which should leave the printing to that one.
 * Collective over the real world, users and ghosts alike. */
int aspx_join(const struct aspx_world *world, struct aspx_offer *offers,
              struct asp_err *err);

#endif
