/* SPDX-License-Identifier: BSD-3-Clause */
/* Read from MPICH's documentation of its control variables, whose values count
 * from 0 in the order of that text (src/mpi/coll/cvars.txt), and of what its
 * algorithms can be applied to (src/mpi/coll/coll_algorithms.txt), tags v4.0 to
 * v4.0.3, v4.1 to v4.1.3 and v4.2.0 to v4.2.3.
 *
 * Not here, because they would not be what they are called, or not right:
 *   smp       asks for itself inside of a node, where it cannot be applied, and
 *             falls back; device=on does what it is meant to do
 *   sched_*   of which there is a blocking twin with the same messages
 *   chunk of ibcast, ialltoall tsp_ring and tsp_brucks, iallgather tsp_recexch,
 *             allgather recexch, alltoall k_brucks   wrong where types of ranks
 *             differ; with bytes alone, as they would get now, not tried
 *   k = 1     aborts when the environment asks for k-nomial trees; nb-ring is
 *             the chain */
#include "config.h"

#include "native_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define LACKS ASPX_NATIVE_LACKS
#define ALL(value) {value, value, value}
#define BLOCKING .schedule = ALL(0)

/* Values of "nb". */
#define NB_BARRIER   .algorithm = ALL(1)
#define NB_BCAST     .algorithm = ALL(2)
#define NB_REDUCE    .algorithm = ALL(2)
#define NB_ALLREDUCE .algorithm = ALL(1)
#define NB_GATHER    .algorithm = ALL(2)
#define NB_SCATTER   .algorithm = ALL(2)
#define NB_ALLGATHER .algorithm = {2, 3, 3}
#define NB_ALLTOALL  .algorithm = {2, 3, 3}
#define NB_BLOCK     .algorithm = ALL(5)
#define NB_SCAN      .algorithm = ALL(1)

#define POWER        ASPX_NATIVE_POWER
#define FULL         ASPX_NATIVE_FULL
#define IN_PLACE     ASPX_NATIVE_IN_PLACE
#define NOT_IN_PLACE ASPX_NATIVE_NOT_IN_PLACE
#define COMMUTATIVE  ASPX_NATIVE_COMMUTATIVE
#define BUILTIN      ASPX_NATIVE_BUILTIN
#define EXACT        ASPX_NATIVE_EXACT
#define TREE         ASPX_NATIVE_TREE
#define CHUNKED      ASPX_NATIVE_CHUNKED
#define DEVICE       ASPX_NATIVE_DEVICE
#define ROOT_0       ASPX_NATIVE_ROOT_0

/* As the device divides it: binomial trees inside of nodes. */
#define DIVIDED_TREE     .divided = "levels,tree=knomial,k=2,across=tree,inner=2"
#define DIVIDED_EXCHANGE .divided = "levels,k=2,across=exchange,inner=2"

#define ROW(op, name, ...) {ASP_COLL_##op, name, __VA_ARGS__}

const struct aspx_native_row aspx_native_rows[] = {
    ROW(BARRIER, "dissemination", .algorithm = {3, LACKS, LACKS}, BLOCKING,
        .needs = DEVICE, .like = "dissemination,k=2", DIVIDED_EXCHANGE),
    ROW(BARRIER, "k-dissemination", .algorithm = {LACKS, 3, 3}, BLOCKING,
        .needs = DEVICE, .radix = {"BARRIER_DISSEM_KVAL"},
        .like = "dissemination,k=%u"),
    ROW(BARRIER, "recexch", .algorithm = {LACKS, 4, 4}, BLOCKING,
        .radix = {"BARRIER_RECEXCH_KVAL"},
        .also = {{"BARRIER_RECEXCH_SINGLE_PHASE_RECV", 0}},
        .like = "dissemination,k=%u"),
    ROW(BARRIER, "nb-recursive-doubling", NB_BARRIER, .schedule = ALL(2),
        .like = "dissemination,k=2"),
    ROW(BARRIER, "nb-recexch", NB_BARRIER, .schedule = {LACKS, 3, 3},
        .radix = {"IBARRIER_RECEXCH_KVAL"}, .like = "dissemination,k=%u"),
    ROW(BARRIER, "nb-k-dissemination", NB_BARRIER, .schedule = {LACKS, 4, 4},
        .radix = {"IBARRIER_DISSEM_KVAL"}, .like = "dissemination,k=%u"),

    ROW(BCAST, "binomial", .algorithm = ALL(1), BLOCKING, .needs = DEVICE,
        .like = "tree=knomial,k=2", DIVIDED_TREE),
    ROW(BCAST, "scatter-recursive-doubling-allgather", .algorithm = ALL(4),
        BLOCKING, .needs = DEVICE, .like = "scatter-exchange,k=2",
        DIVIDED_EXCHANGE),
    ROW(BCAST, "scatter-ring-allgather", .algorithm = ALL(5), BLOCKING,
        .needs = DEVICE, .like = "scatter-ring"),
    ROW(BCAST, "tree", .algorithm = {LACKS, 7, 7}, BLOCKING, .needs = TREE,
        .radix = {"BCAST_TREE_KVAL"}, .also = {{"BCAST_IS_NON_BLOCKING", 1}},
        .kary = "BCAST_TREE_TYPE", .like = "tree=kary,k=%u"),
    ROW(BCAST, "pipelined-tree", .algorithm = {LACKS, 6, 6}, BLOCKING,
        .needs = TREE | CHUNKED, .radix = {"BCAST_TREE_KVAL"},
        .chunk = "BCAST_TREE_PIPELINE_CHUNK_SIZE",
        .also = {{"BCAST_IS_NON_BLOCKING", 1}, {"BCAST_RECV_PRE_POST", 0}},
        .kary = "BCAST_TREE_TYPE", .like = "tree=kary,k=%u"),
    ROW(BCAST, "nb-tree", NB_BCAST, .schedule = ALL(6), .needs = TREE | DEVICE,
        .radix = {"IBCAST_TREE_KVAL"},
        .also = {{"IBCAST_TREE_PIPELINE_CHUNK_SIZE", 0}},
        .kary = "IBCAST_TREE_TYPE",
        .like = "tree=kary,k=%u"),
    ROW(BCAST, "nb-scatterv-recexch-allgatherv", NB_BCAST, .schedule = ALL(7),
        .needs = ROOT_0,
        .radix = {"IBCAST_SCATTERV_KVAL", "IBCAST_ALLGATHERV_RECEXCH_KVAL"},
        .like = "scatter-exchange,k=%u"),
    ROW(BCAST, "nb-scatterv-ring-allgatherv", NB_BCAST,
        .schedule = {LACKS, 8, 8}, .needs = ROOT_0,
        .radix = {"IBCAST_SCATTERV_KVAL"},
        .like = "scatter-ring"),
    ROW(BCAST, "nb-ring", NB_BCAST, .schedule = {8, 9, 9},
        .also = {{"IBCAST_RING_CHUNK_SIZE", 0}}, .like = "tree=kary,k=1"),

    ROW(REDUCE, "binomial", .algorithm = ALL(1), BLOCKING, .needs = DEVICE,
        .like = "tree=knomial,k=2", DIVIDED_TREE),
    ROW(REDUCE, "reduce-scatter-gather", .algorithm = ALL(4), BLOCKING,
        .needs = FULL | BUILTIN, .like = "halving"),
    ROW(REDUCE, "nb-tree", NB_REDUCE, .schedule = ALL(5),
        .needs = TREE | COMMUTATIVE, .radix = {"IREDUCE_TREE_KVAL"},
        .chunk = "IREDUCE_TREE_PIPELINE_CHUNK_SIZE",
        .also = {{"IREDUCE_TREE_BUFFER_PER_CHILD", 0}},
        .kary = "IREDUCE_TREE_TYPE",
        .like = "tree=kary,k=%u"),
    ROW(REDUCE, "nb-ring", NB_REDUCE, .schedule = ALL(6), .needs = COMMUTATIVE,
        .chunk = "IREDUCE_RING_CHUNK_SIZE",
        .also = {{"IREDUCE_TREE_BUFFER_PER_CHILD", 0}},
        .like = "tree=kary,k=1"),

    ROW(ALLREDUCE, "recursive-doubling", .algorithm = ALL(3), BLOCKING,
        .needs = DEVICE, .like = "exchange,k=2", DIVIDED_EXCHANGE),
    ROW(ALLREDUCE, "reduce-scatter-allgather", .algorithm = ALL(4), BLOCKING,
        .needs = FULL | BUILTIN, .like = "halving"),
    ROW(ALLREDUCE, "tree", .algorithm = {LACKS, 5, 5}, BLOCKING,
        .needs = TREE | COMMUTATIVE, .radix = {"ALLREDUCE_TREE_KVAL"},
        .chunk = "ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE",
        .also = {{"ALLREDUCE_TREE_BUFFER_PER_CHILD", 0}},
        .kary = "ALLREDUCE_TREE_TYPE", .like = "tree=kary,k=%u"),
    ROW(ALLREDUCE, "recexch", .algorithm = {LACKS, LACKS, 6}, BLOCKING,
        .needs = EXACT, .radix = {"ALLREDUCE_RECEXCH_KVAL"},
        .also = {{"ALLREDUCE_RECEXCH_SINGLE_PHASE_RECV", 0}},
        .like = "exchange,k=%u"),
    ROW(ALLREDUCE, "ring", .algorithm = {LACKS, 7, 7}, BLOCKING,
        .needs = COMMUTATIVE, .like = "ring"),
    ROW(ALLREDUCE, "k-reduce-scatter-allgather", .algorithm = {LACKS, LACKS, 8},
        BLOCKING, .needs = COMMUTATIVE | EXACT,
        .radix = {"ALLREDUCE_RECEXCH_KVAL"},
        .also = {{"ALLREDUCE_RECEXCH_SINGLE_PHASE_RECV", 0}},
        .like = "halving"),
    ROW(ALLREDUCE, "nb-naive", NB_ALLREDUCE, .schedule = ALL(2),
        .like = "tree=knomial,k=2"),
    ROW(ALLREDUCE, "nb-recexch-single-buffer", NB_ALLREDUCE, .schedule = ALL(6),
        .needs = EXACT, .radix = {"IALLREDUCE_RECEXCH_KVAL"},
        .like = "exchange,k=%u"),
    ROW(ALLREDUCE, "nb-recexch-multiple-buffer", NB_ALLREDUCE,
        .schedule = ALL(7), .needs = EXACT,
        .radix = {"IALLREDUCE_RECEXCH_KVAL"}, .like = "exchange,k=%u"),
    ROW(ALLREDUCE, "nb-tree", NB_ALLREDUCE, .schedule = ALL(8), .needs = TREE,
        .radix = {"IALLREDUCE_TREE_KVAL"},
        .chunk = "IALLREDUCE_TREE_PIPELINE_CHUNK_SIZE",
        .also = {{"IALLREDUCE_TREE_BUFFER_PER_CHILD", 0}},
        .kary = "IALLREDUCE_TREE_TYPE", .like = "tree=kary,k=%u"),
    ROW(ALLREDUCE, "nb-ring", NB_ALLREDUCE, .schedule = ALL(9),
        .needs = COMMUTATIVE, .like = "ring"),
    ROW(ALLREDUCE, "nb-recexch-reduce-scatter-recexch-allgatherv", NB_ALLREDUCE,
        .schedule = ALL(10), .needs = COMMUTATIVE | EXACT,
        .radix = {"IALLREDUCE_RECEXCH_KVAL"}, .like = "halving"),

    ROW(GATHER, "binomial", .algorithm = ALL(1), BLOCKING,
        .like = "tree=knomial,k=2"),
    ROW(GATHER, "nb-tree", NB_GATHER, .schedule = ALL(3),
        .radix = {"IGATHER_TREE_KVAL"}, .like = "tree=knomial,k=%u"),
    ROW(SCATTER, "binomial", .algorithm = ALL(1), BLOCKING,
        .like = "tree=knomial,k=2"),
    ROW(SCATTER, "nb-tree", NB_SCATTER, .schedule = ALL(3),
        .radix = {"ISCATTER_TREE_KVAL"}, .like = "tree=knomial,k=%u"),

    ROW(ALLGATHER, "brucks", .algorithm = ALL(1), BLOCKING,
        .like = "dissemination,k=2"),
    ROW(ALLGATHER, "k-brucks", .algorithm = {LACKS, 2, 2}, BLOCKING,
        .radix = {"ALLGATHER_BRUCKS_KVAL"}, .like = "dissemination,k=%u"),
    ROW(ALLGATHER, "recursive-doubling", .algorithm = {3, 4, 4}, BLOCKING,
        .needs = POWER, .like = "exchange,k=2"),
    ROW(ALLGATHER, "ring", .algorithm = {4, 5, 5}, BLOCKING, .like = "ring"),
    ROW(ALLGATHER, "nb-ring", NB_ALLGATHER, .schedule = ALL(5), .like = "ring"),
    ROW(ALLGATHER, "nb-brucks", NB_ALLGATHER, .schedule = ALL(6),
        .radix = {"IALLGATHER_BRUCKS_KVAL"}, .like = "dissemination,k=%u"),

    ROW(ALLGATHERV, "brucks", .algorithm = ALL(1), BLOCKING,
        .like = "dissemination,k=2"),
    ROW(ALLGATHERV, "recursive-doubling", .algorithm = ALL(3), BLOCKING,
        .needs = POWER, .like = "exchange,k=2"),
    /* Its pieces are cut at elements of the caller's own type. */
    ROW(ALLGATHERV, "ring", .algorithm = ALL(4), BLOCKING,
        .also = {{"ALLGATHERV_PIPELINE_MSG_SIZE", 0}}, .like = "ring"),

    ROW(ALLTOALL, "brucks", .algorithm = ALL(1), BLOCKING,
        .needs = NOT_IN_PLACE, .like = "bruck,k=2"),
    ROW(ALLTOALL, "pairwise", .algorithm = {3, 4, 4}, BLOCKING,
        .needs = NOT_IN_PLACE, .like = "flat"),
    ROW(ALLTOALL, "pairwise-sendrecv-replace", .algorithm = {4, 5, 5}, BLOCKING,
        .needs = IN_PLACE, .like = "flat"),
    ROW(ALLTOALL, "scattered", .algorithm = {5, 6, 6}, BLOCKING,
        .needs = NOT_IN_PLACE, .like = "flat"),
    ROW(ALLTOALL, "nb-permuted-sendrecv", NB_ALLTOALL, .schedule = ALL(5),
        .needs = NOT_IN_PLACE, .like = "flat"),
    ROW(ALLTOALL, "nb-inplace", NB_ALLTOALL, .schedule = ALL(3),
        .needs = IN_PLACE, .like = "flat"),
    ROW(ALLTOALL, "nb-scattered", NB_ALLTOALL, .schedule = ALL(8),
        .also = {{"IALLTOALL_SCATTERED_OUTSTANDING_TASKS", 64},
                 {"IALLTOALL_SCATTERED_BATCH_SIZE", 4}},
        .like = "flat"),

    ROW(REDUCE_SCATTER_BLOCK, "noncommutative", .algorithm = ALL(1), BLOCKING,
        .needs = POWER, .like = "halving"),
    ROW(REDUCE_SCATTER_BLOCK, "recursive-doubling", .algorithm = ALL(2),
        BLOCKING, .like = "exchange,k=2"),
    /* In place it reduces into the receive buffer behind the result. */
    ROW(REDUCE_SCATTER_BLOCK, "pairwise", .algorithm = ALL(3), BLOCKING,
        .needs = COMMUTATIVE | NOT_IN_PLACE, .like = "flat"),
    ROW(REDUCE_SCATTER_BLOCK, "recursive-halving", .algorithm = ALL(4),
        BLOCKING, .needs = COMMUTATIVE, .like = "halving"),
    ROW(REDUCE_SCATTER_BLOCK, "nb-recexch", NB_BLOCK, .schedule = ALL(6),
        .needs = COMMUTATIVE | EXACT,
        .radix = {"IREDUCE_SCATTER_BLOCK_RECEXCH_KVAL"}, .like = "halving"),

    /* In place it copies a result over itself, and MPICH aborts. */
    ROW(REDUCE_SCATTER, "pairwise", .algorithm = ALL(3), BLOCKING,
        .needs = COMMUTATIVE | NOT_IN_PLACE, .like = "flat"),
    ROW(REDUCE_SCATTER, "recursive-doubling", .algorithm = ALL(4), BLOCKING,
        .like = "exchange,k=2"),
    ROW(REDUCE_SCATTER, "recursive-halving", .algorithm = ALL(5), BLOCKING,
        .needs = COMMUTATIVE, .like = "halving"),

    ROW(SCAN, "recursive-doubling", .algorithm = ALL(3), BLOCKING,
        .like = "exchange"),
    ROW(SCAN, "nb-recursive-doubling", NB_SCAN, .schedule = ALL(4),
        .like = "exchange"),
    ROW(EXSCAN, "recursive-doubling", .algorithm = ALL(2), BLOCKING,
        .like = "exchange"),
    ROW(EXSCAN, "nb-recursive-doubling", NB_SCAN, .schedule = ALL(2),
        .like = "exchange"),
};
/* clang-format on */

const size_t aspx_native_row_count = sizeof(aspx_native_rows) /
                                     sizeof(aspx_native_rows[0]);

_Static_assert(sizeof(aspx_native_rows) / sizeof(aspx_native_rows[0]) <=
                   ASPX_NATIVE_ROWS_MAX,
               "a row is a bit of a word");

int aspx_native_column(int release)
{
    return release >= 400 && release < 400 + ASPX_NATIVE_RELEASES
               ? release - 400
               : -1;
}

/* ---- what a row sets ---------------------------------------------------- */

/* Values of MPIR_CVAR_DEVICE_COLLECTIVES. */
enum { DEVICE_NONE = 1, DEVICE_PER_COLLECTIVE = 2 };

struct list {
    struct aspx_native_setting *out;
    uint32_t n;
};

static void add(struct list *list, enum aspx_native_value from, int fixed,
                const char *head, const char *name, const char *tail)
{
    struct aspx_native_setting *setting = &list->out[list->n++];

    snprintf(setting->name, sizeof(setting->name), "MPIR_CVAR_%s%s%s", head,
             name, tail);
    setting->from = from;
    setting->fixed = fixed;
}

/* "ALLREDUCE" */
static void print_op(enum asp_coll_op op, char *buf, size_t size)
{
    snprintf(buf, size, "%s", asp_coll_op_name(op));
    for (char *at = buf; *at; at++)
        *at = (char) toupper((unsigned char) *at);
}

uint32_t aspx_native_settings(const struct aspx_native_row *row, int column,
                              bool device, struct aspx_native_setting *out)
{
    struct list list = {.out = out};
    char op[32];

    print_op(row->op, op, sizeof(op));
    add(&list, ASPX_NATIVE_FIXED, device ? DEVICE_PER_COLLECTIVE : DEVICE_NONE,
        "DEVICE_COLLECTIVES", "", "");
    if (device)
        add(&list, ASPX_NATIVE_FIXED, 1, "", op, "_DEVICE_COLLECTIVE");
    add(&list, ASPX_NATIVE_FIXED, row->algorithm[column], "", op,
        "_INTRA_ALGORITHM");
    if (row->schedule[column])
        add(&list, ASPX_NATIVE_FIXED, row->schedule[column], "I", op,
            "_INTRA_ALGORITHM");
    for (int i = 0; i < 2 && row->radix[i]; i++)
        add(&list, ASPX_NATIVE_K, 0, row->radix[i], "", "");
    if (row->chunk)
        add(&list, ASPX_NATIVE_CHUNK, 0, row->chunk, "", "");
    for (int i = 0; i < 2 && row->also[i].name; i++)
        add(&list, ASPX_NATIVE_FIXED, row->also[i].value, row->also[i].name, "",
            "");
    return list.n;
}
