/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of one phase, for adapt=auto: what ghosts do for them is known.
 *   talk      all ranks put and get all the time: ghosts are in the way
 *   pause     the same, with a short rest now and then, outside MPI: it is short
 *             against what waits for the ghost
 *   sleep     rank 0 does, the others sleep, with a call of MPI now and then
 *   fence     all add to all and fence, all the time
 *   messages  no window at all
 * Puts and Gets are strided, so that they are sent on the same node, too, and
 * read back what was written. Rank 0 prints how many rounds it has done.
 * usage: auto KIND [seconds] */
#include "../rma/rma.h"

#include <time.h>

enum { PAIRS = 8, ROUNDS = 16, NAP_NS = 10000000, PAUSE_NS = 200000 };

static long *base, round_now;
static MPI_Win win;
static MPI_Datatype strided;

static void move(int target)
{
    MPI_Aint at = (MPI_Aint) rma_rank * 2 * PAIRS;
    long out[PAIRS], in[PAIRS] = {0};

    round_now++;
    for (int i = 0; i < PAIRS; i++)
        out[i] = round_now * PAIRS + i;
    MPI_Put(out, PAIRS, MPI_LONG, target, at, 1, strided, win);
    MPI_Win_flush(target, win);
    MPI_Get(in, PAIRS, MPI_LONG, target, at, 1, strided, win);
    MPI_Win_flush(target, win);
    for (int i = 0; i < PAIRS; i++)
        EXPECT(in[i] == out[i], "round %ld: %ld, not %ld", round_now, in[i],
               out[i]);
}

static void talk(void)
{
    for (int r = 0; r < ROUNDS; r++)
        for (int t = 1; t < rma_size; t++)
            move((rma_rank + t) % rma_size);
}

static void talk_and_pause(void)
{
    const struct timespec pause = {0, PAUSE_NS};

    talk();
    nanosleep(&pause, NULL);
}

static void sleep_or_talk(void)
{
    const struct timespec nap = {0, NAP_NS};
    int flag;

    if (rma_rank == 0) {
        for (int r = 0; r < ROUNDS; r++)
            for (int t = 1; t < rma_size; t++)
                move(t);
        return;
    }
    nanosleep(&nap, NULL);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
               MPI_STATUS_IGNORE);
}

static void add(void)
{
    static const long one = 1;

    round_now++;
    for (int t = 0; t < rma_size; t++)
        MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
}

static void pass(void)
{
    int next = (rma_rank + 1) % rma_size;
    int last = (rma_rank + rma_size - 1) % rma_size, in;

    MPI_Sendrecv(&rma_rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, last, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(in == last, "%d from %d", in, last);
}

static const struct kind {
    const char *name;
    void (*step)(void);
    int fences, windows;
} kinds[] = {
    {"talk", talk, 0, 1},
    {"pause", talk_and_pause, 0, 1},
    {"sleep", sleep_or_talk, 0, 1},
    {"fence", add, 1, 1},
    {"messages", pass, 0, 0},
};

/* Rank 0 decides when it is over; who fences or passes on must do so equally
 * often. */
static int goes_on(const struct kind *kind, double until)
{
    static long calls;
    static MPI_Request over = MPI_REQUEST_NULL;
    static int mine;
    int flag, on = MPI_Wtime() < until;

    if (kind->fences || !kind->windows) {
        if (calls++ % ROUNDS == 0)
            MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        else
            on = 1;
        return on;
    }
    if (rma_rank == 0)
        return on;
    if (over == MPI_REQUEST_NULL)
        MPI_Irecv(&mine, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &over);
    MPI_Test(&over, &flag, MPI_STATUS_IGNORE);
    return !flag;
}

static void end(const struct kind *kind)
{
    if (kind->fences) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        EXPECT(base[0] == round_now * rma_size, "%ld of %ld", base[0],
               round_now * rma_size);
    } else if (kind->windows) {
        for (int t = 1; rma_rank == 0 && t < rma_size; t++)
            MPI_Send(&t, 1, MPI_INT, t, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock_all(win);
    }
    if (kind->windows)
        MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    const struct kind *kind = NULL;
    double seconds = argc > 2 ? atof(argv[2]) : 2, until;

    rma_begin(&argc, &argv);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (argc > 1 && strcmp(argv[1], kinds[k].name) == 0)
            kind = &kinds[k];
    if (!kind)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Type_vector(PAIRS, 1, 2, MPI_LONG, &strided);
    MPI_Type_commit(&strided);
    if (kind->windows) {
        MPI_Win_allocate(rma_size * 2 * PAIRS * (MPI_Aint) sizeof(long),
                         sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &win);
        base[0] = 0;
        if (kind->fences)
            MPI_Win_fence(0, win);
        else
            MPI_Win_lock_all(0, win);
    }
    until = MPI_Wtime() + seconds;
    while (goes_on(kind, until))
        kind->step();
    end(kind);
    if (rma_rank == 0)
        printf("rounds %ld\n", round_now);
    MPI_Type_free(&strided);
    return rma_end("auto");
}
