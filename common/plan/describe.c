/* SPDX-License-Identifier: BSD-3-Clause */
/* What users are told about a plan, by the agent and by `aspen explain`. */
#include "plan.h"

#include "common/base/strbuf.h"

#include <inttypes.h>

/* CPUs that the user cannot have because the thread has the core. */
static unsigned helper_cpus(const struct asp_topo *topo,
                            const struct asp_layout_task *task)
{
    unsigned count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++) {
        const struct asp_core *core = &topo->cores[c];
        unsigned here = 0;
        bool found = false;

        for (uint32_t i = 0; i < core->ncpus; i++) {
            found = found || (int) core->cpu_os[i] == task->cpu_helper_os;
            here += core->allowed[i] &&
                    !asp_cpuset_has(&task->cpus, core->cpu_os[i]);
        }
        if (found)
            count += here;
    }
    return count;
}

const char *asp_plan_describe_cpus(const struct asp_topo *topo,
                                   const struct asp_layout *layout, char *buf,
                                   size_t size)
{
    const struct asp_layout_task *task = &layout->tasks[0];
    unsigned own = asp_cpuset_count(&task->cpus), helper;
    uint32_t ntasks; /* of the program */
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    if (topo == NULL || own == 0)
        return buf;
    ntasks = layout->size_world - layout->ghosts_per_node * layout->nnodes;
    helper = task->cpu_helper_os < 0 ? 0 : helper_cpus(topo, task);
    asp_strbuf_add(&out, "%" PRIu32 " task%s, %u CPU%s each: ", ntasks,
                   ntasks == 1 ? "" : "s", own + helper,
                   own + helper == 1 ? "" : "s");
    if (helper)
        asp_strbuf_add(&out, "%u + %u for the offload thread", own, helper);
    else
        asp_strbuf_add(&out, "%s for the offload thread",
                       task->cpu_helper_os < 0 ? "none" : "one of them also");
    return buf;
}
