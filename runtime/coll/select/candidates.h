/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations that a call could take, in the order of the model. */
#ifndef ASPEN_RUNTIME_COLL_SELECT_CANDIDATES_H
#define ASPEN_RUNTIME_COLL_SELECT_CANDIDATES_H

#include "runtime/coll/comm/state.h"

/* The same as asp_decide_order_f; data is a struct aspx_coll_comm, into whose
 * configurations the numbers lead. */
uint32_t aspx_coll_order(void *data, const struct asp_tune_shape *shape,
                         const struct asp_tune_args *args,
                         struct asp_search_candidate *out);

/* What the model says of an agreement on what was measured: an Allreduce by
 * MPI's own choice, in us. The same on all ranks. */
double aspx_coll_agree_us(struct aspx_coll_comm *comm);

#endif
