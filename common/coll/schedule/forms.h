/* SPDX-License-Identifier: BSD-3-Clause */
/* What each collective operation gives and gets: a row for each, which builders
 * and runtime ask instead of naming operations. Buffers are those of index.h.
 *
 * The verifier's expectations (tests/coll/verify/expect.h) do not ask it: they
 * check it. Threads: constant.  Source: MPI 4.0, chapter 6. */
#ifndef ASPEN_COMMON_COLL_FORMS_H
#define ASPEN_COMMON_COLL_FORMS_H

#include <stdbool.h>

/* MPI_Alltoallw is none of them: its blocks are of as many types as ranks. */
enum asp_coll_op {
    ASP_COLL_BARRIER,
    ASP_COLL_BCAST,
    ASP_COLL_REDUCE,
    ASP_COLL_SCATTER,
    ASP_COLL_GATHER,
    ASP_COLL_ALLGATHER,
    ASP_COLL_ALLTOALL,
    ASP_COLL_ALLREDUCE,
    ASP_COLL_REDUCE_SCATTER_BLOCK,
    ASP_COLL_REDUCE_SCATTER,
    ASP_COLL_SCAN,
    ASP_COLL_EXSCAN,
    ASP_COLL_SCATTERV,
    ASP_COLL_GATHERV,
    ASP_COLL_ALLGATHERV,
    ASP_COLL_ALLTOALLV,
    ASP_COLL_OPS,
};

enum asp_coll_share {
    ASP_COLL_NO_BLOCK,
    ASP_COLL_ONE_BLOCK,
    ASP_COLL_ALL_BLOCKS, /* one for each rank */
};

struct asp_coll_form {
    enum { ASP_COLL_NO_ROOT, ASP_COLL_ROOT_SENDS, ASP_COLL_ROOT_GETS } root;
    /* Where the side is significant. What bcast sends is in OUT. */
    enum asp_coll_share in, out;
    /* Sizes of blocks: equal, given to every rank, or each rank has its own. */
    enum { ASP_COLL_EQUAL, ASP_COLL_COUNTS_ALL, ASP_COLL_COUNTS_OWN } counts;
    bool reduces;
    bool prefix; /* of the ranks up to the own */
    enum {
        ASP_COLL_NEVER_IN_PLACE,
        ASP_COLL_ROOT_IN_PLACE,
        ASP_COLL_ALL_IN_PLACE,
    } in_place; /* who may say MPI_IN_PLACE */
};

extern const struct asp_coll_form asp_coll_forms[ASP_COLL_OPS];

/* Is IN significant on a rank? */
static inline bool asp_coll_gives(const struct asp_coll_form *form,
                                  bool is_root)
{
    return form->in && (form->root != ASP_COLL_ROOT_SENDS || is_root);
}

/* Is OUT, as what is received into? */
static inline bool asp_coll_gets(const struct asp_coll_form *form, bool is_root)
{
    return form->out && (form->root != ASP_COLL_ROOT_GETS || is_root);
}

#endif
