/* SPDX-License-Identifier: BSD-3-Clause */
/* A named machine comes first; numbers of the table, then of the probe, take
 * the place of its own. The model without the wait for shared CPUs is kept
 * beside it. */
#include "config.h"

#include "model.h"

#include "join.h"
#include "machine.h"
#include "settings.h"

#include "runtime/coll/call/call.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"

#include <string.h>

/* How long a message waits at most for a process that has lost its CPU: a slice
 * of the Linux scheduler, in ps. */
#define SLICE_PS (INT64_C(4) * 1000 * 1000 * 1000)

static struct aspx_coll_model model;

const char *aspx_coll_source_name(enum aspx_coll_source source)
{
    switch (source) {
    case ASPX_COLL_FROM_TABLE:
        return "coll.table";
    case ASPX_COLL_FROM_PROBE:
        return "probe";
    default:
        return model.machine.name;
    }
}

/* By what rank 0 knows of the network. */
static void choose_named(void)
{
    uint32_t tcp = strstr(aspx_coll_machine()->fabric, "tcp") != NULL;

    aspx_coll_behind.MPI_Bcast(&tcp, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    model.machine = *asp_coll_machine_find(tcp ? "tcp" : "infiniband");
}

static void take(const struct asp_tune_links *links,
                 enum aspx_coll_source source)
{
    asp_tune_links_merge(&model.links, links);
    if (links->has_inside) {
        model.machine.inside = links->inside;
        model.inside = source;
    }
    if (links->has_between) {
        model.machine.between = links->between;
        model.between = source;
    }
    if (links->has_core) {
        model.machine.copy = links->core.copy;
        model.machine.reduce = links->core.reduce;
    }
}

/* Is something to be measured that is not known? A sweep measures anew. */
static bool is_wanted(const struct aspx_coll_pairs *pairs)
{
    const struct asp_tune_links *known = &model.links;

    if (aspx_coll_settings.mode != ASP_COLL_MODE_TUNE ||
        aspx_coll_settings.probe_us <= 0)
        return false;
    return aspx_coll_settings.explicit_effort ||
           (pairs->inside.first >= 0 && !known->has_inside) ||
           (pairs->between.first >= 0 && !known->has_between);
}

static void say_link(const char *where, const struct asp_coll_link *link)
{
    aspx_log(ASPX_LOG_NOTICE,
             "links %s: L %.3f us, o %.3f us, g %.3f us, G %.3f ns a "
             "byte",
             where, (double) link->latency * 1e-6,
             (double) link->overhead * 1e-6, (double) link->gap * 1e-6,
             (double) link->byte * 1e-3);
}

static void say(const struct asp_tune_links *links)
{
    if (!aspx_coll_settings.explicit_effort ||
        !aspx_coll_settings.shows_links || !aspx_coll_is_first())
        return;
    if (links->has_inside)
        say_link("inside nodes", &links->inside);
    if (links->has_between)
        say_link("between nodes", &links->between);
    if ((aspx_coll_pairs()->inside.first >= 0 && !links->has_inside) ||
        (aspx_coll_pairs()->between.first >= 0 && !links->has_between))
        aspx_log(ASPX_LOG_WARNING,
                 "links: other programs kept the CPUs busy, and "
                 "what was measured is of no use: run it again when "
                 "they are idle");
}

static void probe(const struct aspx_coll_pairs *pairs)
{
    uint64_t begun = aspx_clock_ns(CLOCK_MONOTONIC);
    struct asp_tune_links links;

    aspx_coll_probe(pairs, aspx_coll_settings.probe_us,
                    aspx_coll_settings.explicit_effort, &links);
    model.probe_us = 1e-3 * (double) (aspx_clock_ns(CLOCK_MONOTONIC) - begun);
    take(&links, ASPX_COLL_FROM_PROBE);
    say(&links);
}

void aspx_coll_model_find(const struct asp_tune_table *table)
{
    const struct aspx_coll_pairs *pairs = aspx_coll_pairs();

    memset(&model, 0, sizeof(model));
    choose_named();
    if (table)
        take(&table->links, ASPX_COLL_FROM_TABLE);
    if (is_wanted(pairs))
        probe(pairs);
    model.bare = model.machine;
    if (aspx_coll_shares_cpus()) {
        model.machine.inside.latency += SLICE_PS;
        model.machine.between.latency += SLICE_PS;
    }
}

const struct aspx_coll_model *aspx_coll_model_found(void)
{
    return &model;
}

const struct asp_coll_machine *aspx_coll_model(void)
{
    return &model.machine;
}
