/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may say of its communicators, and ask: info keys.
 *
 *   MPI_Comm_set_info  aspen_coll=off   its collectives stay MPI's from now on;
 *                                       on any rank counts for all
 *   MPI_Comm_get_info  aspen_coll_open  how many searches have not come to a
 *                                       choice; there where it is tuned */
#ifndef ASPEN_RUNTIME_COLL_FRONT_INFO_H
#define ASPEN_RUNTIME_COLL_FRONT_INFO_H

#include <mpi.h>

int aspx_coll_set_info(MPI_Comm comm, MPI_Info info);
int aspx_coll_get_info(MPI_Comm comm, MPI_Info *info_p);

#endif
