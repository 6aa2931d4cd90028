/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.reproducible=yes: reductions of floating-point numbers associate in one
 * way, whatever is chosen, tried out or cut into segments, and wherever ranks
 * are:
 *
 *   reduce, allreduce, reduce_scatter(_block)   a0 op (a1 op (a2 op ...))
 *   scan, exscan                                ((a0 op a1) op a2) op ...
 *
 * Only configurations that do so are carried out: memory of a node that is told
 * to (runtime/coll/node, `reproducible`), and chains of messages. MPI's own
 * choice is none of them, so a chain, or the node's memory, stands for the
 * default, in the first calls on a communicator, too. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_REPRODUCIBLE_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_REPRODUCIBLE_H

#include "runtime/coll/comm/state.h"

#include "common/tune/key.h"

#include <stdbool.h>

/* Must this call associate so? The same on all ranks. */
bool aspx_coll_is_reproducible(const struct asp_tune_args *args);

/* Does a configuration associate so? */
bool aspx_coll_keeps_order(const struct asp_tune_args *args,
                           const struct aspx_coll_config *config);

/* What stands for MPI's own choice: fits every call that must be reproducible.
 */
void aspx_coll_reproducible_config(const struct aspx_coll_comm *comm,
                                   const struct asp_tune_args *args,
                                   struct aspx_coll_config *config_p);

#endif
