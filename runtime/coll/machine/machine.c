/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers the facts at MPI_Init: versions of the libraries, the number of
 * nodes, ranks and CPUs of each node, and which ranks stand for a pair inside a
 * node and a pair between two. */
#include "config.h"

#include "machine.h"

#include "join.h"

#include "runtime/coll/call/call.h"
#include "runtime/mpi/build.h"
#include "runtime/net/device.h"

#include "common/base/hash.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 8 };

static struct asp_tune_machine machine;
static struct asp_tune_job job;
static struct aspx_coll_pairs pairs;
static bool shares_cpus;
static int *leaders; /* of each rank's node, as ranks of MPI_COMM_WORLD */

/* A fact is one word. Of a longer one the end is told by its hash: two fabrics
 * may differ in the last of their settings only. */
static void set_fact(char *fact, const char *text)
{
    size_t n = 0;

    for (; text[n] && n < ASP_TUNE_FACT_MAX - 1; n++)
        fact[n] = text[n] > ' ' && text[n] < 127 ? text[n] : '_';
    fact[n] = '\0';
    if (text[n])
        snprintf(fact + n - HASH_DIGITS, HASH_DIGITS + 1, "%0*" PRIx64,
                 HASH_DIGITS,
                 asp_hash(ASP_HASH_START, text, strlen(text)) >> 32);
}

static void find_programs(void)
{
    const char *name = aspx_mpi_name();
    const char *colon = strrchr(name, ' ');

    set_fact(machine.mpi, colon ? colon + 1 : name);
    snprintf(machine.build, sizeof(machine.build), "%s", aspx_mpi_build());
    set_fact(machine.ucx, aspx_net_ucx_release());
    set_fact(machine.fabric, aspx_net_transports());
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

/* The first two ranks of a node, and the first ones of two nodes: those with
 * the lowest numbers.
 *   index   of this rank in its node
 *   leader  the first rank of its node, in MPI_COMM_WORLD */
static void find_pairs(int index, int leader)
{
    struct {
        int rank, leader; /* as MPI_2INT */
    } own[2], first[2];
    int rank = 0;

    aspx_coll_behind.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    own[0].rank = index == 1 ? rank : INT_MAX;
    own[1].rank = index == 0 && rank != 0 ? rank : INT_MAX;
    own[0].leader = own[1].leader = leader;
    aspx_coll_behind.MPI_Allreduce(own, first, 2, MPI_2INT, MPI_MINLOC,
                                   MPI_COMM_WORLD);
    pairs.inside = pairs.between = (struct aspx_coll_pair){-1, -1};
    if (first[0].rank != INT_MAX)
        pairs.inside = (struct aspx_coll_pair){first[0].leader, first[0].rank};
    if (first[1].rank != INT_MAX)
        pairs.between = (struct aspx_coll_pair){0, first[1].rank};
}

static void gather_leaders(int own)
{
    int size = 1;

    aspx_coll_behind.MPI_Comm_size(MPI_COMM_WORLD, &size);
    leaders = calloc((size_t) size, sizeof(*leaders));
    if (!leaders) /* the others would wait */
        aspx_coll_give_up();
    aspx_coll_behind.MPI_Allgather(&own, 1, MPI_INT, leaders, 1, MPI_INT,
                                   MPI_COMM_WORLD);
}

static void find_nodes(const struct asp_layout *layout)
{
    uint32_t ranks = 1, cpus = cpus_here(), least[2], values[2], leader;
    MPI_Comm node;
    int index = 0, first = 0;

    aspx_coll_behind.MPI_Comm_split(MPI_COMM_WORLD, (int) layout->node, 0,
                                    &node);
    count_node(node, &ranks, &cpus);
    aspx_coll_behind.MPI_Comm_rank(node, &index);
    aspx_coll_behind.MPI_Comm_rank(MPI_COMM_WORLD, &first);
    aspx_coll_behind.MPI_Bcast(&first, 1, MPI_INT, 0, node);
    aspx_coll_behind.MPI_Comm_free(&node);
    find_pairs(index, first);
    gather_leaders(first);
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

void aspx_coll_machine_find(const struct asp_layout *layout)
{
    find_programs();
    find_nodes(layout);
}

const struct asp_tune_machine *aspx_coll_machine(void)
{
    return &machine;
}

const struct asp_tune_job *aspx_coll_job(void)
{
    return &job;
}

const struct aspx_coll_pairs *aspx_coll_pairs(void)
{
    return &pairs;
}

const int *aspx_coll_leaders(void)
{
    return leaders;
}

bool aspx_coll_shares_cpus(void)
{
    return shares_cpus;
}
