/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a node (runtime/coll/node), inside of several nodes, too. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_SHARED_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_SHARED_H

#include "execute_call.h"
#include "list.h"

#include "runtime/coll/comm/coll_config.h"
#include "common/base/strbuf.h"
#include "runtime/coll/node/mpi_reduce.h"

/* Whose texts begin "OP:shared": FAMILY names those of several nodes, too. */
#define ASPX_COLL_SHARED_FAMILY "shared"

/* "bcast:shared,k=4,segment=4096,wait=sleep". */
void aspx_coll_text_of_memory(const struct aspx_coll_config *config,
                              struct asp_strbuf *sb);

/* What is behind "OP:shared", or NULL: the text is another one. */
const char *aspx_coll_after_shared(enum asp_coll_op op, const char *text);

/* Fill in config->shared from it, len bytes. Returns whether it is one. */
bool aspx_coll_parse_memory(const char *text, size_t len,
                            struct aspx_coll_config *config);

/* A tree that is flat, with waits as ranks have CPUs here. */
struct aspx_node_config aspx_coll_flat_memory(void);

/* How long that part of a call takes in a node: flags up or down a tree, and
 * the bytes once for each rank. */
double aspx_coll_predict_memory(const struct aspx_coll_list *list,
                                const struct aspx_coll_config *config);

/* How the node's memory reduces for this call.
 *   how  memory for it, as long as the operator */
void aspx_coll_operator(const struct aspx_coll_job *job,
                        struct aspx_node_mpi_op *how,
                        struct aspx_node_operator *operator);

/* What is sent: with MPI_IN_PLACE it is in the receive buffer. */
static inline const void *aspx_coll_input(const struct aspx_coll_job *job)
{
    return job->in_place ? job->out : job->in;
}

#endif
