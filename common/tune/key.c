/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys: what operations have, call words taken apart, shapes. Their text form
 * is in key_text.c. */
#include "key.h"

/* Counts of a rank's own are not equal, nor is MPI_IN_PLACE of a root. Their
 * bytes are agreed on where no root alone has them. */
#define IF(condition, rule) ((condition) ? (unsigned) (rule) : 0u)
#define RULES(ID, NAME, ROOT, IN, OUT, COUNTS, REDUCES, PREFIX, PLACE)         \
    [ASP_COLL_##                                                               \
        ID] = {IF(ASP_COLL_##OUT != ASP_COLL_NO_BLOCK &&                       \
                      ASP_COLL_##COUNTS != ASP_COLL_COUNTS_OWN,                \
                  ASP_TUNE_BYTES) |                                            \
               IF(ASP_COLL_##PLACE##_IN_PLACE == ASP_COLL_ALL_IN_PLACE,        \
                  ASP_TUNE_IN_PLACE) |                                         \
               IF(ASP_COLL_##ROOT != ASP_COLL_NO_ROOT, ASP_TUNE_ROOT) |        \
               IF(REDUCES, ASP_TUNE_REDUCES) |                                 \
               IF(ASP_COLL_##COUNTS == ASP_COLL_COUNTS_OWN &&                  \
                      ASP_COLL_##ROOT == ASP_COLL_NO_ROOT,                     \
                  ASP_TUNE_AGREED)},

const struct asp_tune_op_row asp_tune_ops[ASP_COLL_OPS] = {
    ASP_COLL_FORMS(RULES)};

_Static_assert(ASP_COLL_OPS <= 32, "five bits of a call word");

uint64_t asp_tune_bucket_bytes(uint32_t bucket)
{
    return bucket == 0 || bucket == ASP_TUNE_BUCKET_ANY
               ? 0
               : UINT64_C(1) << (bucket - 1);
}

static uint32_t field(uint32_t call, int shift, int bits)
{
    return call >> shift & ((1u << bits) - 1);
}

void asp_tune_call_args(uint32_t call, struct asp_tune_args *args_p)
{
    *args_p = (struct asp_tune_args){
        .op = (enum asp_coll_op) field(call, ASP_TUNE_OP_SHIFT, 5),
        .bytes = asp_tune_bucket_bytes(field(call, 0, ASP_TUNE_BUCKET_BITS)),
        .reduction = (enum asp_tune_reduction) field(
            call, ASP_TUNE_REDUCTION_SHIFT, 2),
        .floating = field(call, ASP_TUNE_FLOATING_SHIFT, 1),
        .in_place = field(call, ASP_TUNE_IN_PLACE_SHIFT, 1),
        .root = field(call, ASP_TUNE_ROOT_SHIFT, 2) == ASP_TUNE_ROOT_OTHER,
        .pattern = (enum asp_tune_pattern) field(call, ASP_TUNE_PATTERN_SHIFT,
                                                 2),
    };
}

/* ---- shapes ---- */

static bool before(const uint32_t *node, uint32_t a, uint32_t b)
{
    return node[a] != node[b] ? node[a] < node[b] : a < b;
}

static void sift(const uint32_t *node, uint32_t *heap, uint32_t at, uint32_t n)
{
    uint32_t rank = heap[at];

    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(node, heap[child], heap[child + 1]))
            child++;
        if (!before(node, rank, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = rank;
}

/* Ranks by node, and in their order on each. A heap: qsort() may allocate, and
 * has no place for node[]. */
static void sort_ranks(const uint32_t *node, uint32_t *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = i;
    for (uint32_t i = n / 2; i-- > 0;)
        sift(node, ranks, i, n);
    for (uint32_t i = n; i-- > 1;) {
        uint32_t last = ranks[i];

        ranks[i] = ranks[0];
        ranks[0] = last;
        sift(node, ranks, 0, i);
    }
}

/* The finalizer of splitmix64: every bit of x changes half of the result's. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void asp_tune_shape_of(const uint32_t *node, uint32_t ranks, uint32_t *work,
                       struct asp_tune_shape *shape_p)
{
    struct asp_tune_shape shape = {.ranks = ranks};
    bool block = true;
    uint32_t first, count;
    uint64_t sum = 0;

    sort_ranks(node, work, ranks);
    for (uint32_t i = 0; i < ranks; i += count) {
        first = work[i];
        for (count = 0;
             i + count < ranks && node[work[i + count]] == node[first];
             count++) {
            /* A sum, for the order of nodes is that of their numbering. */
            sum += mix((uint64_t) work[i + count] << 32 | (first + 1));
            block = block && work[i + count] == first + count;
        }
        if (shape.nodes++ > 0)
            block = block && count == shape.ppn;
        if (count > shape.ppn)
            shape.ppn = count;
    }
    shape.map = block ? 0 : sum ? sum : 1;
    *shape_p = shape;
}

/* ---- order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int asp_tune_key_compare(const struct asp_tune_key *a,
                         const struct asp_tune_key *b)
{
    const uint64_t pairs[][2] = {
        {a->shape.ranks, b->shape.ranks},
        {a->shape.nodes, b->shape.nodes},
        {a->shape.ppn, b->shape.ppn},
        {a->shape.map, b->shape.map},
        {field(a->call, ASP_TUNE_OP_SHIFT, 5),
         field(b->call, ASP_TUNE_OP_SHIFT, 5)},
        {a->call >> ASP_TUNE_REDUCTION_SHIFT,
         b->call >> ASP_TUNE_REDUCTION_SHIFT},
        {a->call, b->call}, /* what is left is the bucket */
    };
    int order = 0;

    for (size_t i = 0; order == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++)
        order = compare(pairs[i][0], pairs[i][1]);
    return order;
}
