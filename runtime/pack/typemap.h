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

/* Entries of a list in a type; one that is longer gets no typemap to keep. */
enum { ASPX_TYPEMAP_ENTRIES_MAX = 1 << 20 };

/* The typemap of a type, which the caller frees. Asks MPI how the type was
 * made, and the same of all types within. NULL, with the reason, when there is
 * none. MPI must run, and the caller must not be inside it. Of a handle that is
 * no type's MPI raises an error. */
struct aspx_typemap *aspx_typemap_make(MPI_Datatype type,
                                       enum aspx_no_typemap *why);

/* The same however large it becomes, for one use. */
struct aspx_typemap *aspx_typemap_make_large(MPI_Datatype type,
                                             enum aspx_no_typemap *why);

void aspx_typemap_free(struct aspx_typemap *typemap);

/* The same, kept until the handle is another type's. NULL when there is none,
 * now and when asked again, and of what the program has freed once. The first
 * call for a type is as aspx_typemap_make(), further ones ask MPI for an
 * attribute. Threads: any, as far as MPI may be called by them. */
const struct aspx_typemap *aspx_typemap_of(MPI_Datatype type);

/* The same without asking MPI, of a type with gaps: what a call of
 * aspx_typemap_of() has kept, or NULL. Threads: any, also inside MPI, as long
 * as the type lives. */
const struct aspx_typemap *aspx_typemap_find(MPI_Datatype type);

/* The same outside MPI, without asking it: NULL also where the program has
 * freed the type once, even if it has further references to it. What was found
 * stays as it is between hold and release, also when the type is freed
 * meanwhile and its handle becomes another's. Threads: any. */
const struct aspx_typemap *aspx_typemap_in_use(MPI_Datatype type);
void aspx_typemap_hold(void);
void aspx_typemap_release(void);

/* The program frees this type. Before MPI is told; if MPI refuses,
 * aspx_typemap_check_alive() takes it back. Threads: any. */
void aspx_typemap_retire(MPI_Datatype type);

/* This type is alive: what aspx_typemap_in_use() knows of its handle may be of
 * one that is dead. May ask MPI. Threads: as
 * aspx_typemap_of(). */
void aspx_typemap_check_alive(MPI_Datatype type);

/* A type with gaps is about to begin, so that one which had its handle is dead:
 * forget that one. Threads: any, also inside MPI. */
void aspx_typemap_forget(MPI_Datatype type);

/* How many types got none, by reason, so far; in words, for the record. */
uint64_t aspx_typemaps_refused(enum aspx_no_typemap why);
const char *aspx_no_typemap_name(enum aspx_no_typemap why);

#endif
