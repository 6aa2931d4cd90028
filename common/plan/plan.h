/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan: a topology, what was asked for and the ranks of the step become the
 * layout of one node. A pure function, so that the agents of all nodes and
 * `aspen explain` on a login node agree without talking.
 *
 * Rules: only CPUs of the step. Helpers (ghosts, service cores) get whole
 * cores: one per NUMA domain first, packages in turn, on the last core of the
 * domain, so never beside a busy thread of the same core. Users get equal runs
 * of the other cores, in rank order, within one L3 cache, NUMA domain or
 * package where that fits. A user's main ghost is one of its own domain, else a
 * nearest one, the least busy of them. When
 * cores run out: with `use_threads` each task gets single threads of cores,
 * then with `share` helpers sit on users' cores. An offload thread gets the
 * last core of its task's run, with `use_threads` one thread of it.
 * docs/design/placement.md has the reasons. */
#ifndef ASPEN_COMMON_PLAN_PLAN_H
#define ASPEN_COMMON_PLAN_PLAN_H

#include "common/base/err.h"
#include "common/layout/layout.h"
#include "topo.h"

#include <stdbool.h>
#include <stdint.h>

/* Everything is borrowed. */
struct asp_plan_request {
    const char *job;          /* "12.0"; NULL is "" */
    enum asp_mode mode;       /* resolved: not auto */
    uint32_t ghosts_per_node; /* mode ghost: at least 1, else 0 */
    uint32_t service_cores;   /* mode thread, else 0 */
    bool offload;             /* mode ghost: offload threads too */
    enum asp_spread spread;   /* placement.spread */
    bool share;               /* placement.share */
    bool use_threads;         /* placement.smt=use */
    bool may_bind;            /* may CPU sets be enforced? */
    const char *reason;       /* why not, when !may_bind; may be NULL */
    const struct asp_layout_node *nodes; /* of the step */
    uint32_t nnodes;
    uint32_t node; /* this one */
};

/* Make the layout of node request->node. The caller adds knobs and the policy
 * digest.
 *   topo   of that node; NULL: not known, then no task gets CPUs
 *   out_p  owned by the caller, asp_layout_destroy(); untouched on failure
 * Fewer cores than tasks, pretended CPUs and a bad topology are no errors: the
 * layout says bound=no and why.
 * Returns 0, or -1 with errno EINVAL (counts that leave a node without users,
 * absurd request) or ENOMEM.
 * Threads: reentrant.  Cost: O(size of the step), once per step. */
int asp_plan(const struct asp_topo *topo,
             const struct asp_plan_request *request, struct asp_layout **out_p,
             struct asp_err *err);

/* Mode offload, in words: "8 tasks, 4 CPUs each: 3 + 1 for the offload thread",
 * or that there is none; of this node's first task. "" where CPUs are not
 * known. Returns buf. */
const char *asp_plan_describe_cpus(const struct asp_topo *topo,
                                   const struct asp_layout *layout, char *buf,
                                   size_t size);

#endif
