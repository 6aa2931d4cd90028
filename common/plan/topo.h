/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine, as the plan needs it: cores in logical order, each with its
 * CPUs, NUMA domain, L3 cache and package. The only user of hwloc; callers are
 * the agent, `aspen explain` and tests.
 *
 * Index spaces: "os" is the kernel's number, "log" is hwloc's logical one. */
#ifndef ASPEN_COMMON_PLAN_TOPO_H
#define ASPEN_COMMON_PLAN_TOPO_H

#include "common/base/cpuset.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { ASP_SMT_MAX = 16 }; /* CPUs per core; the largest known is 8 */

struct asp_core {
    uint32_t core_log;
    uint32_t numa_log; /* smallest domain around the core */
    uint32_t l3_log;
    uint32_t package_log;
    uint32_t ncpus; /* all CPUs of the core */
    uint32_t nallowed;
    uint32_t cpu_os[ASP_SMT_MAX]; /* ncpus of them */
    bool allowed[ASP_SMT_MAX];    /* may this step use cpu_os[i]? */
};

struct asp_topo {
    bool real; /* this machine, not a pretended one */
    uint32_t ncores;
    struct asp_core *cores;    /* by core_log; owned */
    struct asp_cpuset allowed; /* CPUs of the step, OS indexes */
    uint32_t nnumas;
    uint32_t npackages;
    uint32_t *distance; /* nnumas * nnumas, owned; NULL: unknown */
};

/* Load a topology.
 *   source   NULL: what hwloc finds, which is this machine unless
 *            HWLOC_SYNTHETIC or HWLOC_XMLFILE say otherwise; else a file of
 *            hwloc's XML ("*.xml" or with a '/'), else a synthetic description
 *            such as "pack:2 numa:2 core:4 pu:2"
 *   cpus     CPUs of the step; NULL: all that this process may use (hwloc's
 *            allowed set)
 *   out_p    owned by the caller, asp_topo_destroy(); untouched on failure
 * Returns 0, or -1 with errno EINVAL (no such topology), ENOENT (none of cpus
 * is there), E2BIG, ENOMEM.
 * Threads: reentrant.  Cost: milliseconds, reads /sys. */
int asp_topo_load(const char *source, const struct asp_cpuset *cpus,
                  struct asp_topo **out_p, struct asp_err *err);

/* Keep only these cores, by logical index, among the CPUs of the step: Slurm
 * counts cores that way (its "abstract" indexes).
 * Returns 0, or -1 with errno ENOENT (a core that is not there, or none left);
 * topo is unchanged then. */
int asp_topo_keep_cores(struct asp_topo *topo, const struct asp_cpuset *cores,
                        struct asp_err *err);

/* Keep only the first threads of each core, as with --threads-per-core.
 *   threads  1 or more */
void asp_topo_keep_threads(struct asp_topo *topo, uint32_t threads);

/* How far apart two NUMA domains are: 0 for the same one, then growing. By the
 * firmware's table where there is one, else by package. */
uint32_t asp_topo_distance(const struct asp_topo *topo, uint32_t numa_a,
                           uint32_t numa_b);

/* Takes NULL; keeps errno. */
void asp_topo_destroy(struct asp_topo *topo);

#endif
