/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for a while: between neighbours that are drawn for each round, of
 * sizes up to 4 MiB, several at once, each compared byte by byte.
 *
 *   p2p_soak SECONDS [SEED]
 *
 * Prints "soak: N messages, N bytes, N wrong". */
#include "../expect.h"
#include "../random/prng.h"
#include "bytes.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE = 8,
    TAG = 20,
    LONGEST = 4 << 20,
    ROUNDS = 20, /* between two looks at the clock of rank 0 */
};

static int size;
static long long messages, bytes_sent;

/* All ranks draw the same. */
struct exchange {
    int by; /* each rank sends to the one so many behind it */
    size_t bytes;
    uint32_t number;
    bool is_sync, any_source;
    unsigned char *in, *out;
    MPI_Request requests[2];
};

static size_t draw_bytes(struct prng *all)
{
    if (prng_chance(all, 3))
        return (size_t) prng_below(all, LONGEST + 1);
    if (prng_chance(all, 20))
        return (size_t) prng_below(all, 128 << 10);
    return (size_t) prng_below(all, 8192 + 1);
}

static void begin(struct exchange *e, struct prng *all, int i)
{
    int to, from;

    *e = (struct exchange){.by = prng_below(all, size),
                           .bytes = draw_bytes(all),
                           .number = (uint32_t) prng_next(all),
                           .is_sync = prng_chance(all, 20),
                           .any_source = prng_chance(all, 30)};
    to = (rank + e->by) % size;
    from = (rank + size - e->by) % size;
    e->in = buffer_new(e->bytes);
    e->out = buffer_new(e->bytes);
    buffer_fill(e->out, e->bytes, e->number + (uint32_t) rank);
    MPI_Irecv(e->in, (int) e->bytes, MPI_BYTE,
              e->any_source ? MPI_ANY_SOURCE : from, TAG + i, MPI_COMM_WORLD,
              &e->requests[0]);
    (e->is_sync ? MPI_Issend : MPI_Isend)(e->out, (int) e->bytes, MPI_BYTE, to,
                                          TAG + i, MPI_COMM_WORLD,
                                          &e->requests[1]);
}

static void end(struct exchange *e)
{
    uint32_t from = (uint32_t) ((rank + size - e->by) % size);

    MPI_Wait(&e->requests[1], MPI_STATUS_IGNORE);
    memset(e->out, OVERWRITTEN, e->bytes);
    MPI_Wait(&e->requests[0], MPI_STATUS_IGNORE);
    EXPECT(buffer_wrong(e->in, e->bytes, e->bytes, e->number + from) == 0);
    buffer_free(e->in);
    buffer_free(e->out);
    messages++;
    bytes_sent += (long long) e->bytes;
}

/* Tags are used again for the next round, so a wildcard must not see those of a
 * rank that is ahead: two sets in turn, and none is two rounds ahead. */
static void play(struct prng *all, int round)
{
    struct exchange exchanges[AT_ONCE];

    for (int i = 0; i < AT_ONCE; i++)
        begin(&exchanges[i], all, round % 2 * AT_ONCE + i);
    for (int i = AT_ONCE - 1; i >= 0; i--)
        end(&exchanges[i]);
    if (round % 2)
        MPI_Barrier(MPI_COMM_WORLD);
}

static bool is_time_left(double end_at)
{
    int left = MPI_Wtime() < end_at;

    MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return left;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10, end_at;
    struct prng all = {argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    long long mine[3], sum[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    end_at = MPI_Wtime() + seconds;
    while (is_time_left(end_at))
        for (int round = 0; round < ROUNDS; round++)
            play(&all, round);
    mine[0] = messages;
    mine[1] = bytes_sent;
    mine[2] = wrong;
    MPI_Allreduce(mine, sum, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("soak: %lld messages, %lld bytes, %lld wrong\n", sum[0], sum[1],
               sum[2]);
    MPI_Finalize();
    return sum[2] != 0;
}
