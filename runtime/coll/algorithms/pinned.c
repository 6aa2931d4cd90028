/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls must associate in one way, and what does; see pinned.h. */
#include "config.h"

#include "pinned.h"

#include "executor.h"

#include "runtime/coll/machine/settings.h"

bool aspx_coll_is_pinned(const struct asp_tune_args *args)
{
    return aspx_coll_settings.reproducible && args->fold != ASP_TUNE_NO_FOLD &&
           args->floating;
}

bool aspx_coll_keeps_order(const struct asp_tune_args *args,
                           const struct aspx_coll_way *way)
{
    return way->executor->keeps_order && way->executor->keeps_order(args, way);
}

void aspx_coll_pinned_way(const struct aspx_coll_comm *comm,
                          const struct asp_tune_args *args,
                          struct aspx_coll_way *way_p)
{
    for (size_t i = 0; aspx_coll_executors[i]; i++) {
        const struct aspx_coll_executor *executor = aspx_coll_executors[i];

        *way_p = (struct aspx_coll_way){.executor = executor, .op = args->op};
        if (executor->pinned && executor->pinned(comm, args, way_p))
            return;
    }
}
