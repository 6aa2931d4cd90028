/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls on ints or doubles, for native.c: the same call can be made
 * in MPICH's own way and in another, and the results be compared. */
#ifndef ASPEN_TESTS_COLL_NATIVE_CALLS_H
#define ASPEN_TESTS_COLL_NATIVE_CALLS_H

#include "runtime/coll/mpich/native.h"

#include "../random/prng.h"

enum { REDUCTIONS = 4 };

/* What all ranks have alike. */
struct shape {
    enum asp_coll_op op;
    MPI_Comm comm;
    int rank, size;
    int n; /* elements of a block */
    int root;
    int reduction; /* of reductions, below REDUCTIONS */
    int floating;  /* doubles, else ints; of reductions */
    int fractions; /* doubles that do not add up exactly */
    int in_place;  /* all ranks; the root alone where only it may */
};

int is_reduction(enum asp_coll_op op);

/* The call as MPI's standard shows it to all ranks. */
void describe(const struct shape *shape, struct asp_tune_args *args,
              struct aspx_native_problem *problem, int nodes);

/* Memory of a call, with guard zones around both sides. */
struct data;
struct data *data_make(const struct shape *shape);
void data_free(struct data *data);

/* Make the call; NULL: as MPICH chooses. Returns what it returned. */
int data_call(struct data *data, const struct aspx_native_config *config);

/* Has the latest call left the same bytes as the one before: the result, what
 * MPI leaves open, what was sent and the guard zones? */
int data_is_same(const struct data *data);

/* Do all ranks have the same result, bit by bit? Of allreduce. Collective. */
int data_agrees(const struct data *data);

#endif
