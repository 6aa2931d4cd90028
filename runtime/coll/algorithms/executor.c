/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of what carries collectives out, and the texts of all
 * configurations. */
#include "config.h"

#include "executor.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

const struct aspx_coll_executor *const aspx_coll_executors[] = {
    &aspx_coll_shared_memory, &aspx_coll_hierarchical, &aspx_coll_messages,
    &aspx_coll_mpich,         &aspx_coll_mpi_choice,   NULL,
};

const char *aspx_coll_config_text(const struct aspx_coll_config *config,
                                  char *buf)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASPX_COLL_CONFIG_TEXT);

    config->executor->text(config, &sb);
    return buf;
}

int aspx_coll_config_bad(const char *text, struct asp_err *err)
{
    return asp_errf(err, EINVAL, "no algorithm of a collective: \"%.100s\"",
                    text);
}

/* What nobody knows is a schedule, whose reader says what is wrong with it. */
static const struct aspx_coll_executor *reader_of(enum asp_coll_op op,
                                                  const char *text)
{
    const struct aspx_coll_executor *rest = NULL;

    for (size_t i = 0; aspx_coll_executors[i]; i++) {
        const struct aspx_coll_executor *executor = aspx_coll_executors[i];

        if (!executor->reads)
            rest = executor;
        else if (executor->reads(op, text))
            return executor;
    }
    return rest;
}

int aspx_coll_config_parse(enum asp_coll_op op, const char *text,
                           struct aspx_coll_config *config_p,
                           struct asp_err *err)
{
    struct aspx_coll_config config = {.executor = reader_of(op, text),
                                      .op = op};

    *config_p = (struct aspx_coll_config){.executor = &aspx_coll_mpi_choice,
                                          .op = op};
    if (strlen(text) >= ASPX_COLL_CONFIG_TEXT)
        return aspx_coll_config_bad(text, err);
    if (config.executor->parse &&
        config.executor->parse(text, &config, err) != 0)
        return -1;
    *config_p = config;
    return 0;
}

int aspx_coll_config_check(enum asp_coll_op op, const char *text,
                           struct asp_err *err)
{
    struct aspx_coll_config config;

    return aspx_coll_config_parse(op, text, &config, err);
}

bool aspx_coll_config_is_of(const struct aspx_coll_config *config,
                            const char *family)
{
    const struct aspx_coll_executor *executor = config->executor;

    return (executor->family && strcmp(executor->family, family) == 0) ||
           (executor->is_of && executor->is_of(config, family));
}
