/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "machine.h"

#include "call.h"

#include "runtime/mpi/build.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a message waits at most for a process that has lost its CPU: a slice
 * of the Linux scheduler, in ps. */
#define SLICE_PS (INT64_C(4) * 1000 * 1000 * 1000)

static struct asp_tune_machine machine;
static struct asp_tune_job job;
static struct asp_coll_machine model;
static bool shares_cpus;

/* A fact is one word. */
static void set_fact(char *fact, const char *text)
{
    size_t n = 0;

    for (; *text && n < ASP_TUNE_FACT_MAX - 1; text++)
        fact[n++] = *text > ' ' && *text < 127 ? *text : '_';
    fact[n] = '\0';
}

static void find_programs(void)
{
    const char *(*version)(void), *name = aspx_mpi_name();
    const char *colon = strrchr(name, ' '), *tls = getenv("UCX_TLS");

    set_fact(machine.mpi, colon ? colon + 1 : name);
    snprintf(machine.build, sizeof(machine.build), "%s", aspx_mpi_build());
    *(void **) &version = dlsym(RTLD_DEFAULT, "ucp_get_version_string");
    set_fact(machine.ucx, version ? version() : "none");
    set_fact(machine.fabric, tls && *tls ? tls : "any");
}

static uint32_t cpus_here(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? (uint32_t) CPU_COUNT(&set)
               : 1;
}

/* In all ranks of a node: how many they are, and how many CPUs they have
 * together, whether each is bound to its own or not. */
static void count_node(MPI_Comm node, uint32_t *ranks_p, uint32_t *cpus_p)
{
    unsigned char own[CPU_SETSIZE] = {0}, all[CPU_SETSIZE];
    cpu_set_t set;
    int ranks = 1;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            own[i] = CPU_ISSET((size_t) i, &set) != 0;
    aspx_coll_behind.MPI_Allreduce(own, all, CPU_SETSIZE, MPI_UNSIGNED_CHAR,
                                   MPI_MAX, node);
    aspx_coll_behind.MPI_Comm_size(node, &ranks);
    *ranks_p = (uint32_t) ranks;
    *cpus_p = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        *cpus_p += all[i];
}

static void find_nodes(void)
{
    uint32_t ranks = 1, cpus = cpus_here(), least[2], values[2], leader;
    MPI_Comm node;
    int index = 0;

    aspx_coll_behind.MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED,
                                         0, MPI_INFO_NULL, &node);
    count_node(node, &ranks, &cpus);
    aspx_coll_behind.MPI_Comm_rank(node, &index);
    aspx_coll_behind.MPI_Comm_free(&node);
    leader = index == 0;
    aspx_coll_behind.MPI_Allreduce(&leader, &job.nodes, 1, MPI_UINT32_T,
                                   MPI_SUM, MPI_COMM_WORLD);
    values[0] = ranks;
    values[1] = ranks > cpus;
    aspx_coll_behind.MPI_Allreduce(values, least, 2, MPI_UINT32_T, MPI_MAX,
                                   MPI_COMM_WORLD);
    job.ppn = least[0];
    shares_cpus = least[1];
    machine.cpus = cpus;
}

/* By what rank 0 knows of the network. */
static void choose_model(void)
{
    uint32_t tcp = strstr(machine.fabric, "tcp") != NULL;

    aspx_coll_behind.MPI_Bcast(&tcp, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    model = *asp_coll_machine_find(tcp ? "tcp" : "infiniband");
    if (shares_cpus) {
        model.inside.latency += SLICE_PS;
        model.between.latency += SLICE_PS;
    }
}

void aspx_coll_machine_find(void)
{
    find_programs();
    find_nodes();
    choose_model();
}

const struct asp_tune_machine *aspx_coll_machine(void)
{
    return &machine;
}

const struct asp_tune_job *aspx_coll_job(void)
{
    return &job;
}

const struct asp_coll_machine *aspx_coll_model(void)
{
    return &model;
}

bool aspx_coll_shares_cpus(void)
{
    return shares_cpus;
}
