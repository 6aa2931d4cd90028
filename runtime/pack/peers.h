/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks take messages apart by Aspen's engine. MPICH's own cannot unpack
 * a part of a number, so what is packed here may only be sent as bytes to ranks
 * that have ours.
 *
 * All ranks exchange the addresses of their UCX workers in MPI_Init. UCX does
 * not look behind the end of one, which it finds by itself; there a rank with
 * Aspen's engine leaves a mark. So it is agreed without a message of ours, and
 * a rank that has no Aspen takes part by having left none. */
#ifndef ASPEN_RUNTIME_PACK_PEERS_H
#define ASPEN_RUNTIME_PACK_PEERS_H

#include "runtime/mpi/real.h"

#include <mpi.h>
#include <stdbool.h>

/* Before MPI_Init, once messages of this rank are Aspen's to unpack
 * (messages.h): mark its address, and look at those of the others. */
void aspx_pack_peers_prepare(void);

/* After MPI_Init, once: see who has it. */
void aspx_pack_peers_start(void);

/* Has every process that this one can send to the mark? Ghosts, which receive
 * no message of the program, do not count. False also where this MPI exchanges
 * addresses in an unknown way, and once processes of other jobs have come
 * (spawned, connected). Threads: any, also inside MPI. */
bool aspx_pack_peers_all(void);

/* Has every member of this communicator? The answer is kept in an attribute,
 * where there are others.
 *   mpi   the table of calls to ask by
 * Threads: any that may call MPI. */
bool aspx_pack_peers_only(const struct aspx_real *mpi, MPI_Comm comm);

#endif
