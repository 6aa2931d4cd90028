/* SPDX-License-Identifier: BSD-3-Clause */
/* From a datatype of MPI to its layout. */
#ifndef ASPEN_RUNTIME_PACK_LAYOUT_H
#define ASPEN_RUNTIME_PACK_LAYOUT_H

#include "engine.h"

#include <mpi.h>
#include <stdint.h>

/* Why a type has no layout, and stays MPICH's. */
enum aspx_no_layout {
    ASPX_NO_LAYOUT_COMBINER, /* a combiner, or a type of MPI's own, that Aspen
                                does not know */
    ASPX_NO_LAYOUT_LARGE,    /* too many entries, or no memory */
    ASPX_NO_LAYOUT_DEEP,     /* types within types, or nodes within nodes; or a
                                number that does not fit 64 bits */
    ASPX_NO_LAYOUT_DIFFERS,  /* MPI tells another size, or a span that
                                does not have all of it */
    ASPX_NO_LAYOUT_MPI,      /* MPI failed */
    ASPX_NO_LAYOUTS,
};

/* The layout of a type, which the caller frees. Asks MPI how the type was made,
 * and the same of all types within. NULL, with the reason, when there is none.
 * MPI must run, and the caller may be inside it. */
struct aspx_layout *aspx_layout_make(MPI_Datatype type,
                                     enum aspx_no_layout *why);
void aspx_layout_free(struct aspx_layout *layout);

/* The same, kept until MPI deletes the type: when it was freed, and all
 * messages and types that use it have gone. NULL when there is none, now and
 * when asked again. The first call for a type is as aspx_layout_make(), further
 * ones are a hash probe.
 * Threads: any, as far as MPI may be called by them the first time. */
const struct aspx_layout *aspx_layout_of(MPI_Datatype type);

/* How many types got none, by reason, so far; in words, for the record. */
uint64_t aspx_layouts_refused(enum aspx_no_layout why);
const char *aspx_no_layout_name(enum aspx_no_layout why);

#endif
