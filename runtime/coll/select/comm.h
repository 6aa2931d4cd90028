/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of what is known of a communicator (state.h). */
#ifndef ASPEN_RUNTIME_COLL_SELECT_COMM_H
#define ASPEN_RUNTIME_COLL_SELECT_COMM_H

#include "runtime/coll/comm/state.h"

/* The state of a communicator, made when it is first seen. NULL: there is no
 * memory, or that is no communicator. Cost: a hash probe. */
struct aspx_coll_comm *aspx_coll_comm_of(MPI_Comm comm);

/* A call before tuning is MPI's, and one more of those that activate it. Not so
 * one that MPI refuses for its arguments: nothing moved, the other ranks still
 * wait for this one's, and they count it once. Returns what MPI does. */
int aspx_coll_comm_called(struct aspx_coll_comm *comm,
                          const struct aspx_coll_call *call);

/* The same of a call that was counted, on this communicator of the program's,
 * when MPI has returned rc: an error handler may have freed it. Returns rc. */
int aspx_coll_comm_returned(MPI_Comm handle, int rc);

/* Make what tuning needs; the state is TUNED or OFF afterwards. Collective. */
void aspx_coll_comm_activate(struct aspx_coll_comm *comm);

/* The program frees it, by MPI_Comm_free or MPI_Comm_disconnect. From then on
 * calls on it are MPI's, as those of functions that MPI calls to delete its
 * attributes: at once, or later, where messages are under way. When MPI
 * refuses, it is as before. Returns what MPI does. Threads: any. */
int aspx_coll_comm_free(MPI_Comm *handle, int (*mpi)(MPI_Comm *handle));

/* MPI has made a communicator, if rc says so: what was known of its handle was
 * of one that is gone. Returns rc. Threads: any. */
int aspx_coll_comm_created(int rc, const MPI_Comm *handle);

/* It stays MPI's from now on. Collective. */
void aspx_coll_comm_veto(struct aspx_coll_comm *comm);

/* MPI ends: free all that is MPI's, and count what there was (report.h). */
void aspx_coll_comm_stop(void);

#endif
