/* SPDX-License-Identifier: BSD-3-Clause */
/* From a datatype of MPI to its typemap. */
#ifndef ASPEN_RUNTIME_PACK_TYPEMAP_H
#define ASPEN_RUNTIME_PACK_TYPEMAP_H

#include "engine.h"

#include <mpi.h>
#include <stdint.h>

/* Why a type has no typemap, and stays MPICH's. */
enum aspx_no_typemap {
    ASPX_NO_TYPEMAP_COMBINER, /* a combiner, or a type of MPI's own, that Aspen
                                does not know */
    ASPX_NO_TYPEMAP_LARGE,    /* too many entries, or no memory */
    ASPX_NO_TYPEMAP_DEEP,     /* types within types, or nodes within nodes; or a
                                number that does not fit 64 bits */
    ASPX_NO_TYPEMAP_DIFFERS,  /* MPI tells another size, or a span that
                                does not have all of it */
    ASPX_NO_TYPEMAP_MPI,      /* MPI failed */
    ASPX_NO_TYPEMAPS,
};

/* The typemap of a type, which the caller frees. Asks MPI how the type was
 * made, and the same of all types within. NULL, with the reason, when there is
 * none. MPI must run, and the caller must not be inside it. Of a handle that is
 * no type's MPI raises an error. */
struct aspx_typemap *aspx_typemap_make(MPI_Datatype type,
                                       enum aspx_no_typemap *why);
void aspx_typemap_free(struct aspx_typemap *typemap);

/* The same, kept until the handle is another type's. NULL when there is none,
 * now and when asked again. The first call for a type is as
 * aspx_typemap_make(), further ones ask MPI for an attribute. Threads: any, as
 * far as MPI may be called by them. */
const struct aspx_typemap *aspx_typemap_of(MPI_Datatype type);

/* The same without asking MPI, of a type with gaps: what a call of
 * aspx_typemap_of() has kept, or NULL. Threads: any, also inside MPI, as long
 * as the type lives. */
const struct aspx_typemap *aspx_typemap_find(MPI_Datatype type);

/* A type with gaps is about to begin, so that one which had its handle is dead:
 * forget that one. Threads: any, also inside MPI. */
void aspx_typemap_forget(MPI_Datatype type);

/* How many types got none, by reason, so far; in words, for the record. */
uint64_t aspx_typemaps_refused(enum aspx_no_typemap why);
const char *aspx_no_typemap_name(enum aspx_no_typemap why);

#endif
