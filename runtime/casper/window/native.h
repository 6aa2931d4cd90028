/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that MPI serves by itself: why that is so, and a mistake of MPICH's
 * about where they begin, put right.
 *
 * MPICH 4.0.2 over UCX takes for the base of a created or allocated window what
 * ucp_mem_query() says of the registered memory: the address rounded down to 16
 * bytes or, within memory that is registered already, the beginning of that.
 * All operations go astray by the difference, those of the process to itself
 * too, and write over what lies before the window. MPI_WIN_BASE tells, so the
 * window is made once more with displacements in bytes, to which the difference
 * is added. (That holds for builds like Debian's, whose windows know no other
 * way than UCX: with shared memory of MPICH's own it would be two mistakes.) */
#ifndef ASPEN_RUNTIME_CASPER_WINDOW_NATIVE_H
#define ASPEN_RUNTIME_CASPER_WINDOW_NATIVE_H

#include "request.h"

#include "counts.h"

#include <mpi.h>
#include <stdint.h>

/* MPI is about to make the window as requested. MPICH cuts values of the info
 * at their commas when it reads them, so what is left does not do for a second
 * one: request->kept_info is a copy. */
void aspx_native_begin(struct aspx_win_request *request);

/* Bytes from what MPI takes for the base of this process's part to the base
 * that was requested: 0, or it goes astray. */
int64_t aspx_native_shift(const struct aspx_win_request *request, MPI_Win win);

/* MPI has made *win as requested. Make it anew if it goes astray in some
 * process; request->base may be another one then. Returns MPI's code.
 * Collective over request->comm, when MPI has succeeded. */
int aspx_native_mend(struct aspx_win_request *request, MPI_Win *win);

/* MPI has made a window with this handle: another one that had it has been
 * freed, maybe by a thread that has not come to forget it. Threads: any. */
void aspx_native_begin_anew(MPI_Win win);

/* The handle for MPI: one that it refuses, in place of a window that MPI has
 * but that the program was not given, as one that Aspen has for itself.
 * Threads: any. */
MPI_Win aspx_native_of(MPI_Win win);

/* Remember why a window is MPI's own, and count it. `serial`: in the registry.
 */
void aspx_native_note(MPI_Win win, enum aspx_handling why, uint32_t serial);

/* Forget what is known of *win if MPI frees it: MPI_Win_free(). */
int aspx_native_free(MPI_Win *win);

/* Serial in the registry of a window that is MPI's own; 0 when it has none. */
uint32_t aspx_native_serial(MPI_Win win);

/* Count an operation on a window that is MPI's own. Returns the displacement
 * that leads MPI to where the program means. Takes handles of anything.
 * Threads: any. */
MPI_Aint aspx_native_disp(MPI_Win win, enum aspx_call call, int rank,
                          MPI_Aint disp);

/* What MPI_Win_get_attr shall answer for MPI_WIN_BASE and MPI_WIN_DISP_UNIT of
 * a window that was made anew. NULL: what MPI says. */
const void *aspx_native_attr(MPI_Win win, int keyval);

#endif
