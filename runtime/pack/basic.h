/* SPDX-License-Identifier: BSD-3-Clause */
/* Types that MPI has itself. */
#ifndef ASPEN_RUNTIME_PACK_BASIC_H
#define ASPEN_RUNTIME_PACK_BASIC_H

#include "node.h"

#include <mpi.h>

/* A type that was not made of others. False: it is none that Aspen knows the
 * bytes of, or the region is full. */
bool aspx_basic_place(struct aspx_region *region, MPI_Datatype type,
                      struct aspx_placed *placed);

#endif
