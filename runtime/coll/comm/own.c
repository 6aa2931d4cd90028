/* SPDX-License-Identifier: BSD-3-Clause */
/* Made of a group, in a communicator of all ranks that only this file uses: an
 * error then is that one's, whose handler is ours. The program's communicator
 * would call the program's handler for it; and were that put aside meanwhile,
 * another thread's error would miss it. A duplicate would also have the
 * program's attributes, whose copy functions it would notice. */
#include "config.h"

#include "own.h"

#include "runtime/coll/call/call.h"

#include <stdatomic.h>
#include <stdint.h>

static MPI_Comm parent = MPI_COMM_NULL;
static int tags = 32768; /* 0, 1, ...: the fewest that MPI may have (3.2.3) */

/* Not by MPI_Comm_dup(): MPICH (4.0 at least) crashes in
 * MPI_Comm_create_group() of a communicator that does not have its group at
 * hand. */
void aspx_coll_own_start(void)
{
    int *most, found = 0;
    MPI_Group world;

    aspx_coll_behind.MPI_Comm_group(MPI_COMM_WORLD, &world);
    aspx_coll_behind.MPI_Comm_create(MPI_COMM_WORLD, world, &parent);
    aspx_coll_behind.MPI_Group_free(&world);
    aspx_coll_behind.MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    aspx_coll_behind.MPI_Comm_get_attr(parent, MPI_TAG_UB, &most, &found);
    if (found && *most > tags)
        tags = *most;
}

void aspx_coll_own_stop(void)
{
    if (parent != MPI_COMM_NULL)
        aspx_coll_behind.MPI_Comm_free(&parent);
}

/* Threads may make communicators at the same time that have ranks in common;
 * the tag tells them apart: it is of the first rank, and of how many that one
 * has made. */
static int agree_on_tag(const struct aspx_coll_comm *comm)
{
    static _Atomic uint32_t made;
    int ranks = 1, rank = 0, tag = 0;

    aspx_coll_behind.MPI_Comm_size(parent, &ranks);
    aspx_coll_behind.MPI_Comm_rank(parent, &rank);
    if (comm->rank == 0)
        tag = (int) (((uint64_t) rank +
                      (uint64_t) ranks * atomic_fetch_add(&made, 1)) %
                     (uint64_t) tags);
    aspx_coll_behind.MPI_Bcast(&tag, 1, MPI_INT, 0, comm->comm);
    return tag;
}

bool aspx_coll_own_make(struct aspx_coll_comm *comm)
{
    int tag = agree_on_tag(comm), rc;
    MPI_Group group;

    aspx_coll_behind.MPI_Comm_group(comm->comm, &group);
    rc = aspx_coll_behind.MPI_Comm_create_group(parent, group, tag, &comm->own);
    aspx_coll_behind.MPI_Group_free(&group);
    if (rc != MPI_SUCCESS)
        comm->own = MPI_COMM_NULL;
    else
        aspx_coll_behind.MPI_Comm_set_errhandler(comm->own, MPI_ERRORS_RETURN);
    return rc == MPI_SUCCESS;
}
