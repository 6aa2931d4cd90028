/* SPDX-License-Identifier: BSD-3-Clause */
/* One accumulate, and its way to one ghost or to several. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_ACC_H
#define ASPEN_RUNTIME_CASPER_RMA_ACC_H

#include "route.h"

struct aspx_acc {
    struct aspx_buffer origin;
    struct aspx_buffer result; /* type MPI_DATATYPE_NULL: nothing is fetched */
    struct aspx_target_access target;
    MPI_Op op;
};

/* Issue it where the route leads. Returns MPI's code. */
int aspx_acc_send(const struct aspx_acc *acc, const struct aspx_route *to,
                  MPI_Request *request);

/* Cut it into parts that belong to one ghost each, and issue these. With a
 * request it waits until they are complete. Returns the code for the program.
 * Dissertation section 4.5.3.2. */
int aspx_acc_split(const struct aspx_acc *acc, struct aspx_route *to,
                   MPI_Request *request);

#endif
