/* SPDX-License-Identifier: BSD-3-Clause */
/* How a collective can be carried out here: MPI's own choice, a schedule of
 * messages, memory of the node, or the two together. Each configuration has a
 * text, which stands in tables:
 *
 *   default                           MPI's own choice
 *   bcast:tree=kary,k=4               a schedule (common/coll/build/index.h)
 *   bcast:shared,k=4,wait=sleep       all ranks on one node: its memory
 *   barrier:shared,k=4,up=push,down=pull,wait=spin
 *   allreduce:shared,k=4,fold=tree,wait=sleep+allreduce:exchange,k=2
 *                                     memory inside nodes, and between their
 *                                     leaders the schedule behind the plus
 *   bcast:mpich=nb-tree,k=4           an algorithm of MPICH's own (native.h) */
#ifndef ASPEN_RUNTIME_COLL_COMM_COLL_CONFIG_H
#define ASPEN_RUNTIME_COLL_COMM_COLL_CONFIG_H

#include "runtime/coll/mpich/native.h"

#include "runtime/coll/node/node.h"

#include "common/base/err.h"
#include "common/coll/build/index.h"
#include "common/tune/key.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_coll_executor; /* executor.h */

struct aspx_coll_config {
    const struct aspx_coll_executor *executor;
    enum asp_coll_op op;
    struct asp_coll_config messages;
    struct aspx_node_config shared;
    struct aspx_native_config native;
};

enum { ASPX_COLL_CONFIG_TEXT = 192 };

/* The texts of all configurations: executor.c. This one, into buf of
 * ASPX_COLL_CONFIG_TEXT bytes; returns buf. */
const char *aspx_coll_config_text(const struct aspx_coll_config *config,
                                  char *buf);

/* The reverse. Returns 0, or -1 with the reason; the configuration is then
 * MPI's own choice. */
int aspx_coll_config_parse(enum asp_coll_op op, const char *text,
                           struct aspx_coll_config *config_p,
                           struct asp_err *err);

/* The same as asp_tune_config_check_f. */
int aspx_coll_config_check(enum asp_coll_op op, const char *text,
                           struct asp_err *err);

/* "tree", "shared", "mpich", "mpich-nb-tree": by which a family of algorithms
 * is forced. */
bool aspx_coll_config_is_of(const struct aspx_coll_config *config,
                            const char *family);

/* An error: the text is none. Returns -1. */
int aspx_coll_config_bad(const char *text, struct asp_err *err);

#endif
