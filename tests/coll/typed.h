/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of coll_typed share: one side of a call, whose data lie as a
 * type of this rank's own says, between guard zones. */
#ifndef ASPEN_TESTS_COLL_TYPED_H
#define ASPEN_TESTS_COLL_TYPED_H

#include "../random/prng.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RANKS_MOST = 64,
    MAP_MOST = 16, /* elements of a type map */
};

enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    SCATTER,
    GATHER,
    ALLGATHER,
    ALLTOALL,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    ALLGATHERV,
    REDUCE_SCATTER,
    ALLTOALLV,
    KINDS
};

/* The elements of all blocks, and the bytes around them. */
struct side {
    char *memory; /* what the call gets, guard zones included */
    char *wanted; /* what it must be afterwards */
    size_t bytes;
    char *origin; /* in memory: where displacements count from */
    void *buf;    /* for the call: origin, or MPI_BOTTOM */
    MPI_Datatype type, basic;
    int size, map; /* bytes of a basic element; elements of the type */
    long at[MAP_MOST], extent; /* bytes from the start, and to the next */
    int blocks;
    /* Of each block, in elements of the type. */
    int first[RANKS_MOST], count[RANKS_MOST];
};

/* How a side is to be drawn. */
struct wish {
    MPI_Datatype basic;
    int size, blocks;
    const int *length; /* basic elements of each block */
    int unit;          /* divides all lengths */
    int scattered;     /* blocks lie in any order, with room between them */
    int plain;         /* the basic type itself */
    int empty;         /* if it has no elements: 5 copies of a type of none */
};

/* Memory and a committed type, drawn from this rank's numbers. */
void side_make(struct side *side, const struct wish *wish, struct prng *own);

/* The call has been made: a type that a call still uses may be freed. */
void side_free_type(struct side *side);
void side_free(struct side *side);

/* Element i of a block, in memory or in what is wanted. */
void side_set(struct side *side, int block, int i, const void *value);
void side_want(struct side *side, int block, int i, const void *value);

/* What is there now is wanted, until something else is. */
void side_keep(struct side *side);

/* The first byte that is not as wanted, from origin; LONG_MAX: there is none.
 */
long side_differs(const struct side *side);

/* A call on two sides. */
struct op {
    enum kind kind;
    MPI_Comm comm;
    int rank, size;
    int root, in_place; /* of this rank */
    int large;          /* the twin for large counts */
    int n;              /* basic elements of a block */
    int counts[RANKS_MOST];
    MPI_Op reduction;
    struct side from, to;
    int later; /* non-blocking */
    MPI_Request request;
};

/* typed_calls.c */
void op_call(struct op *op);

#endif
