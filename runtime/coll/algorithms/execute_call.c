/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of types that MPI has built in are used where they are. Others are
 * packed into memory of the communicator and unpacked from it, as a rank cannot
 * know what types the others have: the same bytes travel either way. */
#include "config.h"

#include "execute_call.h"

#include "alltoallv.h"

#include "runtime/coll/comm/counts.h"
#include "runtime/coll/comm/eligible.h"
#include "runtime/coll/comm/global.h"
#include "runtime/coll/call/typed.h"
#include "common/coll/schedule/forms.h"
#include "runtime/mpi/handle.h"

#include <stdlib.h>
#include <string.h>

void *aspx_coll_scratch(struct aspx_coll_scratch *scratch, size_t bytes)
{
    if (bytes > scratch->bytes || !scratch->memory) {
        free(scratch->memory);
        /* As aligned as any element may want it. */
        scratch->bytes = (bytes / 4096 + 1) * 4096;
        scratch->memory = aligned_alloc(64, scratch->bytes);
        if (!scratch->memory)
            scratch->bytes = 0;
    }
    return scratch->memory;
}

/* One side of a call. */
struct side {
    const void *data; /* the program's */
    uint64_t blocks;  /* how often count elements */
    MPI_Count count;
    MPI_Datatype type;
    struct aspx_coll_scratch *scratch;
    bool reads, writes;
    /* Its blocks lie as the call's displs say; reads: only this rank's. */
    const struct aspx_coll_comm *displaced;
    const struct aspx_coll_call *call;
    bool packed; /* although its type has no gaps */
};

/* Is it contiguous as it is? */
static bool is_plain(const struct side *side)
{
    return aspx_handle_basic_size(side->type) > 0 && !side->packed;
}

static bool is_root(const struct aspx_coll_comm *comm,
                    const struct aspx_coll_call *call)
{
    return (uint32_t) call->root == comm->rank;
}

/* The side that is sent from. */
static struct side sent(struct aspx_coll_comm *comm,
                        const struct aspx_coll_call *call)
{
    struct side side = {
        .data = call->send,
        .blocks = 1,
        .count = call->nsend,
        .type = call->send_type,
        .scratch = &comm->in,
        .reads = call->send != MPI_IN_PLACE,
    };
    const struct asp_coll_form *form = &asp_coll_forms[call->op];

    side.reads = side.reads && asp_coll_gives(form, is_root(comm, call));
    if (form->in == ASP_COLL_ALL_BLOCKS && form->counts == ASP_COLL_EQUAL)
        side.blocks = comm->size;
    else if (form->in == ASP_COLL_ALL_BLOCKS)
        side.count = 0; /* reduced, of a type that is built in: not packed */
    return side;
}

/* The side that is received into. With MPI_IN_PLACE what is sent is there. */
static struct side received(struct aspx_coll_comm *comm,
                            const struct aspx_coll_call *call)
{
    struct side side = {
        .data = call->recv,
        .blocks = 1,
        .count = call->nrecv,
        .type = call->recv_type,
        .scratch = &comm->out,
        .reads = call->send == MPI_IN_PLACE,
        .writes = call->recv != MPI_IN_PLACE,
    };
    const struct asp_coll_form *form = &asp_coll_forms[call->op];

    if (!form->in) { /* bcast: what is sent is here, too */
        side.reads = form->out && is_root(comm, call);
        side.writes = form->out && !side.reads;
        return side;
    }
    side.writes = side.writes && asp_coll_gets(form, is_root(comm, call));
    side.reads = side.reads && side.writes;
    if (form->counts == ASP_COLL_EQUAL) {
        /* MPI_IN_PLACE means the whole input, also of reduce_scatter_block. */
        if (form->out == ASP_COLL_ALL_BLOCKS ||
            (form->in == ASP_COLL_ALL_BLOCKS && side.reads))
            side.blocks = comm->size;
    } else if (form->out == ASP_COLL_ALL_BLOCKS) {
        side.displaced = comm;
        side.call = call;
        side.packed = aspx_coll_take_offsets(comm, call, !is_plain(&side));
    }
    return side;
}

/* Where a block of displaced ones is in the program's buffer. */
static char *place_of(const struct side *side, uint32_t rank)
{
    MPI_Aint low, extent;

    aspx_coll_behind.MPI_Type_get_extent(side->type, &low, &extent);
    return (char *) (uintptr_t) side->data +
           aspx_coll_displ(side->call, rank) * extent;
}

/* This rank's block of displaced ones. */
static int take_own(const struct side *side, MPI_Comm comm, char *bytes)
{
    const struct aspx_coll_comm *of = side->displaced;

    return aspx_coll_pack(place_of(side, of->rank),
                          aspx_coll_count(side->call, of->rank), side->type,
                          bytes + of->offsets[of->rank],
                          (MPI_Count) of->counts[of->rank], comm);
}

static int put_apart(const struct side *side, MPI_Comm comm, const char *bytes)
{
    const struct aspx_coll_comm *of = side->displaced;
    int rc = MPI_SUCCESS;

    for (uint32_t r = 0; r < of->size && rc == MPI_SUCCESS; r++)
        rc = aspx_coll_unpack(bytes + of->offsets[r], (MPI_Count) of->counts[r],
                              place_of(side, r), aspx_coll_count(side->call, r),
                              side->type, comm);
    return rc;
}

static size_t bytes_apart(const struct aspx_coll_comm *comm)
{
    return comm->offsets[comm->size - 1] + comm->counts[comm->size - 1];
}

/* The bytes of a side, contiguous. Returns an error code. */
static int take(const struct side *side, MPI_Comm comm, void **bytes_p)
{
    MPI_Count count = side->count * (MPI_Count) side->blocks, size = 0;

    *bytes_p = NULL;
    if (!side->reads && !side->writes)
        return MPI_SUCCESS;
    if (is_plain(side)) {
        *bytes_p = (void *) (uintptr_t) side->data;
        return MPI_SUCCESS;
    }
    if (side->displaced) {
        *bytes_p = aspx_coll_scratch(side->scratch,
                                     bytes_apart(side->displaced));
        if (!*bytes_p)
            return MPI_ERR_NO_MEM;
        return side->reads ? take_own(side, comm, *bytes_p) : MPI_SUCCESS;
    }
    aspx_coll_behind.MPI_Type_size_c(side->type, &size);
    *bytes_p = aspx_coll_scratch(side->scratch, (size_t) (size * count));
    if (!*bytes_p)
        return MPI_ERR_NO_MEM;
    return side->reads ? aspx_coll_pack(side->data, count, side->type, *bytes_p,
                                        size * count, comm)
                       : MPI_SUCCESS;
}

static int put_back(const struct side *side, MPI_Comm comm, const void *bytes)
{
    MPI_Count count = side->count * (MPI_Count) side->blocks, size = 0;

    if (!side->writes || is_plain(side))
        return MPI_SUCCESS;
    if (side->displaced)
        return put_apart(side, comm, bytes);
    aspx_coll_behind.MPI_Type_size_c(side->type, &size);
    return aspx_coll_unpack(bytes, size * count,
                            (void *) (uintptr_t) side->data, count, side->type,
                            comm);
}

static int tell(MPI_Comm comm, int rc)
{
    if (rc != MPI_SUCCESS)
        aspx_coll_behind.MPI_Comm_call_errhandler(comm, rc);
    return rc;
}

int aspx_coll_execute_call(struct aspx_coll_comm *comm,
                           const struct aspx_coll_call *call,
                           const struct asp_tune_args *args,
                           const struct aspx_coll_config *config,
                           aspx_coll_move_f *move)
{
    struct side from = sent(comm, call), to = received(comm, call);
    struct aspx_coll_job job = {
        .comm = comm,
        .call = call,
        .args = args,
        .element_size = aspx_coll_element_size(call, args),
        .tag = aspx_coll_tag(comm),
        .in_place = call->send == MPI_IN_PLACE || call->recv == MPI_IN_PLACE,
    };
    void *in;
    int rc;

    if (asp_coll_forms[call->op].counts == ASP_COLL_COUNTS_OWN)
        return tell(call->comm, aspx_coll_move_blocks(&job, config, move));
    rc = take(&from, comm->own, &in);
    if (rc == MPI_SUCCESS)
        rc = take(&to, comm->own, &job.out);
    if (rc == MPI_SUCCESS) {
        job.in = in;
        rc = move(&job, config);
    }
    if (rc == MPI_SUCCESS)
        rc = put_back(&to, comm->own, job.out);
    return job.reported ? rc : tell(call->comm, rc);
}
