/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes sent from rank 0 to rank 1 and back, against their map of
 * bytes: as the type at both ends, or as the packed stream at one of them
 * (MPI 4.0, 5.2: MPI_PACKED matches any type).
 *
 * usage: pack_messages [--seed S] [--first K] [--types N] [--same]
 *   --same  the type at both ends only: plain MPICH aborts at the others
 *
 * Types are freed while their messages are under way. Prints how many bytes are
 * wrong. */
#include "config.h"

#include "options.h"
#include "pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 5,
    SMALL_BYTES = 300,
    LARGE_BYTES = 60000,
    GUARD = 16, /* bytes around what may be written */
    EMPTY = 0xa5,
    TAG = 5,
};

enum variant { SAME, PACKED_TO_TYPED, TYPED_TO_PACKED, WAYS };

static struct {
    long seed, first, types;
    bool same;
} options = {.seed = 1, .types = 500};

static int rank;
static long wrong, messages, bytes;

/* Count elements of a type in a buffer of each rank. */
struct test {
    struct made made;
    int count;
    enum variant variant;
    struct map map;        /* of all elements */
    long lo, span;         /* the buffer has bytes lo .. lo + span - 1 */
    unsigned char *data;   /* what is sent */
    unsigned char *stream; /* the same, packed */
    unsigned char *got, *got_stream;
    bool overlaps;
};

static void set_up(struct test *t, struct prng *prng)
{
    MPI_Aint lb, extent;
    unsigned char *seen;

    MPI_Type_get_extent(t->made.type, &lb, &extent);
    for (int i = 0; i < t->count; i++)
        map_add(&t->map, &t->made.map, i * (long) extent);
    t->span = map_span(&t->map, &t->lo) + 2 * GUARD;
    t->lo -= GUARD;
    t->data = filled((size_t) t->span, 0);
    t->got = filled((size_t) t->span, EMPTY);
    t->stream = filled(t->map.n, 0);
    t->got_stream = filled(t->map.n, EMPTY);
    for (long i = 0; i < t->span; i++)
        t->data[i] = (unsigned char) prng_next(prng);
    seen = filled((size_t) t->span, 0);
    for (size_t i = 0; i < t->map.n; i++) {
        long at = t->map.at[i] - t->lo;

        t->stream[i] = t->data[at];
        t->overlaps = t->overlaps || seen[at];
        seen[at] = 1;
    }
    free(seen);
}

static void tear_down(struct test *t)
{
    map_free(&t->map);
    free(t->data);
    free(t->stream);
    free(t->got);
    free(t->got_stream);
}

/* What a receive as the type must leave in an empty buffer. */
static long count_wrong_typed(const struct test *t)
{
    unsigned char *expected = filled((size_t) t->span, EMPTY);
    long n = 0;

    for (size_t i = 0; i < t->map.n; i++)
        expected[t->map.at[i] - t->lo] = t->stream[i];
    for (long i = 0; i < t->span; i++)
        n += t->got[i] != expected[i];
    free(expected);
    return n;
}

static long count_wrong_packed(const struct test *t)
{
    long n = 0;

    for (size_t i = 0; i < t->map.n; i++)
        n += t->got_stream[i] != t->stream[i];
    return n;
}

static void start_send(struct test *t, MPI_Request *request)
{
    if (t->variant == PACKED_TO_TYPED)
        MPI_Isend(t->stream, (int) t->map.n, MPI_PACKED, 1 - rank, TAG,
                  MPI_COMM_WORLD, request);
    else
        MPI_Isend(t->data - t->lo, t->count, t->made.type, 1 - rank, TAG,
                  MPI_COMM_WORLD, request);
}

static void start_receive(struct test *t, MPI_Request *request)
{
    if (t->variant == TYPED_TO_PACKED)
        MPI_Irecv(t->got_stream, (int) t->map.n, MPI_PACKED, 1 - rank, TAG,
                  MPI_COMM_WORLD, request);
    else
        MPI_Irecv(t->got - t->lo, t->count, t->made.type, 1 - rank, TAG,
                  MPI_COMM_WORLD, request);
}

/* Both ranks do the same, with the same data. */
static void exchange(struct test *t)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int got;

    start_receive(t, &requests[0]);
    start_send(t, &requests[1]);
    free_type(&t->made);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_BYTE, &got);
    wrong += got != (int) t->map.n;
    wrong += t->variant == TYPED_TO_PACKED ? count_wrong_packed(t)
                                           : count_wrong_typed(t);
    messages++;
    bytes += (long) t->map.n;
}

static void check_type(long number)
{
    struct prng prng = {(uint64_t) options.seed * 1000003 + (uint64_t) number};
    struct test t = {.count = 1};

    t.made = make_type(&prng, prng_range(&prng, 1, DEPTH_MAX),
                       prng_chance(&prng, 50) ? SMALL_BYTES : LARGE_BYTES);
    t.count = prng_chance(&prng, 30) ? 1 : prng_range(&prng, 0, 40);
    t.variant = options.same ? SAME : (enum variant) prng_below(&prng, WAYS);
    if (!t.made.is_named)
        MPI_Type_commit(&t.made.type);
    set_up(&t, &prng);
    if (t.overlaps) /* nobody may receive that */
        t.variant = TYPED_TO_PACKED;
    /* MPICH 4.2 divides by zero in MPI_Irecv of an empty type. */
    if ((t.overlaps && options.same) || t.made.map.n == 0)
        free_type(&t.made);
    else
        exchange(&t);
    tear_down(&t);
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {.name = "seed", .number = &options.seed},
        {.name = "first", .number = &options.first},
        {.name = "types", .number = &options.types},
        {.name = "same", .flag = &options.same},
        {.name = NULL},
    };
    long all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!options_read(known, argv + 1))
        return 2;
    for (long i = 0; i < options.types; i++)
        check_type(options.first + i);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld messages, %ld bytes, %ld wrong\n", messages, bytes, all);
    MPI_Finalize();
    return all > 0;
}
