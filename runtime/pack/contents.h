/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was made: its combiner and the arguments of its creator, in
 * one form for creators with and without large counts. */
#ifndef ASPEN_RUNTIME_PACK_CONTENTS_H
#define ASPEN_RUNTIME_PACK_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aspx_contents {
    int combiner;
    bool large; /* counts are MPI_Count: made by a creator of suffix _c */

    /* Integers, then addresses, then large counts, in the order that MPI gives
     * them (MPI 4.0, 5.1.13). For most creators that is the same list with and
     * without large counts; not for subarray and darray. */
    int64_t *values;
    size_t nvalues;

    MPI_Datatype *types; /* references of ours */
    size_t ntypes;
};

/* Was it made of other types? Else it is MPI's own, one of
 * MPI_Type_create_f90_*(), or of a combiner that Aspen does not know: it is not
 * looked into, and must not be freed. */
bool aspx_contents_derived(int combiner);

/* Ask MPI for the combiner alone. False: MPI failed. */
bool aspx_contents_combiner(MPI_Datatype type, int *combiner);

/* Ask MPI. Of a type that is not derived, the combiner only. False: no
 * memory, or MPI failed; nothing is to be freed then. */
bool aspx_contents_get(MPI_Datatype type, struct aspx_contents *contents);

/* With the references. */
void aspx_contents_free(struct aspx_contents *contents);

#endif
