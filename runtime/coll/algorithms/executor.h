/* SPDX-License-Identifier: BSD-3-Clause */
/* What carries collectives out: an object for each kind. Selection asks all of
 * them in the order of a list, and never which one a configuration is of.
 *
 *   mpi_choice     MPI's own choice
 *   shared_memory  all ranks are on one node: its memory
 *   hierarchical   memory inside nodes, messages between their leaders
 *   messages       a schedule of messages
 *   mpich          an algorithm of MPICH's own, that we choose
 *
 * All of it depends on what all ranks have alike, so they do alike. Threads: as
 * the communicator's; texts: any. */
#ifndef ASPEN_RUNTIME_COLL_ALGORITHMS_EXECUTOR_H
#define ASPEN_RUNTIME_COLL_ALGORITHMS_EXECUTOR_H

#include "list.h"

#include "runtime/coll/comm/coll_config.h"
#include "common/base/strbuf.h"

struct aspx_coll_call;

struct aspx_coll_executor {
    const char *family; /* by which coll.force names all its configurations */
    /* The configurations of one algorithm; NULL: only all are named. */
    bool (*is_of)(const struct aspx_coll_config *config, const char *family);

    void (*text)(const struct aspx_coll_config *config, struct asp_strbuf *sb);
    /* Is a text one of its own? NULL: each that is nobody else's. */
    bool (*reads)(enum asp_coll_op op, const char *text);
    /* Fill in the configuration's own part, if it has one (else NULL). Returns
     * 0, or -1 with the reason. */
    int (*parse)(const char *text, struct aspx_coll_config *config,
                 struct asp_err *err);

    /* Add what could carry a call out to its list; NULL: nothing. */
    void (*list)(struct aspx_coll_list *list);
    /* How long a configuration takes by the model, us; 1 if it does not know.
     * Only of configurations that stand for MPI's own choice. */
    double (*predict)(const struct aspx_coll_list *list,
                      const struct aspx_coll_config *config);
    /* Can it carry out this call? What is in its list can. NULL: any.
     *   element_size  bytes of an element of a reduction, else 1 */
    bool (*fits)(const struct aspx_coll_comm *comm,
                 const struct asp_tune_args *args, size_t element_size,
                 const struct aspx_coll_config *config);

    /* For coll.reproducible (reproducible.h): does a configuration associate as
     * is demanded, and a configuration that does and fits every call, if there
     * is one here. NULL: none. */
    bool (*keeps_order)(const struct asp_tune_args *args,
                        const struct aspx_coll_config *config);
    bool (*reproducible)(const struct aspx_coll_comm *comm,
                         const struct asp_tune_args *args,
                         struct aspx_coll_config *config_p);

    /* Carry it out. Returns what the call is to return. */
    int (*execute)(struct aspx_coll_comm *comm,
                   const struct aspx_coll_call *call,
                   const struct asp_tune_args *args,
                   const struct aspx_coll_config *config);
};

/* All, in the order in which they are asked; behind them NULL. What the model
 * thinks equal is in this order: schedules of ours are kept from one call to
 * the next, MPICH's are not. */
extern const struct aspx_coll_executor *const aspx_coll_executors[];

extern const struct aspx_coll_executor aspx_coll_mpi_choice,
    aspx_coll_shared_memory, aspx_coll_hierarchical, aspx_coll_messages,
    aspx_coll_mpich;

#endif
