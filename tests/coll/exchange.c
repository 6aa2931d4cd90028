/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_Alltoallv must do beside moving data. One story a run:
 *
 *   coll_exchange refused   MPI refuses the arguments of one rank, which then
 *                           calls again: the others wait
 *   coll_exchange sizes     sizes rise and fall, each rank's in its own way
 *   coll_exchange lengths   a rank expects more than another sends
 *
 * Prints "story NAME: ok". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 16, INTS_MOST = 4096, ROUNDS = 60, CALLS = 1500 };

static int rank, size, wrong;

static int counts[RANKS_MOST], displs[RANKS_MOST], expected[RANKS_MOST];
static int in[RANKS_MOST * INTS_MOST], out[RANKS_MOST * INTS_MOST];

#define EXPECT(what)                                                           \
    do {                                                                       \
        if (!(what) && wrong++ == 0)                                           \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #what);  \
    } while (0)

static int value(int call, int from, int to, int i)
{
    return call * 1000003 + from * 4099 + to * 257 + i;
}

/* Ints from one rank to another; in every third pair none. */
static int length(int most, int from, int to)
{
    return (from + 2 * to) % 3 == 0 ? 0 : most - (from + 3 * to) % 4;
}

static void prepare(int call, int most)
{
    for (int r = 0; r < size; r++) {
        counts[r] = length(most, rank, r);
        expected[r] = length(most, r, rank);
        displs[r] = (size - 1 - r) * INTS_MOST;
        for (int i = 0; i < counts[r]; i++)
            in[displs[r] + i] = value(call, rank, r, i);
        memset(out + displs[r], 0xff, (size_t) (expected[r] + 1) * sizeof(int));
    }
}

static int exchange(void)
{
    return MPI_Alltoallv(in, counts, displs, MPI_INT, out, expected, displs,
                         MPI_INT, MPI_COMM_WORLD);
}

static void check(int call)
{
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < expected[r]; i++)
            EXPECT(out[displs[r] + i] == value(call, r, rank, i));
        EXPECT(out[displs[r] + expected[r]] == -1);
    }
}

/* A count below 0, one array of counts for both sides of one buffer, none to
 * send from. */
static int call_wrongly(int how)
{
    int rc, kept = counts[0];

    if (how == 0) {
        counts[0] = -1;
        rc = exchange();
        counts[0] = kept;
        return rc;
    }
    if (how == 2) {
        counts[0] = 1;
        displs[0] = 0;
    }
    rc = MPI_Alltoallv(how == 1 ? out : NULL, counts, displs, MPI_INT, out,
                       how == 1 ? counts : expected, displs, MPI_INT,
                       MPI_COMM_WORLD);
    counts[0] = kept;
    displs[0] = (size - 1) * INTS_MOST;
    return rc;
}

static void refused(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < ROUNDS; i++) {
        prepare(i, 20);
        if (rank == i % size)
            EXPECT(call_wrongly(i % 3) != MPI_SUCCESS);
        EXPECT(exchange() == MPI_SUCCESS);
        check(i);
    }
}

static void sizes(void)
{
    for (int i = 0; i < CALLS; i++) {
        int most = i % 500 < 250 ? 8 : 3000;

        prepare(i, most);
        EXPECT(exchange() == MPI_SUCCESS);
        check(i);
    }
}

/* All return, and so does the next call. */
static void lengths(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < ROUNDS; i++) {
        prepare(i, 900);
        if (i == ROUNDS / 2)
            expected[(rank + 1) % size] += expected[(rank + 1) % size] > 0;
        (void) exchange();
        if (i != ROUNDS / 2)
            check(i);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {{"refused", refused}, {"sizes", sizes}, {"lengths", lengths}};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    int all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        if (strcmp(stories[i].name, wanted) == 0)
            stories[i].run();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0 && all == 0)
        printf("story %s: ok\n", wanted);
    return wrong != 0;
}
