/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of what is known of a communicator (state.h). */
#ifndef ASPEN_RUNTIME_COLL_COMM_H
#define ASPEN_RUNTIME_COLL_COMM_H

#include "state.h"

/* The state of a communicator, made when it is first seen. NULL: there is no
 * memory, or that is no communicator. Cost: a hash probe. */
struct aspx_coll_comm *aspx_coll_comm_of(MPI_Comm comm);

/* Make what tuning needs; the state is TUNED or OFF afterwards. Collective. */
void aspx_coll_comm_earn(struct aspx_coll_comm *comm);

/* The program frees it. Collective. */
void aspx_coll_comm_forget(MPI_Comm comm);

/* It stays MPI's from now on. Collective. */
void aspx_coll_comm_veto(struct aspx_coll_comm *comm);

/* MPI ends: free all that is MPI's, and count what there was (report.h). */
void aspx_coll_comm_stop(void);

/* At least so many bytes; NULL: no memory. What was in it is lost. */
void *aspx_coll_room(struct aspx_coll_room *room, size_t bytes);

#endif
