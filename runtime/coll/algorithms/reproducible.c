/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls must associate in one way, and what does; see reproducible.h. */
#include "config.h"

#include "reproducible.h"

#include "executor.h"

#include "runtime/coll/machine/settings.h"

bool aspx_coll_is_reproducible(const struct asp_tune_args *args)
{
    return aspx_coll_settings.reproducible &&
           args->reduction != ASP_TUNE_NO_REDUCTION && args->floating;
}

bool aspx_coll_keeps_order(const struct asp_tune_args *args,
                           const struct aspx_coll_config *config)
{
    return config->executor->keeps_order &&
           config->executor->keeps_order(args, config);
}

void aspx_coll_reproducible_config(const struct aspx_coll_comm *comm,
                                   const struct asp_tune_args *args,
                                   struct aspx_coll_config *config_p)
{
    for (size_t i = 0; aspx_coll_executors[i]; i++) {
        const struct aspx_coll_executor *executor = aspx_coll_executors[i];

        *config_p = (struct aspx_coll_config){.executor = executor,
                                              .op = args->op};
        if (executor->reproducible &&
            executor->reproducible(comm, args, config_p))
            return;
    }
}
