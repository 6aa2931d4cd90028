/* SPDX-License-Identifier: BSD-3-Clause */
/* Leaders that tell each other (runtime/adapt/node/status_broadcast.h), without
 * ghosts: every process of MPI stands for the leader of a node of its own. Each
 * changes its number again and again, at its own speed; numbers only grow, so
 * who hears a smaller one after a larger one has heard them out of order. In
 * the end all must have all the last numbers. usage: status_broadcast [changes]
 */
#include "config.h"

#include "tests/rma/rma.h"
#include "runtime/adapt/node/status_broadcast.h"
#include "runtime/mpi/real.h"

#include <sched.h>

enum { LIMIT_S = 30 };

static uint64_t *heard_last, changes;
static long heard_calls;

static void heard(void *context, uint32_t rank, uint64_t value)
{
    (void) context;
    heard_calls++;
    EXPECT((int) rank != rma_rank, "our own number came back");
    EXPECT(value > heard_last[rank], "%lu after %lu of %u",
           (unsigned long) value, (unsigned long) heard_last[rank], rank);
    heard_last[rank] = value;
}

/* A job of nodes with one process each, all of them ghosts. */
static struct aspx_engine pretend(struct aspx_world *world)
{
    struct aspx_engine engine = {.world = world};
    size_t n = (size_t) rma_size;

    *world = (struct aspx_world){
        .rank_all = rma_rank,
        .size_all = rma_size,
        .node = (uint32_t) rma_rank,
        .nnodes = (uint32_t) rma_size,
    };
    MPI_Comm_dup(MPI_COMM_WORLD, &engine.locks);
    engine.ghosts = calloc(n, sizeof(uint32_t));
    engine.first_ghost = calloc(n + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        engine.ghosts[i] = engine.first_ghost[i] = i;
    engine.first_ghost[n] = (uint32_t) n;
    return engine;
}

static int all_came(void)
{
    for (int r = 0; r < rma_size; r++)
        if (r != rma_rank && heard_last[r] < changes)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    struct aspx_world world;
    struct aspx_engine engine;
    struct aspx_status_broadcast *broadcast;
    int done = 0, all = 0;
    double began;

    rma_begin(&argc, &argv);
    changes = argc > 1 ? (uint64_t) atol(argv[1]) : 100;
    aspx_real_resolve();
    engine = pretend(&world);
    heard_last = calloc((size_t) rma_size, sizeof(*heard_last));
    broadcast = aspx_status_broadcast_create(&engine, heard, NULL);
    if (!broadcast)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (uint64_t value = 1; value <= changes; value++) {
        aspx_status_broadcast_set(broadcast, (uint32_t) rma_rank, value);
        for (int i = 0; i <= rma_rank % 3; i++)
            EXPECT(aspx_status_broadcast_step(broadcast) >= 0, "MPI failed");
        sched_yield();
    }
    began = MPI_Wtime();
    /* Others may need us to pass numbers on. */
    while (!all && MPI_Wtime() - began < LIMIT_S) {
        for (int i = 0; i < 100; i++)
            EXPECT(aspx_status_broadcast_step(broadcast) >= 0, "MPI failed");
        sched_yield();
        done = all_came();
        MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    EXPECT(done, "some numbers never came");
    MPI_Barrier(MPI_COMM_WORLD);
    aspx_status_broadcast_destroy(broadcast);
    MPI_Comm_free(&engine.locks);
    free(engine.ghosts);
    free(engine.first_ghost);
    free(heard_last);
    if (rma_rank == 0)
        printf("heard %ld changes of %ld\n", heard_calls,
               (long) (changes * (uint64_t) (rma_size - 1)));
    return rma_end("status_broadcast");
}
