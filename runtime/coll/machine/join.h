/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks of the program must stand in front of its collectives, with the
 * same settings and the same table: one that does not would wait for messages
 * that nobody sends. */
#ifndef ASPEN_RUNTIME_COLL_MACHINE_JOIN_H
#define ASPEN_RUNTIME_COLL_MACHINE_JOIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Is this number the same on all ranks? All get the same answer. Collective
 * over MPI_COMM_WORLD, when MPI runs. Ends the job, with a message, when some
 * rank does not take part within init.timeout_s. */
bool aspx_coll_are_alike(uint64_t number);

/* What to do while a request is waited for. */
enum aspx_coll_patience {
    ASPX_COLL_YIELD, /* others may need the CPU to get there */
    ASPX_COLL_POLL,  /* it is there in microseconds */
    ASPX_COLL_NAP,   /* others measure, and need the CPU for themselves */
};

/* Wait for a request of ours whose other side is in another rank. Ends the job
 * after init.timeout_s, as above. */
void aspx_coll_wait(MPI_Request *request, enum aspx_coll_patience patience);

_Noreturn void aspx_coll_give_up(void);

/* Has each rank of a communicator of ours what it needs? Collective. */
bool aspx_coll_all_have(MPI_Comm own, bool have);

bool aspx_coll_is_first(void); /* rank 0 of MPI_COMM_WORLD */

#endif
