/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as MPI judges them in the arguments of a call. For built-in types
 * no call of MPI. */
#ifndef ASPEN_RUNTIME_COLL_COMM_TYPES_H
#define ASPEN_RUNTIME_COLL_COMM_TYPES_H

#include "state.h"

#include <mpi.h>
#include <stdbool.h>

/* Will MPI have it in a message: is it a type, and committed? Where comm is not
 * active yet, only the first of these. */
bool aspx_coll_is_type(const struct aspx_coll_comm *comm, MPI_Datatype type);

/* May data of it lie at MPI_BOTTOM? MPICH (4.0 to 5.0) takes NULL for missing
 * where the type's true lower bound is 0. */
bool aspx_coll_has_address(MPI_Datatype type);

#endif
