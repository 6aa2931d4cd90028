/* SPDX-License-Identifier: BSD-3-Clause */
/* What is traced of collectives, and was not told before; see trace.h. */
#include "config.h"

#include "trace.h"

#include "runtime/coll/machine/settings.h"

#include "runtime/base/log.h"

#include <stdlib.h>

/* Of a communicator: each of its searches tries a few candidates, and sizes
 * that are not searched have one line. */
enum { LINES = 2 * ASP_DECIDE_KEYS * (ASP_DECIDE_FEW + 1) };

struct aspx_coll_told {
    bool tries; /* the call that goes on */
    uint32_t n;
    struct {
        uint32_t call; /* word of the key */
        bool tried;    /* else chosen */
        const void
            *by; /* a configuration; of a posted operation, why it is so */
    } line[LINES];
};

void aspx_coll_trace_start(struct aspx_coll_comm *comm)
{
    if (!aspx_log_on(ASPX_LOG_TRACE) || comm->rank != 0)
        return;
    comm->told = calloc(1, sizeof(*comm->told));
    aspx_trace("communicator of %u ranks on %u nodes: its collectives are %s "
               "from call %u on; %s",
               comm->size, comm->nnodes,
               aspx_coll_settings.force ? "forced" : "decided", comm->calls + 1,
               comm->area ? "ranks of a node share memory"
                          : "no memory of the node");
}

static bool was_told(struct aspx_coll_told *told, uint32_t call, bool tried,
                     const void *by)
{
    for (uint32_t i = 0; i < told->n; i++)
        if (told->line[i].call == call && told->line[i].by == by &&
            told->line[i].tried == tried)
            return true;
    if (told->n == LINES)
        return true;
    told->line[told->n].call = call;
    told->line[told->n].tried = tried;
    told->line[told->n++].by = by;
    return false;
}

/* Where the algorithm is from. */
static const char *source(const struct aspx_coll_comm *comm,
                          const struct aspx_coll_config *config)
{
    if (aspx_coll_settings.force)
        return "coll.force";
    if (!config)
        return "no other is known or proved to be faster";
    return config >= comm->configs && config < comm->configs + comm->nconfigs
               ? "searched"
               : "coll.table";
}

static void tell(struct aspx_coll_comm *comm, const struct asp_tune_args *args,
                 bool tried, const struct aspx_coll_config *config)
{
    const struct asp_tune_key key = {comm->shape, asp_tune_call(args)};
    char text[ASPX_COLL_CONFIG_TEXT], name[ASP_TUNE_KEY_MAX];

    if (was_told(comm->told, key.call, tried, config))
        return;
    aspx_trace("%s: %s %s (%s)", asp_tune_key_print(&key, name),
               tried ? "tries" : "carried out by",
               config ? aspx_coll_config_text(config, text)
                      : "MPI's own choice",
               tried ? "search" : source(comm, config));
}

void aspx_coll_trace_posted(struct aspx_coll_comm *comm, enum asp_coll_op op,
                            const struct asp_tune_args *args, const char *by)
{
    const struct asp_tune_key key = {comm->shape,
                                     args ? asp_tune_call(args) : op};
    char name[ASP_TUNE_KEY_MAX];

    if (!was_told(comm->told, key.call, false, by))
        aspx_trace("posted %s: carried out by %s",
                   args ? asp_tune_key_print(&key, name) : asp_coll_op_name(op),
                   by);
}

void aspx_coll_trace_begin(struct aspx_coll_comm *comm,
                           const struct asp_tune_args *args,
                           const struct asp_decision *decision,
                           const struct aspx_coll_config *config)
{
    comm->told->tries = decision->from == ASP_DECIDE_FROM_SEARCH;
    if (comm->told->tries)
        tell(comm, args, true, config);
}

/* The next call shall not be taken for one that was looked at. */
void aspx_coll_trace_end(struct aspx_coll_comm *comm)
{
    comm->told->tries = false;
    comm->fitted.config = NULL;
}

void aspx_coll_trace_chosen(struct aspx_coll_comm *comm,
                            const struct asp_tune_args *args,
                            const struct aspx_coll_config *config)
{
    if (!comm->told->tries)
        tell(comm, args, false, config);
}
