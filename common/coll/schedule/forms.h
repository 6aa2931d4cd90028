/* SPDX-License-Identifier: BSD-3-Clause */
/* What each collective operation gives and gets: a row for each, which builders
 * and runtime ask instead of naming operations. In the header, so that a row
 * that is known when code is compiled costs nothing.
 *
 * A rank has what it gives in IN and what it gets in OUT, where they are
 * significant; the message of a broadcast is in OUT of all. So many bytes are a
 * block or vector: the same for all (problem.bytes), or as counts say. With
 * MPI_IN_PLACE what would be in IN is in OUT: the vector; the own block at its
 * place; all that is sent; of reduce-scatters the whole input, the result being
 * at its start and the rest as it was. The root of a scatter has its block in
 * IN and leaves OUT alone. At rank 0 an exclusive prefix leaves OUT alone.
 *
 * The verifier's expectations (tests/coll/verify/expect.h) do not ask the
 * table: they check it. Threads: constant.  Source: MPI 4.0, chapter 6. */
#ifndef ASPEN_COMMON_COLL_SCHEDULE_FORMS_H
#define ASPEN_COMMON_COLL_SCHEDULE_FORMS_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* MPI_Alltoallw is none of them: its blocks are of as many types as ranks.
 * Columns: struct asp_coll_form. */
/* clang-format off */
#define ASP_COLL_FORMS(F)                                                                                                           \
    /* operation            name                    root        in          out         counts      reduces  prefix     in place */ \
    F(BARRIER,              "barrier",              NO_ROOT,    NO_BLOCK,   NO_BLOCK,   EQUAL,      false,   NO_PREFIX, NEVER)      \
    F(BCAST,                "bcast",                ROOT_SENDS, NO_BLOCK,   ONE_BLOCK,  EQUAL,      false,   NO_PREFIX, NEVER)      \
    F(REDUCE,               "reduce",               ROOT_GETS,  ONE_BLOCK,  ONE_BLOCK,  EQUAL,      true,    NO_PREFIX, ROOT)       \
    F(SCATTER,              "scatter",              ROOT_SENDS, ALL_BLOCKS, ONE_BLOCK,  EQUAL,      false,   NO_PREFIX, ROOT)       \
    F(GATHER,               "gather",               ROOT_GETS,  ONE_BLOCK,  ALL_BLOCKS, EQUAL,      false,   NO_PREFIX, ROOT)       \
    F(ALLGATHER,            "allgather",            NO_ROOT,    ONE_BLOCK,  ALL_BLOCKS, EQUAL,      false,   NO_PREFIX, ALL)        \
    F(ALLTOALL,             "alltoall",             NO_ROOT,    ALL_BLOCKS, ALL_BLOCKS, EQUAL,      false,   NO_PREFIX, ALL)        \
    F(ALLREDUCE,            "allreduce",            NO_ROOT,    ONE_BLOCK,  ONE_BLOCK,  EQUAL,      true,    NO_PREFIX, ALL)        \
    F(REDUCE_SCATTER_BLOCK, "reduce_scatter_block", NO_ROOT,    ALL_BLOCKS, ONE_BLOCK,  EQUAL,      true,    NO_PREFIX, ALL)        \
    F(REDUCE_SCATTER,       "reduce_scatter",       NO_ROOT,    ALL_BLOCKS, ONE_BLOCK,  COUNTS_ALL, true,    NO_PREFIX, ALL)        \
    F(SCAN,                 "scan",                 NO_ROOT,    ONE_BLOCK,  ONE_BLOCK,  EQUAL,      true,    INCLUSIVE, ALL)        \
    F(EXSCAN,               "exscan",               NO_ROOT,    ONE_BLOCK,  ONE_BLOCK,  EQUAL,      true,    EXCLUSIVE, ALL)        \
    F(SCATTERV,             "scatterv",             ROOT_SENDS, ALL_BLOCKS, ONE_BLOCK,  COUNTS_OWN, false,   NO_PREFIX, ROOT)       \
    F(GATHERV,              "gatherv",              ROOT_GETS,  ONE_BLOCK,  ALL_BLOCKS, COUNTS_OWN, false,   NO_PREFIX, ROOT)       \
    F(ALLGATHERV,           "allgatherv",           NO_ROOT,    ONE_BLOCK,  ALL_BLOCKS, COUNTS_ALL, false,   NO_PREFIX, ALL)        \
    F(ALLTOALLV,            "alltoallv",            NO_ROOT,    ALL_BLOCKS, ALL_BLOCKS, COUNTS_OWN, false,   NO_PREFIX, ALL)

#define ASP_COLL_ID(ID, ...) ASP_COLL_##ID,
#define ASP_COLL_FORM(ID, NAME, ROOT, IN, OUT, COUNTS, REDUCES, PREFIX, PLACE) \
    [ASP_COLL_##ID] = {ASP_COLL_##ROOT, ASP_COLL_##IN, ASP_COLL_##OUT,         \
                       ASP_COLL_##COUNTS, REDUCES, ASP_COLL_##PREFIX,          \
                       ASP_COLL_##PLACE##_IN_PLACE},
/* clang-format on */

enum asp_coll_op { ASP_COLL_FORMS(ASP_COLL_ID) ASP_COLL_OPS };

enum asp_coll_share {
    ASP_COLL_NO_BLOCK,
    ASP_COLL_ONE_BLOCK,
    ASP_COLL_ALL_BLOCKS, /* one for each rank */
};

struct asp_coll_form {
    enum { ASP_COLL_NO_ROOT, ASP_COLL_ROOT_SENDS, ASP_COLL_ROOT_GETS } root;
    enum asp_coll_share in, out; /* where the side is significant */
    /* Sizes of blocks: equal, given to every rank, or each rank has its own. */
    enum { ASP_COLL_EQUAL, ASP_COLL_COUNTS_ALL, ASP_COLL_COUNTS_OWN } counts;
    bool reduces;
    /* Of the ranks up to the own: with it, or without. */
    enum { ASP_COLL_NO_PREFIX, ASP_COLL_INCLUSIVE, ASP_COLL_EXCLUSIVE } prefix;
    enum {
        ASP_COLL_NEVER_IN_PLACE,
        ASP_COLL_ROOT_IN_PLACE,
        ASP_COLL_ALL_IN_PLACE,
    } in_place; /* who may say MPI_IN_PLACE */
};

static const struct asp_coll_form asp_coll_forms[ASP_COLL_OPS] = {
    ASP_COLL_FORMS(ASP_COLL_FORM)};

const char *asp_coll_op_name(enum asp_coll_op op); /* "bcast" */

/* Returns 0, or -1 with errno EINVAL and the names there are in err. */
int asp_coll_op_parse(const char *name, enum asp_coll_op *op_p,
                      struct asp_err *err);

/* Is IN significant on a rank? */
static inline bool asp_coll_gives(const struct asp_coll_form *form,
                                  bool is_root)
{
    return form->in && (form->root != ASP_COLL_ROOT_SENDS || is_root);
}

/* Is OUT? That of a broadcast's root, too. */
static inline bool asp_coll_gets(const struct asp_coll_form *form, bool is_root)
{
    return form->out && (form->root != ASP_COLL_ROOT_GETS || is_root);
}

/* Blocks that a rank brings, wherever they are. */
static inline enum asp_coll_share asp_coll_brings(
    const struct asp_coll_form *form, bool is_root)
{
    if (form->root == ASP_COLL_ROOT_SENDS && !is_root)
        return ASP_COLL_NO_BLOCK;
    return form->in || form->root == ASP_COLL_NO_ROOT ? form->in : form->out;
}

/* Is something written to OUT? */
static inline bool asp_coll_takes(const struct asp_coll_form *form,
                                  bool is_root)
{
    return asp_coll_gets(form, is_root) && (form->in || !is_root);
}

static inline uint64_t asp_coll_count_blocks(enum asp_coll_share share,
                                             uint64_t ranks)
{
    return share == ASP_COLL_ALL_BLOCKS ? ranks : share;
}

/* Of the larger side. */
static inline uint64_t asp_coll_most_blocks(const struct asp_coll_form *form,
                                            uint64_t ranks)
{
    return asp_coll_count_blocks(form->in > form->out ? form->in : form->out,
                                 ranks);
}

static inline bool asp_coll_has_counts(enum asp_coll_op op)
{
    return asp_coll_forms[op].counts != ASP_COLL_EQUAL;
}

/* Does every rank send to every other? */
static inline bool asp_coll_exchanges(const struct asp_coll_form *form)
{
    return form->in == ASP_COLL_ALL_BLOCKS && form->out == ASP_COLL_ALL_BLOCKS;
}

/* Are the blocks of all joined, each as it is? */
static inline bool asp_coll_joins(const struct asp_coll_form *form)
{
    return form->in == ASP_COLL_ONE_BLOCK && form->out == ASP_COLL_ALL_BLOCKS;
}

#endif
