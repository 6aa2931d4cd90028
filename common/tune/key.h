/* SPDX-License-Identifier: BSD-3-Clause */
/* What a choice of an algorithm may depend on: the key of a tuned table and of
 * a search. All ranks of a communicator choose for themselves and must choose
 * the same, so a key is made only from what the MPI standard makes equal on all
 * of them. What a rank has of its own (layout and addresses of its buffers,
 * arguments significant at the root only, counts of Alltoallv, clock,
 * environment, call site) has no place in these structs, and what is equal only
 * for some operations (MPI_IN_PLACE, a root, an MPI_Op) is left out by
 * asp_tune_call() for the others, whatever the caller says.
 *
 * A key has two halves. The shape is made once for a communicator, the call
 * word for each call: a few shifts.
 *
 * Source: MPI 4.0 chapter 6; docs/design/coll-tune.md has the table. */
#ifndef ASPEN_COMMON_TUNE_KEY_H
#define ASPEN_COMMON_TUNE_KEY_H

#include "common/base/err.h"
#include "common/coll/build/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the standard makes equal on all ranks, by operation. */
enum asp_tune_rule {
    /* A number of bytes: of a block or vector (forms.h), but where blocks
     * differ of all together. */
    ASP_TUNE_BYTES = 1,
    ASP_TUNE_IN_PLACE = 2, /* MPI_IN_PLACE at all ranks or at none */
    ASP_TUNE_ROOT = 4,
    ASP_TUNE_REDUCES = 8, /* an MPI_Op */
    /* No bytes, but a key has some that ranks agreed on (size.h). */
    ASP_TUNE_AGREED = 16,
};

/* Of each operation, as its form has it. */
extern const struct asp_tune_op_row {
    unsigned rules; /* enum asp_tune_rule */
} asp_tune_ops[ASP_COLL_OPS];

/* What an MPI_Op lets an algorithm do. */
enum asp_tune_reduction {
    ASP_TUNE_NO_REDUCTION,
    ASP_TUNE_BUILTIN, /* MPI_SUM and its like: commutative */
    ASP_TUNE_USER,    /* the program's, commutative */
    ASP_TUNE_ORDERED, /* the program's, not commutative */
};

enum asp_tune_root {
    ASP_TUNE_NO_ROOT,
    ASP_TUNE_ROOT_0,
    ASP_TUNE_ROOT_OTHER,
};

/* How the program uses the call; agreed, see pattern.h. */
enum asp_tune_pattern {
    ASP_TUNE_STRICT,      /* ranks come to the call together: its latency */
    ASP_TUNE_LOOSE,       /* calls back to back: their throughput */
    ASP_TUNE_NONBLOCKING, /* MPI_Ibcast and its like, persistent ones too */
};

/* A call, as the standard shows it to all ranks alike. */
struct asp_tune_args {
    enum asp_coll_op op;
    /* Count times MPI_Type_size, never the extent. Not looked at without
     * ASP_TUNE_BYTES. */
    uint64_t bytes;
    enum asp_tune_reduction reduction;
    bool floating; /* the MPI_Op is built in, its type is a floating one */
    bool in_place;
    uint32_t root;
    enum asp_tune_pattern pattern;
};

/* Sizes are told apart by powers of two: a call belongs to the nearest one,
 * 0.75 to 1.5 times of it, at which offline tables are measured. */
enum {
    ASP_TUNE_BUCKET_BITS = 6,
    ASP_TUNE_BUCKET_MASK = (1 << ASP_TUNE_BUCKET_BITS) - 1,
    ASP_TUNE_BUCKET_ANY = 63, /* bytes are not equal, or none */
};

/* The bucket of a number of bytes: 0 for none, b + 1 for about 2^b (b <= 61).
 * asp_tune_bucket_bytes() is the power of two. */
static inline uint32_t asp_tune_bucket(uint64_t bytes)
{
    uint32_t log2;

    if (bytes == 0)
        return 0;
    log2 = 63u - (uint32_t) __builtin_clzll(bytes);
    if (log2 > 60)
        return 62;
    /* With the bit below the first one it is at least 1.5 times that power: the
     * next one is nearer. */
    return log2 + 1 + (uint32_t) (bytes << 1 >> log2 & 1);
}

uint64_t asp_tune_bucket_bytes(uint32_t bucket);

/* The fields of a call word, from the lowest bit up. */
enum {
    ASP_TUNE_OP_SHIFT = ASP_TUNE_BUCKET_BITS,
    ASP_TUNE_REDUCTION_SHIFT = ASP_TUNE_OP_SHIFT + 5,
    ASP_TUNE_FLOATING_SHIFT = ASP_TUNE_REDUCTION_SHIFT + 2,
    ASP_TUNE_IN_PLACE_SHIFT = ASP_TUNE_FLOATING_SHIFT + 1,
    ASP_TUNE_ROOT_SHIFT = ASP_TUNE_IN_PLACE_SHIFT + 1,
    ASP_TUNE_PATTERN_SHIFT = ASP_TUNE_ROOT_SHIFT + 2,
    ASP_TUNE_CALL_BITS = ASP_TUNE_PATTERN_SHIFT + 2,
};

/* The call word: equal on all ranks of a correct program. Where bytes are
 * agreed on its bucket is ASP_TUNE_BUCKET_ANY: decide.c puts the agreed one
 * there.
 *   args  op below ASP_COLL_OPS; what is not equal for it is ignored
 * Threads: pure.  Cost: no memory but a table of a row for each operation. */
static inline uint32_t asp_tune_call(const struct asp_tune_args *args)
{
    unsigned rules = asp_tune_ops[args->op].rules;
    uint32_t call = (uint32_t) args->op << ASP_TUNE_OP_SHIFT |
                    (uint32_t) args->pattern << ASP_TUNE_PATTERN_SHIFT;

    call |= rules & ASP_TUNE_BYTES ? asp_tune_bucket(args->bytes)
                                   : (uint32_t) ASP_TUNE_BUCKET_ANY;
    if (rules & ASP_TUNE_REDUCES)
        call |=
            (uint32_t) args->reduction << ASP_TUNE_REDUCTION_SHIFT |
            (uint32_t) (args->floating && args->reduction == ASP_TUNE_BUILTIN)
                << ASP_TUNE_FLOATING_SHIFT;
    if (rules & ASP_TUNE_IN_PLACE)
        call |= (uint32_t) args->in_place << ASP_TUNE_IN_PLACE_SHIFT;
    if (rules & ASP_TUNE_ROOT)
        call |= (args->root == 0 ? (uint32_t) ASP_TUNE_ROOT_0
                                 : (uint32_t) ASP_TUNE_ROOT_OTHER)
                << ASP_TUNE_ROOT_SHIFT;
    return call;
}

/* The fields of a call word; bytes is the power of two of its bucket, root 1
 * for another than 0. */
void asp_tune_call_args(uint32_t call, struct asp_tune_args *args_p);

/* Where the ranks of a communicator are. */
struct asp_tune_shape {
    uint32_t ranks; /* 1 to ASP_RANKS_MAX */
    uint32_t nodes;
    uint32_t ppn; /* ranks of the fullest node */
    /* 0: "block", nodes have equal numbers of ranks, all next to each other;
     * otherwise a hash of which ranks share a node. */
    uint64_t map;
};

/* The shape of a communicator.
 *   node   for each rank the number of its node, in any numbering: numberings
 *          that share nodes alike give the same shape
 *   ranks  1 to ASP_RANKS_MAX
 *   work   ranks words to work in, of the caller
 * Cost: O(ranks * log(ranks)) or better, no allocation. */
void asp_tune_shape_of(const uint32_t *node, uint32_t ranks, uint32_t *work,
                       struct asp_tune_shape *shape_p);

struct asp_tune_key {
    struct asp_tune_shape shape;
    uint32_t call;
};

/* The order of keys in a table: by shape, operation and class, sizes rising.
 * Returns a number below, equal to or above 0. */
int asp_tune_key_compare(const struct asp_tune_key *a,
                         const struct asp_tune_key *b);

enum { ASP_TUNE_KEY_MAX = 192 }; /* bytes of a key's text, with its NUL */

/* The text form, without blanks:
 * "allreduce:bytes=8,op=builtin-float,in_place=yes,pattern=strict,ranks=16,
 * nodes=4,ppn=4,map=block". A field is there if its operation has it, in_place
 * only where it is yes. Returns buf. */
const char *asp_tune_key_print(const struct asp_tune_key *key,
                               char buf[ASP_TUNE_KEY_MAX]);

/* Read a text form: the fields in any order, each once; nothing in it is
 * trusted.
 * Returns 0, or -1 with errno EINVAL and the reason; *key_p is then untouched.
 */
int asp_tune_key_parse(const char *text, struct asp_tune_key *key_p,
                       struct asp_err *err);

#endif
