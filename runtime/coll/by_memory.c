/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks are on one node: its memory does it all. */
#include "config.h"

#include "carry.h"
#include "pinned.h"

void aspx_coll_operator(const struct aspx_coll_job *job,
                        struct aspx_node_mpi_op *how,
                        struct aspx_node_operator *operator)
{
    *how = (struct aspx_node_mpi_op){
        .mpi = &aspx_coll_behind,
        .op = job->call->fold,
        .type = job->call->recv_type,
    };
    *operator=(struct aspx_node_operator){
        .fold = aspx_node_mpi_fold,
        .arg = how,
        .element = job->grain,
        .is_commutative = job->args->fold != ASP_TUNE_ORDERED,
        .reproducible = aspx_coll_is_pinned(job->args),
    };
}

/* What is sent is in the receive buffer with MPI_IN_PLACE. */
static const void *input(const struct aspx_coll_job *job)
{
    return job->in_place ? job->out : job->in;
}

static int reduce(const struct aspx_coll_job *job,
                  const struct aspx_node_way *way)
{
    struct aspx_node_area *area = job->comm->area;
    size_t count = job->args->bytes / job->grain;
    struct aspx_node_operator operator;
    struct aspx_node_mpi_op how;

    aspx_coll_operator(job, &how, &operator);
    return job->args->op == ASP_COLL_ALLREDUCE
               ? aspx_node_allreduce(area, way, &operator, input(job), job->out,
                                     count)
               : aspx_node_reduce(area, way, &operator, input(job), job->out,
                                  count, job->args->root);
}

int aspx_coll_by_memory(const struct aspx_coll_job *job,
                        const struct aspx_coll_way *way)
{
    const struct aspx_node_way *how = &way->shared;
    struct aspx_node_area *area = job->comm->area;
    struct aspx_node_blocks blocks = {.size = job->args->bytes};
    size_t bytes = job->args->bytes;
    uint32_t root = job->args->root;
    bool in_place = job->in_place;

    switch (job->args->op) {
    case ASP_COLL_BARRIER:
        return aspx_node_barrier(area, how);
    case ASP_COLL_BCAST:
        return aspx_node_bcast(area, how, job->out, bytes, root);
    case ASP_COLL_SCATTER:
        return aspx_node_scatter(area, how, job->in, &blocks,
                                 in_place ? NULL : job->out, bytes, root);
    case ASP_COLL_GATHER:
        return aspx_node_gather(area, how, in_place ? NULL : job->in, bytes,
                                job->out, &blocks, root);
    case ASP_COLL_ALLGATHER:
        return aspx_node_allgather(area, how, in_place ? NULL : job->in, bytes,
                                   job->out, &blocks);
    case ASP_COLL_ALLGATHERV:
        blocks.sizes = job->comm->counts;
        blocks.offsets = job->comm->offsets;
        return aspx_node_allgather(area, how, in_place ? NULL : job->in,
                                   job->comm->counts[job->comm->rank], job->out,
                                   &blocks);
    default:
        return reduce(job, how);
    }
}
