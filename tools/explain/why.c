/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a ghost sits where it does, read off the finished layout: the rules of
 * common/plan/plan.h, as far as they decided this place. */
#include "config.h"

#include "picture.h"

#include "common/base/strbuf.h"

#include <inttypes.h>

static uint32_t first_ghost(const struct asp_layout *layout)
{
    return layout->ntasks - layout->ghosts_per_node;
}

/* Cores of the step in the domain, from core number `from` on, that no ghost
 * sits on. */
static uint32_t cores_left(const struct asp_topo *topo,
                           const struct asp_layout *layout, uint32_t numa,
                           uint32_t from)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++) {
        const struct asp_core *core = &topo->cores[c];
        bool ghost = false;

        for (uint32_t t = first_ghost(layout); t < layout->ntasks; t++)
            ghost |= aspt_on_core(core, &layout->tasks[t].cpus) != 0;
        count += core->numa_log == numa && core->core_log >= from &&
                 core->nallowed == core->ncpus && !ghost;
    }
    return count;
}

static uint32_t ghosts_in(const struct asp_layout *layout, uint32_t numa)
{
    uint32_t count = 0;

    for (uint32_t t = first_ghost(layout); t < layout->ntasks; t++)
        count += layout->tasks[t].numa == (int) numa;
    return count;
}

/* A user that sits on the ghost's core, or ASP_RANK_NONE. */
static uint32_t user_on(const struct asp_layout *layout,
                        const struct asp_core *core)
{
    for (uint32_t u = 0; u < first_ghost(layout); u++) {
        if (aspt_on_core(core, &layout->tasks[u].cpus))
            return layout->tasks[u].rank_user;
    }
    return ASP_RANK_NONE;
}

/* Is there a CPU that both have? */
static bool same_cpu(const struct asp_layout *layout, uint32_t ghost,
                     uint32_t rank_user)
{
    const struct asp_cpuset *mine = &layout->tasks[ghost].cpus;

    for (uint32_t u = 0; u < first_ghost(layout); u++) {
        const struct asp_layout_task *user = &layout->tasks[u];

        for (int w = 0; w < ASP_CPUSET_WORDS; w++) {
            if (user->rank_user == rank_user &&
                user->cpus.word[w] & mine->word[w])
                return true;
        }
    }
    return false;
}

/* Does the ghost serve users of another domain? */
static bool serves_far(const struct asp_layout *layout, uint32_t ghost)
{
    const struct asp_layout_task *task = &layout->tasks[ghost];

    for (uint32_t u = 0; u < first_ghost(layout); u++) {
        if (layout->tasks[u].ghost == task->rank_world &&
            layout->tasks[u].numa != task->numa)
            return true;
    }
    return false;
}

const char *aspt_why(const struct asp_topo *topo,
                     const struct asp_layout *layout, uint32_t task,
                     const struct asp_core *core, char *buf, size_t size)
{
    uint32_t numa = core->numa_log, sitter = user_on(layout, core);
    uint32_t others = ghosts_in(layout, numa) - 1;
    struct asp_strbuf text = asp_strbuf_on(buf, size);

    if (others)
        asp_strbuf_add(&text,
                       "why: one of %" PRIu32 " ghosts in NUMA domain %" PRIu32,
                       others + 1, numa);
    else
        asp_strbuf_add(&text, "why: the ghost of NUMA domain %" PRIu32, numa);
    if (!cores_left(topo, layout, numa, core->core_log))
        asp_strbuf_add(&text,
                       ", on its last core%s: beside the memory %s, "
                       "and the users' cores stay together",
                       others ? "s" : "", others ? "they serve" : "it serves");
    if (sitter != ASP_RANK_NONE)
        asp_strbuf_add(&text,
                       "; cores ran out: %s u%" PRIu32
                       " as placement.share or placement.smt allows",
                       same_cpu(layout, task, sitter) ? "on the CPU of"
                                                      : "beside",
                       sitter);
    else if (core->ncpus > 1)
        asp_strbuf_add(&text, "; alone on the core, no busy thread beside it");
    else
        asp_strbuf_add(&text, "; a core of its own");
    if (serves_far(layout, task))
        asp_strbuf_add(&text, "; the nearest for users of domains without one");
    return buf;
}
