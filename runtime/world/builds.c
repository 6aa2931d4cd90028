/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of LD_LIBRARY_PATH may be there on some nodes only, so that their
 * MPI is another than that of the rest. Most often MPI_Init does not return
 * then (casper/watchdog); where it does, what follows may go wrong in any way,
 * and the line is what tells why. */
#include "config.h"

#include "builds.h"

#include "runtime/base/log.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/real.h"

#include "common/base/hash.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* In a communicator of ours, when nothing else is under way in it. */
enum { TAG = 0 };

/* Which build a rank has, and on which node. */
struct says {
    char text[400];
};

static struct says say(const struct aspx_world *world)
{
    const struct asp_layout *layout = world->layout;
    const char *node = layout->nodes ? layout->nodes[layout->node].name : "";
    char path[PATH_MAX] = "?";
    struct says own;

    (void) aspx_real_path(path);
    snprintf(own.text, sizeof(own.text), "%.200s (%.30s...) in rank %d%s%.64s",
             path, aspx_mpi_build(), world->rank_all, *node ? " on " : "",
             node);
    return own;
}

/* Is it the same in all? A hash and its opposite, so that MPI_MAX of both tells
 * whether all are alike. */
static bool are_alike(MPI_Comm all, uint64_t hash)
{
    uint64_t own[2] = {hash, ~hash}, most[2];

    aspx_real.MPI_Allreduce(own, most, 2, MPI_UINT64_T, MPI_MAX, all);
    return most[0] == ~most[1];
}

/* The first rank whose hash is not that of rank 0. */
static int find_other(const struct aspx_world *world, uint64_t hash)
{
    uint64_t first = hash;
    int own = world->rank_all, other;

    aspx_real.MPI_Bcast(&first, 1, MPI_UINT64_T, 0, world->all);
    if (hash == first)
        own = INT_MAX;
    aspx_real.MPI_Allreduce(&own, &other, 1, MPI_INT, MPI_MIN, world->all);
    return other;
}

void aspx_builds_compare(const struct aspx_world *world)
{
    const char *build = aspx_mpi_build();
    uint64_t hash = asp_hash(ASP_HASH_START, build, strlen(build));
    struct says own, theirs;
    int other;

    if (are_alike(world->all, hash))
        return;
    own = say(world);
    other = find_other(world, hash);
    if (world->rank_all == other)
        aspx_real.MPI_Send(&own, sizeof(own), MPI_BYTE, 0, TAG, world->all);
    if (world->rank_all != 0)
        return;
    aspx_real.MPI_Recv(&theirs, sizeof(theirs), MPI_BYTE, other, TAG,
                       world->all, MPI_STATUS_IGNORE);
    aspx_log(ASPX_LOG_WARNING,
             "the ranks have two builds of MPI, %s, and %.400s: does "
             "LD_LIBRARY_PATH lead to the same on all nodes?",
             own.text, theirs.text);
}
