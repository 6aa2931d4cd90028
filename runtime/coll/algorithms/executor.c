/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of what carries collectives out, and the texts of all ways. */
#include "config.h"

#include "executor.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

const struct aspx_coll_executor *const aspx_coll_executors[] = {
    &aspx_coll_by_memory, &aspx_coll_by_levels, &aspx_coll_by_messages,
    &aspx_coll_by_mpich,  &aspx_coll_by_mpi,    NULL,
};

const char *aspx_coll_way_text(const struct aspx_coll_way *way, char *buf)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASPX_COLL_WAY_TEXT);

    way->executor->text(way, &sb);
    return buf;
}

int aspx_coll_way_bad(const char *text, struct asp_err *err)
{
    return asp_errf(err, EINVAL, "no way to carry out a collective: \"%.100s\"",
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

int aspx_coll_way_parse(enum asp_coll_op op, const char *text,
                        struct aspx_coll_way *way_p, struct asp_err *err)
{
    struct aspx_coll_way way = {.executor = reader_of(op, text), .op = op};

    *way_p = (struct aspx_coll_way){.executor = &aspx_coll_by_mpi, .op = op};
    if (strlen(text) >= ASPX_COLL_WAY_TEXT)
        return aspx_coll_way_bad(text, err);
    if (way.executor->parse && way.executor->parse(text, &way, err) != 0)
        return -1;
    *way_p = way;
    return 0;
}

int aspx_coll_way_check(enum asp_coll_op op, const char *text,
                        struct asp_err *err)
{
    struct aspx_coll_way way;

    return aspx_coll_way_parse(op, text, &way, err);
}

bool aspx_coll_way_is_of(const struct aspx_coll_way *way, const char *family)
{
    const struct aspx_coll_executor *executor = way->executor;

    return (executor->family && strcmp(executor->family, family) == 0) ||
           (executor->is_of && executor->is_of(way, family));
}
