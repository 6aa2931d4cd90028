/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload that counts the messages of MPI, which is MPICH over UCX: how many
 * each process sends to processes of its own node and of others, whoever sends
 * them (a collective, Aspen). What is written into shared memory is no message.
 * In an MPICH with a shared-memory module of its own, messages within a node
 * do not pass UCX and are not seen.
 *
 *   LD_PRELOAD=tests/coll/.libs/count_messages.so   in front of libaspen.so
 *
 * Without a word from the program all is counted from MPI_Init to MPI_Finalize.
 * With MPI_Pcontrol it says what counts:
 *
 *   MPI_Pcontrol(1)   from here on; the first time, what was before is forgotten
 *   MPI_Pcontrol(0)   not from here on
 *   MPI_Pcontrol(N)   N >= 2, called by all processes, outside what counts:
 *                     print as region N, begin anew with zero
 *
 * MPI_Finalize prints what was not printed yet, as region 0. Lines, which
 * process 0 writes to stderr or appends to the file ASPEN_COUNT_FILE:
 *
 *   count_messages: region=0 rank=3 node=0 inside=2 inside_bytes=16 between=1
 *     between_bytes=8 other=0 typed=0
 *
 * (one line, then one with rank=all). node: the least rank of it. other: to
 * processes that are not of MPI_COMM_WORLD, such as ghosts. typed: messages
 * whose bytes are not known and not in the sums. Nodes are as
 * MPI_Comm_split_type has them, or as ASPEN_COUNT_NODES says: a number for each
 * rank, "0,0,1,1". */
#include "config.h"

#include "count.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tree is compiled with hidden symbols. */
#pragma GCC visibility push(default)

int MPI_Pcontrol(const int level, ...);
int MPI_Finalize(void);

#pragma GCC visibility pop

enum { INSIDE, BETWEEN, OTHER, SIDES, VALUES = 3 * SIDES };

/* Who is who, gathered when it is first needed. */
static struct {
    int rank, size;
    int address_bytes; /* of a row: the longest of all */
    char *addresses;   /* a row for each rank */
    int *nodes;        /* the node of each rank */
} world;

static void *allocate(size_t n, size_t bytes)
{
    void *memory = calloc(n, bytes);

    if (!memory)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static void find_addresses(void)
{
    size_t bytes;
    const void *own = count_own_address(&bytes);
    int mine = own ? (int) bytes : 0;
    char *row;

    PMPI_Allreduce(&mine, &world.address_bytes, 1, MPI_INT, MPI_MAX,
                   MPI_COMM_WORLD);
    row = allocate((size_t) world.address_bytes + 1, 1);
    if (own)
        memcpy(row, own, bytes);
    world.addresses = allocate((size_t) world.size,
                               (size_t) world.address_bytes + 1);
    PMPI_Allgather(row, world.address_bytes, MPI_BYTE, world.addresses,
                   world.address_bytes, MPI_BYTE, MPI_COMM_WORLD);
    free(row);
}

/* The number at this place of "0,0,1,1". */
static int listed(const char *list, int place)
{
    for (; place > 0 && list; place--) {
        list = strchr(list, ',');
        list += list != NULL;
    }
    if (!list || *list == '\0') {
        fprintf(stderr, "count_messages: ASPEN_COUNT_NODES is too short\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
        return 0;
    }
    return atoi(list);
}

static void find_nodes(void)
{
    const char *list = getenv("ASPEN_COUNT_NODES");
    int mine = world.rank;
    MPI_Comm node;

    if (list) {
        mine = listed(list, world.rank);
    } else {
        PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                             MPI_INFO_NULL, &node);
        PMPI_Allreduce(&world.rank, &mine, 1, MPI_INT, MPI_MIN, node);
        PMPI_Comm_free(&node);
    }
    world.nodes = allocate((size_t) world.size, sizeof(int));
    PMPI_Allgather(&mine, 1, MPI_INT, world.nodes, 1, MPI_INT, MPI_COMM_WORLD);
}

static void find_world(void)
{
    if (world.addresses)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world.size);
    find_addresses();
    find_nodes();
}

/* INSIDE, BETWEEN or OTHER, whoever has this address. */
static int side_of(const void *address)
{
    size_t bytes;

    count_own_address(&bytes);
    for (int r = 0; r < world.size; r++)
        if (memcmp(world.addresses + (size_t) r * (size_t) world.address_bytes,
                   address, bytes) == 0)
            return world.nodes[r] == world.nodes[world.rank] ? INSIDE : BETWEEN;
    return OTHER;
}

static void add(void *state, const void *address, const struct count *count)
{
    long *sums = state; /* [SIDES][3] */
    int side = side_of(address);

    sums[side * 3] += count->messages;
    sums[side * 3 + 1] += count->bytes;
    sums[side * 3 + 2] += count->typed;
}

static void print_row(FILE *file, int region, const char *rank,
                      const char *node, const long *sums)
{
    fprintf(file,
            "count_messages: region=%d rank=%s node=%s inside=%ld "
            "inside_bytes=%ld between=%ld between_bytes=%ld other=%ld "
            "typed=%ld\n",
            region, rank, node, sums[INSIDE * 3], sums[INSIDE * 3 + 1],
            sums[BETWEEN * 3], sums[BETWEEN * 3 + 1], sums[OTHER * 3],
            sums[INSIDE * 3 + 2] + sums[BETWEEN * 3 + 2] + sums[OTHER * 3 + 2]);
}

static void print(FILE *file, int region, const long *rows)
{
    long all[VALUES] = {0};
    char rank[16], node[16];

    for (int r = 0; r < world.size; r++) {
        snprintf(rank, sizeof(rank), "%d", r);
        snprintf(node, sizeof(node), "%d", world.nodes[r]);
        print_row(file, region, rank, node, rows + r * VALUES);
        for (int i = 0; i < VALUES; i++)
            all[i] += rows[r * VALUES + i];
    }
    print_row(file, region, "all", "all", all);
}

static void print_all(int region, const long *rows)
{
    const char *name = getenv("ASPEN_COUNT_FILE");
    FILE *file = name ? fopen(name, "ae") : stderr;

    if (!file) {
        perror(name);
        return;
    }
    print(file, region, rows);
    if (name)
        fclose(file);
}

static void report(int region)
{
    long mine[VALUES] = {0}, *rows;
    int lost = count_lost();

    find_world();
    count_take(add, mine);
    rows = allocate((size_t) world.size, sizeof(mine));
    PMPI_Gather(mine, VALUES, MPI_LONG, rows, VALUES, MPI_LONG, 0,
                MPI_COMM_WORLD);
    if (world.rank == 0)
        print_all(region, rows);
    free(rows);
    if (lost)
        fprintf(stderr, "count_messages: rank %d: not all is counted (%d)\n",
                world.rank, lost);
}

static void forget(void *state, const void *address, const struct count *count)
{
    (void) state;
    (void) address;
    (void) count;
}

int MPI_Pcontrol(const int level, ...)
{
    static bool said;

    if (level > 1) {
        count_switch(false);
        report(level);
    } else if (level >= 0) {
        if (!said)
            count_take(forget, NULL);
        said = true;
        count_switch(level == 1);
    }
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    count_switch(false);
    report(0);
    return PMPI_Finalize();
}
