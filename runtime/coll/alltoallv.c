/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI would refuse of MPI_Alltoallv, and its data in memory that ranks of
 * a node share. */
#include "config.h"

#include "alltoallv.h"

#include "blocks.h"
#include "typed.h"

#include "runtime/mpi/handle.h"

#include <stddef.h>

/* ---- what MPI would report -------------------------------------------------- */

/* NULL is MPI_BOTTOM, which MPICH takes for none where neither the type nor the
 * displacement has an address. */
static bool is_missing(const struct aspx_coll_blocks *blocks, uint32_t r)
{
    MPI_Aint low = 0, extent;

    if (blocks->data || aspx_coll_block_count(blocks, r) == 0 ||
        aspx_coll_block_displ(blocks, r) != 0 || blocks->size == 0)
        return false;
    if (aspx_handle_basic_size(blocks->type) == 0)
        aspx_coll_behind.MPI_Type_get_true_extent(blocks->type, &low, &extent);
    return low == 0;
}

/* The bytes of all blocks; false: MPI will not have this. */
static bool add_up(const struct aspx_coll_comm *comm,
                   const struct aspx_coll_blocks *blocks, uint64_t *bytes_p)
{
    MPI_Count elements = 0;

    for (uint32_t r = 0; r < comm->size; r++) {
        MPI_Count count = aspx_coll_block_count(blocks, r);

        if (count < 0 || is_missing(blocks, r))
            return false;
        elements += count;
    }
    *bytes_p = (uint64_t) elements * (uint64_t) blocks->size;
    return true;
}

static bool has_arguments(const struct aspx_coll_call *call)
{
    return call->send != MPI_IN_PLACE && call->recv != MPI_IN_PLACE &&
           call->send_counts && call->send_displs && call->counts &&
           call->displs &&
           aspx_handle_is(call->send_type, ASPX_HANDLE_DATATYPE) &&
           aspx_handle_is(call->recv_type, ASPX_HANDLE_DATATYPE);
}

/* As MPICH sees it: one array of counts for both, not equal ones. */
static bool is_alias(const struct aspx_coll_call *call)
{
    return call->send && call->send == call->recv &&
           call->send_type == call->recv_type &&
           call->send_counts == call->counts;
}

bool aspx_coll_alltoallv_is_right(const struct aspx_coll_comm *comm,
                                  const struct aspx_coll_call *call,
                                  struct asp_tune_args *args_p)
{
    struct aspx_coll_blocks from, to;
    uint64_t sent, received;

    if (!has_arguments(call) || is_alias(call))
        return false;
    from = aspx_coll_sent(call);
    to = aspx_coll_received(call);
    if (!add_up(comm, &from, &sent) || !add_up(comm, &to, &received))
        return false;
    args_p->bytes = sent > received ? sent : received;
    return true;
}

/* ---- in memory -------------------------------------------------------------- */

/* A side as the node's memory takes it. */
struct dense {
    char *data;
    struct aspx_node_blocks blocks;
    bool packed; /* one block after the other, in the communicator's memory */
};

/* Where they lie, from the first byte of them all: a block may lie before the
 * buffer. */
static void find_there(const struct aspx_coll_blocks *blocks, uint32_t n,
                       size_t *offsets, struct dense *dense)
{
    uintptr_t lowest = UINTPTR_MAX;

    for (uint32_t r = 0; r < n; r++) {
        uintptr_t at = (uintptr_t) aspx_coll_block_at(blocks, r);

        if (dense->blocks.sizes[r] > 0 && at < lowest)
            lowest = at;
    }
    lowest = lowest == UINTPTR_MAX ? 0 : lowest;
    for (uint32_t r = 0; r < n; r++)
        offsets[r] = dense->blocks.sizes[r] > 0
                         ? (uintptr_t) aspx_coll_block_at(blocks, r) - lowest
                         : 0;
    dense->data = (char *) lowest;
}

/* Returns an error code.
 *   room  for two numbers of each rank, and for the bytes if they are packed */
static int lay_out(const struct aspx_coll_blocks *blocks, uint32_t n,
                   size_t *room, struct aspx_coll_room *packed,
                   struct dense *dense)
{
    size_t *sizes = room, *offsets = room + n, bytes = 0;

    *dense = (struct dense){
        .blocks = {.sizes = sizes, .offsets = offsets},
        .packed = aspx_handle_basic_size(blocks->type) == 0,
    };
    for (uint32_t r = 0; r < n; r++) {
        sizes[r] = (size_t) aspx_coll_block_bytes(blocks, r);
        offsets[r] = bytes;
        bytes += sizes[r];
    }
    if (!dense->packed) {
        find_there(blocks, n, offsets, dense);
        return MPI_SUCCESS;
    }
    dense->data = aspx_coll_room(packed, bytes);
    return dense->data ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int pack(const struct aspx_coll_blocks *blocks, uint32_t n,
                const struct dense *dense, MPI_Comm comm)
{
    int rc = MPI_SUCCESS;

    for (uint32_t r = 0; r < n && rc == MPI_SUCCESS && dense->packed; r++)
        if (dense->blocks.sizes[r] > 0)
            rc = aspx_coll_pack(aspx_coll_block_at(blocks, r),
                                aspx_coll_block_count(blocks, r), blocks->type,
                                dense->data + dense->blocks.offsets[r],
                                (MPI_Count) dense->blocks.sizes[r], comm);
    return rc;
}

static int unpack(const struct aspx_coll_blocks *blocks, uint32_t n,
                  const struct dense *dense, MPI_Comm comm)
{
    int rc = MPI_SUCCESS;

    for (uint32_t r = 0; r < n && rc == MPI_SUCCESS && dense->packed; r++)
        if (dense->blocks.sizes[r] > 0)
            rc = aspx_coll_unpack(dense->data + dense->blocks.offsets[r],
                                  (MPI_Count) dense->blocks.sizes[r],
                                  aspx_coll_block_at(blocks, r),
                                  aspx_coll_block_count(blocks, r),
                                  blocks->type, comm);
    return rc;
}

int aspx_coll_alltoallv_in_memory(const struct aspx_coll_job *job,
                                  const struct aspx_node_way *how)
{
    struct aspx_coll_comm *comm = job->comm;
    uint32_t n = comm->size;
    size_t *numbers = aspx_coll_room(&comm->levels, 4 * n * sizeof(*numbers));
    struct dense in, out;
    int rc = numbers ? MPI_SUCCESS : MPI_ERR_NO_MEM;

    if (rc == MPI_SUCCESS)
        rc = lay_out(job->sent, n, numbers, &comm->in, &in);
    if (rc == MPI_SUCCESS)
        rc = lay_out(job->received, n, numbers + 2 * n, &comm->out, &out);
    if (rc == MPI_SUCCESS)
        rc = pack(job->sent, n, &in, comm->own);
    if (rc == MPI_SUCCESS)
        rc = aspx_node_alltoall(comm->area, how, in.data, &in.blocks, out.data,
                                &out.blocks);
    return rc == MPI_SUCCESS ? unpack(job->received, n, &out, comm->own) : rc;
}

int aspx_coll_move_blocks(struct aspx_coll_job *job,
                          const struct aspx_coll_way *way,
                          aspx_coll_move_f *move)
{
    struct aspx_coll_blocks from = aspx_coll_sent(job->call);
    struct aspx_coll_blocks to = aspx_coll_received(job->call);

    job->sent = &from;
    job->received = &to;
    return move(job, way);
}
