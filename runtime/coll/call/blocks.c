/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the blocks of a call are, and their messages. */
#include "config.h"

#include "blocks.h"

#include "runtime/mpi/handle.h"

#include <string.h>

static struct aspx_coll_blocks blocks_of(const struct aspx_coll_call *call,
                                         const void *data, MPI_Datatype type,
                                         const void *counts, const void *displs)
{
    struct aspx_coll_blocks blocks = {
        .data = data,
        .type = type,
        .size = aspx_handle_basic_size(type),
        .counts = counts,
        .displs = displs,
        .large = call->large,
    };
    MPI_Aint low;

    if ((blocks.size == 0 &&
         aspx_coll_behind.MPI_Type_size_c(type, &blocks.size) != MPI_SUCCESS) ||
        aspx_coll_behind.MPI_Type_get_extent(type, &low, &blocks.extent) !=
            MPI_SUCCESS)
        blocks.size = -1;
    return blocks;
}

struct aspx_coll_blocks aspx_coll_sent(const struct aspx_coll_call *call)
{
    return blocks_of(call, call->send, call->send_type, call->send_counts,
                     call->send_displs);
}

struct aspx_coll_blocks aspx_coll_received(const struct aspx_coll_call *call)
{
    return blocks_of(call, call->recv, call->recv_type, call->counts,
                     call->displs);
}

int aspx_coll_block_send(const struct aspx_coll_blocks *blocks, uint32_t i,
                         int peer, int tag, MPI_Comm comm, MPI_Request *request)
{
    return aspx_coll_behind.MPI_Isend_c(aspx_coll_block_at(blocks, i),
                                        aspx_coll_block_count(blocks, i),
                                        blocks->type, peer, tag, comm, request);
}

int aspx_coll_block_recv(const struct aspx_coll_blocks *blocks, uint32_t i,
                         int peer, int tag, MPI_Comm comm, MPI_Request *request)
{
    return aspx_coll_behind.MPI_Irecv_c(aspx_coll_block_at(blocks, i),
                                        aspx_coll_block_count(blocks, i),
                                        blocks->type, peer, tag, comm, request);
}

static bool is_plain(const struct aspx_coll_blocks *blocks)
{
    return aspx_handle_basic_size(blocks->type) > 0;
}

int aspx_coll_block_copy(const struct aspx_coll_blocks *from,
                         const struct aspx_coll_blocks *to, uint32_t rank,
                         int tag, MPI_Comm comm)
{
    MPI_Count bytes = aspx_coll_block_bytes(from, rank);

    if (bytes != aspx_coll_block_bytes(to, rank))
        return MPI_ERR_TRUNCATE;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (is_plain(from) && is_plain(to)) {
        memcpy(aspx_coll_block_at(to, rank), aspx_coll_block_at(from, rank),
               (size_t) bytes);
        return MPI_SUCCESS;
    }
    return aspx_coll_behind.MPI_Sendrecv_c(
        aspx_coll_block_at(from, rank), aspx_coll_block_count(from, rank),
        from->type, (int) rank, tag, aspx_coll_block_at(to, rank),
        aspx_coll_block_count(to, rank), to->type, (int) rank, tag, comm,
        MPI_STATUS_IGNORE);
}
