/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc -> struct asp_topo; see topo.h. */
#include "topo.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

static int set_source(hwloc_topology_t hw, const char *source,
                      struct asp_err *err)
{
    const char *dot = source ? strrchr(source, '.') : NULL;

    if (!source)
        return 0;
    if (strchr(source, '/') || (dot && !strcmp(dot, ".xml"))) {
        if (hwloc_topology_set_xml(hw, source))
            return asp_errf(err, EINVAL,
                            "cannot read topology \"%.200s\": is it a file "
                            "written by lstopo --of xml?",
                            source);
    } else if (hwloc_topology_set_synthetic(hw, source)) {
        return asp_errf(err, EINVAL,
                        "\"%.120s\" describes no machine: write something "
                        "like \"pack:2 numa:2 core:4 pu:2\"",
                        source);
    }
    return 0;
}

/* The whole machine, also the CPUs that this process may not use: a picture
 * of a node shows them, and what sits beside them matters. */
static int load(hwloc_topology_t *hw_p, const char *source, struct asp_err *err)
{
    hwloc_topology_t hw;

    if (hwloc_topology_init(&hw))
        return asp_errf(err, ENOMEM, "out of memory");
    if (set_source(hw, source, err))
        goto err_destroy;
    hwloc_topology_set_flags(hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(hw)) {
        asp_errf(err, EINVAL, "hwloc cannot load the topology %.200s",
                 source ? source : "of this machine");
        goto err_destroy;
    }
    *hw_p = hw;
    return 0;
err_destroy:
    hwloc_topology_destroy(hw);
    return -1;
}

/* Memory hangs beside the tree: the domain of a core is the first NUMA node at
 * its nearest ancestor that has memory. (More than one there is memory of
 * another kind, HBM for instance, for the same cores.) */
static uint32_t numa_of(hwloc_obj_t obj)
{
    for (; obj; obj = obj->parent) {
        hwloc_obj_t memory = obj->memory_first_child;

        while (memory && memory->type != HWLOC_OBJ_NUMANODE)
            memory = memory->memory_first_child;
        if (memory)
            return memory->logical_index;
    }
    return 0;
}

static uint32_t index_above(hwloc_topology_t hw, hwloc_obj_t obj,
                            hwloc_obj_type_t type, uint32_t fallback)
{
    hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(hw, type, obj);

    return above ? above->logical_index : fallback;
}

static int fill_core(hwloc_topology_t hw, hwloc_obj_t obj,
                     const struct asp_cpuset *allowed, struct asp_core *core,
                     struct asp_err *err)
{
    int cpu;

    core->core_log = obj->logical_index;
    core->numa_log = numa_of(obj);
    core->package_log = index_above(hw, obj, HWLOC_OBJ_PACKAGE, 0);
    core->l3_log = index_above(hw, obj, HWLOC_OBJ_L3CACHE, core->numa_log);
    for (cpu = hwloc_bitmap_first(obj->cpuset); cpu >= 0;
         cpu = hwloc_bitmap_next(obj->cpuset, cpu)) {
        if (cpu >= ASP_CPUS_MAX || core->ncpus == ASP_SMT_MAX)
            return asp_errf(err, E2BIG,
                            "CPU %d of core %u: more than %d CPUs, or %d in "
                            "one core",
                            cpu, core->core_log, ASP_CPUS_MAX, ASP_SMT_MAX);
        core->cpu_os[core->ncpus] = (uint32_t) cpu;
        core->allowed[core->ncpus] = asp_cpuset_has(allowed, (unsigned) cpu);
        core->nallowed += core->allowed[core->ncpus];
        core->ncpus++;
    }
    return 0;
}

static int fill_cores(hwloc_topology_t hw, struct asp_topo *topo,
                      struct asp_err *err)
{
    /* Some virtual machines do not tell cores: then each CPU is one. */
    hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_CORE) > 0
                                ? HWLOC_OBJ_CORE
                                : HWLOC_OBJ_PU;
    int count = hwloc_get_nbobjs_by_type(hw, type);

    if (count <= 0)
        return asp_errf(err, EINVAL, "the topology has no CPUs");
    topo->cores = calloc((size_t) count, sizeof(topo->cores[0]));
    if (!topo->cores)
        return asp_errf(err, ENOMEM, "out of memory");
    topo->ncores = (uint32_t) count;
    for (uint32_t i = 0; i < topo->ncores; i++) {
        struct asp_core *core = &topo->cores[i];

        if (fill_core(hw, hwloc_get_obj_by_type(hw, type, i), &topo->allowed,
                      core, err))
            return -1;
        if (core->numa_log >= topo->nnumas)
            topo->nnumas = core->numa_log + 1;
        if (core->package_log >= topo->npackages)
            topo->npackages = core->package_log + 1;
    }
    return 0;
}

static int fill_allowed(hwloc_topology_t hw, const struct asp_cpuset *cpus,
                        struct asp_topo *topo, struct asp_err *err)
{
    hwloc_const_bitmap_t set = cpus ? hwloc_topology_get_topology_cpuset(hw)
                                    : hwloc_topology_get_allowed_cpuset(hw);
    char list[128] = "...";

    for (int cpu = hwloc_bitmap_first(set); cpu >= 0;
         cpu = hwloc_bitmap_next(set, cpu)) {
        if (!cpus || asp_cpuset_has(cpus, (unsigned) cpu))
            asp_cpuset_add(&topo->allowed, (unsigned) cpu);
    }
    if (asp_cpuset_count(&topo->allowed))
        return 0;
    if (cpus)
        asp_cpuset_print(cpus, list, sizeof(list));
    return asp_errf(err, ENOENT, "the topology has none of the CPUs %s", list);
}

/* The firmware's latencies, when hwloc has a full matrix of them. */
static int fill_distance(hwloc_topology_t hw, struct asp_topo *topo,
                         struct asp_err *err)
{
    struct hwloc_distances_s *found = NULL;
    unsigned count = 1;
    int rc = 0;

    if (hwloc_distances_get_by_type(hw, HWLOC_OBJ_NUMANODE, &count, &found,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) ||
        !count || !found)
        return 0;
    if (found->nbobjs >= topo->nnumas) {
        size_t n = topo->nnumas;

        topo->distance = calloc(n * n, sizeof(topo->distance[0]));
        rc = topo->distance ? 0 : asp_errf(err, ENOMEM, "out of memory");
        for (unsigned i = 0; !rc && i < found->nbobjs; i++) {
            for (unsigned j = 0; j < found->nbobjs; j++) {
                unsigned a = found->objs[i]->logical_index;
                unsigned b = found->objs[j]->logical_index;

                if (a < n && b < n)
                    topo->distance[a * n + b] =
                        (uint32_t) found->values[i * found->nbobjs + j];
            }
        }
    }
    hwloc_distances_release(hw, found);
    return rc;
}

int asp_topo_load(const char *source, const struct asp_cpuset *cpus,
                  struct asp_topo **out_p, struct asp_err *err)
{
    struct asp_topo *topo = calloc(1, sizeof(*topo));
    hwloc_topology_t hw = NULL;
    int rc;

    if (!topo)
        return asp_errf(err, ENOMEM, "out of memory");
    if (load(&hw, source, err)) {
        asp_topo_destroy(topo);
        return -1;
    }
    topo->real = !source && hwloc_topology_is_thissystem(hw);
    rc = fill_allowed(hw, cpus, topo, err) || fill_cores(hw, topo, err) ||
         fill_distance(hw, topo, err);
    hwloc_topology_destroy(hw);
    if (rc) {
        asp_topo_destroy(topo);
        return -1;
    }
    *out_p = topo;
    return 0;
}

static void forbid(struct asp_topo *topo, struct asp_core *core)
{
    for (uint32_t i = 0; i < core->ncpus; i++) {
        uint32_t cpu = core->cpu_os[i];

        core->allowed[i] = false;
        topo->allowed.word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
    }
    core->nallowed = 0;
}

int asp_topo_keep_cores(struct asp_topo *topo, const struct asp_cpuset *cores,
                        struct asp_err *err)
{
    int beyond = asp_cpuset_next(cores, topo->ncores);
    uint32_t left = 0;

    if (beyond >= 0)
        return asp_errf(err, ENOENT, "core %d of a machine with %u", beyond,
                        (unsigned) topo->ncores);
    for (uint32_t c = 0; c < topo->ncores; c++)
        left += asp_cpuset_has(cores, c) && topo->cores[c].nallowed;
    if (!left)
        return asp_errf(err, ENOENT, "none of the step's cores may be used");
    for (uint32_t c = 0; c < topo->ncores; c++) {
        if (!asp_cpuset_has(cores, c))
            forbid(topo, &topo->cores[c]);
    }
    return 0;
}

void asp_topo_keep_threads(struct asp_topo *topo, uint32_t threads)
{
    for (uint32_t c = 0; c < topo->ncores; c++) {
        struct asp_core *core = &topo->cores[c];
        uint32_t kept = 0;

        for (uint32_t i = 0; i < core->ncpus; i++) {
            uint32_t cpu = core->cpu_os[i];

            if (!core->allowed[i] || kept++ < threads)
                continue;
            core->allowed[i] = false;
            core->nallowed--;
            topo->allowed.word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
        }
    }
}

/* Package of a domain: that of its first core. */
static uint32_t package_of(const struct asp_topo *topo, uint32_t numa)
{
    for (uint32_t i = 0; i < topo->ncores; i++) {
        if (topo->cores[i].numa_log == numa)
            return topo->cores[i].package_log;
    }
    return UINT32_MAX;
}

uint32_t asp_topo_distance(const struct asp_topo *topo, uint32_t numa_a,
                           uint32_t numa_b)
{
    if (numa_a == numa_b)
        return 0;
    if (topo->distance && numa_a < topo->nnumas && numa_b < topo->nnumas)
        return 1 + topo->distance[numa_a * topo->nnumas + numa_b];
    return package_of(topo, numa_a) == package_of(topo, numa_b) ? 1 : 2;
}

void asp_topo_destroy(struct asp_topo *topo)
{
    int saved = errno;

    if (!topo)
        return;
    free(topo->cores);
    free(topo->distance);
    free(topo);
    errno = saved;
}
