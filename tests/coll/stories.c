/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, and what else goes on meanwhile. */
#include "coll.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A number of each rank that all see, beside what is tested. */
static _Atomic long *shared_numbers(MPI_Win *win)
{
    _Atomic long *mine, *all;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared(sizeof(*mine), sizeof(*mine), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &mine, win);
    atomic_store(mine, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_shared_query(*win, 0, &bytes, &unit, &all);
    return all;
}

/* No rank leaves before the last one came: with another way, and at other
 * times, in each. */
void coll_barriers(struct prng *all, long n)
{
    struct prng own = {.state = (uint64_t) coll_rank + 77};
    _Atomic long *entered;
    MPI_Win win;

    entered = shared_numbers(&win);
    for (long i = 1; i <= n; i++) {
        struct aspx_node_config config = coll_any_config(all);

        coll_dawdle(&own);
        atomic_store(&entered[coll_rank], i);
        EXPECT(aspx_node_barrier(coll_area, &config) == MPI_SUCCESS, "%ld", i);
        for (int r = 0; r < coll_size; r++) {
            long there = atomic_load(&entered[r]);

            EXPECT(there == i || there == i + 1, "barrier %ld, rank %d: %ld", i,
                   r, there);
        }
    }
    MPI_Win_free(&win);
}

/* A rendezvous that needs its sender, which is in the barrier already. */
void coll_isend(struct prng *all, long n)
{
    enum { BYTES = 8 << 20 };
    char *buffer = malloc(BYTES);
    MPI_Request request;

    for (long i = 0; i < n; i++) {
        struct aspx_node_config config = coll_any_config(all);

        config.waiter = (uint8_t) (i % ASPX_NODE_WAITERS);
        memset(buffer, coll_rank == 0 ? (int) i : 0, BYTES);
        if (coll_rank == 0) {
            MPI_Isend(buffer, BYTES, MPI_BYTE, coll_size - 1, 5, MPI_COMM_WORLD,
                      &request);
        } else if (coll_rank == coll_size - 1) {
            nanosleep(&(struct timespec){0, 20000000}, NULL);
            MPI_Recv(buffer, BYTES, MPI_BYTE, 0, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            EXPECT(buffer[0] == (char) i && buffer[BYTES - 1] == (char) i,
                   "message %ld", i);
        }
        EXPECT(aspx_node_barrier(coll_area, &config) == MPI_SUCCESS, "%ld", i);
        if (coll_rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(buffer);
}

/* The others wait for it until the launcher ends them. */
void coll_killed(struct prng *all, long n)
{
    struct aspx_node_config config = coll_any_config(all);

    (void) n;
    EXPECT(aspx_node_barrier(coll_area, &config) == MPI_SUCCESS, "first");
    if (coll_rank == coll_size - 1)
        raise(SIGKILL);
    (void) aspx_node_barrier(coll_area, &config);
    EXPECT(false, "left a barrier to which one rank never came");
}
