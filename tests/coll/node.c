/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: coll_node [--seed N] [--slot BYTES] [--waiter W] [--poll 0] STORY [N]
 * Runs a story N times on all ranks; ends with 1 if anything was wrong. */
#include "coll.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int coll_rank, coll_size;
long coll_wrong;
struct aspx_node_area *coll_area;

static MPI_Comm private_comm;
static int only_waiter = -1;

static void no_poll(void *arg)
{
    (void) arg;
}

static const struct story {
    const char *name;
    void (*run)(struct prng *all, long n);
    long n;
} stories[] = {
    {"barriers", coll_barriers, 10000}, {"isend", coll_isend, 10},
    {"killed", coll_killed, 1},         {"random", coll_random, 1000},
    {"fallback", coll_fallback, 20},    {"mismatch", coll_mismatch, 500},
    {"no-memory", coll_no_memory, 1},
};

struct aspx_node_area *coll_make_area(size_t slot_bytes, struct asp_err *err)
{
    int *members = calloc((size_t) coll_size, sizeof(*members));
    struct aspx_node_area *area;

    for (int r = 0; r < coll_size; r++)
        members[r] = r;
    area = aspx_node_area_make(
        &(struct aspx_node_place){.comm = private_comm,
                                  .members = members,
                                  .count = (uint32_t) coll_size,
                                  .index = (uint32_t) coll_rank},
        slot_bytes, err);
    free(members);
    return area;
}

struct aspx_node_config coll_any_config(struct prng *all)
{
    static const uint32_t radixes[] = {1, 2, 3, 4, 8, 15, 16, 1024};
    struct aspx_node_config config = {
        .radix = radixes[prng_below(all, 8)],
        .segment = ASPX_NODE_SEGMENT_MIN << prng_below(all, 6), /* to 128 KiB */
        .up = (uint8_t) prng_below(all, ASPX_NODE_SIGNALS),
        .down = (uint8_t) prng_below(all, ASPX_NODE_SIGNALS),
        .waiter = (uint8_t) prng_below(all, ASPX_NODE_WAITERS),
        .reduction = (uint8_t) prng_below(all, ASPX_NODE_REDUCTIONS),
    };

    if (only_waiter >= 0)
        config.waiter = (uint8_t) only_waiter;
    return config;
}

void coll_dawdle(struct prng *own)
{
    const struct timespec time = {0, prng_below(own, 300000)};

    if (prng_chance(own, 3))
        nanosleep(&time, NULL);
}

static const struct story *find_story(const char *name)
{
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        if (name && strcmp(stories[i].name, name) == 0)
            return &stories[i];
    fprintf(stderr, "coll_node: no such story\n");
    exit(2);
}

static void start(size_t slot_bytes)
{
    struct asp_err err;

    MPI_Comm_rank(MPI_COMM_WORLD, &coll_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &coll_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &private_comm);
    MPI_Comm_set_errhandler(private_comm, MPI_ERRORS_RETURN);
    if (aspx_real_resolve() != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    coll_area = coll_make_area(slot_bytes, &err);
    if (!coll_area) {
        fprintf(stderr, "rank %d: %s\n", coll_rank, err.text);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

int main(int argc, char **argv)
{
    struct prng all = {.state = 1};
    size_t slot_bytes = ASPX_NODE_SLOT_BYTES;
    const struct story *story;
    bool polls = true;
    int at = 1;

    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        unsigned long value = strtoul(argv[at + 1], NULL, 0);

        if (strcmp(argv[at], "--seed") == 0)
            all.state = value;
        else if (strcmp(argv[at], "--slot") == 0)
            slot_bytes = value;
        else if (strcmp(argv[at], "--waiter") == 0)
            only_waiter = (int) value;
        else if (strcmp(argv[at], "--poll") == 0)
            polls = value != 0;
    }
    story = find_story(argv[at]);
    MPI_Init(&argc, &argv);
    start(slot_bytes);
    if (!polls)
        aspx_node_area_set_poll(coll_area, no_poll, NULL);
    story->run(&all, at + 1 < argc ? atol(argv[at + 1]) : story->n);
    MPI_Allreduce(MPI_IN_PLACE, &coll_wrong, 1, MPI_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    if (coll_rank == 0)
        printf("%s: %ld wrong\n", story->name, coll_wrong);
    aspx_node_area_free(coll_area);
    MPI_Comm_free(&private_comm);
    MPI_Finalize();
    return coll_wrong > 0;
}
