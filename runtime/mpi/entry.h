/* SPDX-License-Identifier: BSD-3-Clause */
/* The exported MPI_X and PMPI_X, and the inner entries, to which libmpich's own
 * symbols lead (redirect.h). Each is one indirect jump through a table:
 *
 *   at load          the first_ stubs: they resolve and jump on, or say that
 *                    this MPICH lacks the function
 *   resolved         the library itself, but for MPI_Init and its kin
 *   inert for good   the library itself
 *   another MPI      that library itself, whatever its functions take
 *   mode ghost       the wrappers (mpi_wrappers.c)
 *   mode offload     the way to the offload thread (mpi_offload.c)
 *   mode thread      the library, inside the gate (mpi_progress.c)
 *   fronts           layers in front of one of these: that which measures time
 *                    (mpi_profile.c), and others
 *
 * A tool behind us keeps its place: our MPI_X jumps to the tool's MPI_X, and
 * our PMPI_X to its PMPI_X if it has one. The work happens when the tool calls
 * PMPI_X, or what it found behind itself, which is the inner entry. */
#ifndef ASPEN_RUNTIME_MPI_ENTRY_H
#define ASPEN_RUNTIME_MPI_ENTRY_H

#include "real.h"

#include <stdarg.h> /* of the generated MPI_Pcontrol */

#define ASPX_EXPORT __attribute__((visibility("default")))

extern struct aspx_real aspx_entry_mpi, aspx_entry_pmpi, aspx_entry_inner;

/* The inner entries themselves. */
extern const struct aspx_real aspx_inner;

/* Called by the first_ stub of this function: fill the tables. Ends the process
 * when there is an MPICH, but an older one that lacks the function: it keeps
 * the stub. Threads: any, concurrently. */
void aspx_entry_resolve(size_t call);

/* Called once, in the first call of MPI, where there is a layout but the
 * process has another MPI than MPICH: every call goes through to it. Defined by
 * world/bypass.c, which knows what that means for the job. */
struct aspx_mpi_library;
void aspx_entry_other_mpi(const struct aspx_mpi_library *other);

/* Likewise, where it has an MPICH and another MPI beside it: every call goes to
 * the MPICH. */
void aspx_entry_second_mpi(const struct aspx_mpi_library *first,
                           const struct aspx_mpi_library *second);

/* Send every call to the library from now on. */
void aspx_entry_inert(void);

/* The same at the end of a program with a hidden MPI_Init, but for the calls
 * that would tell of it. */
void aspx_entry_end(void);

/* Send every call to its wrapper from now on. Call while no other thread of the
 * program can be inside MPI: in MPI_Init. */
void aspx_entry_activate(void);

/* What stands in front of all that, from the inside out. Each changes `room`
 * into itself in front of the table and returns it, or returns the table. */
typedef const struct aspx_real *aspx_entry_front_f(
    const struct aspx_real *table, struct aspx_real *room);
enum aspx_front {
    ASPX_FRONT_PACK,    /* messages that threads pack */
    ASPX_FRONT_COLL,    /* collectives by algorithms of our own */
    ASPX_FRONT_PROFILE, /* measures time */
    ASPX_FRONTS
};
extern aspx_entry_front_f *aspx_entry_fronts[ASPX_FRONTS]; /* NULL: none */

/* For a front: the table that it jumps through becomes this one, pointer by
 * pointer, as other threads may be jumping through it. */
void aspx_entry_copy(struct aspx_real *to, const struct aspx_real *from);

/* Send every call where this table says, from now on. As above. */
void aspx_entry_use(const struct aspx_real *table);

/* Generated (mpi_wrappers.c): the active table; the one before MPI_Init, which
 * is the library and the handlers that start us; and the one after the end of a
 * program with a hidden MPI_Init. */
void aspx_wrappers_fill(struct aspx_real *table);
void aspx_wrappers_fill_start(struct aspx_real *table);
void aspx_wrappers_fill_end(struct aspx_real *table);

#endif
