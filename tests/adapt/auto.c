/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of one phase, for adapt=auto: what ghosts do for them is known.
 *   talk      all ranks put and get all the time: ghosts are in the way
 *   pause     the same, with a short rest now and then, outside MPI: it is short
 *             against what waits for the ghost
 *   sleep     rank 0 does, the others sleep, with a call of MPI now and then
 *   fence     all add to all and fence, all the time
 *   messages  no window at all, and small messages that block
 *   halo      large ones that do not, and all sleep beside them
 *   persistent  the same, by requests that were made before the first call that
 *             takes long
 *   pending   pause, beside a large message that is received at the end
 *   bursts    talk and halo in turns, each for some tenths of a second
 * Puts and Gets are strided, so that they are sent on the same node, too, and
 * read back what was written. Rank 0 prints how many rounds it has done.
 * usage: auto KIND [seconds] */
#include "tests/helper_threads.h"
#include "tests/rma/rma.h"

#include <time.h>

enum {
    PAIRS = 8,
    ROUNDS = 16,
    NAP_NS = 10000000,
    PAUSE_NS = 200000,
    REST_NS = 1000000,
    WORK_NS = 2000000,
    HALO = 1 << 19
};

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

static void talk_and_rest(void)
{
    const struct timespec rest = {0, REST_NS};

    talk();
    nanosleep(&rest, NULL);
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

static long out_halo[HALO], in_halo[HALO];
static MPI_Request made[2];

/* Longs to the next and from the last, while we "compute". */
static void exchange(void)
{
    const struct timespec work = {0, WORK_NS};
    int next = (rma_rank + 1) % rma_size;
    int last = (rma_rank + rma_size - 1) % rma_size;
    MPI_Request fresh[2], *both = made[0] ? made : fresh;
    MPI_Status statuses[2];

    round_now++;
    for (int i = 0; i < HALO; i += 511)
        out_halo[i] = rma_rank + round_now * i;
    if (made[0]) {
        MPI_Startall(2, both);
    } else {
        MPI_Irecv(in_halo, HALO, MPI_LONG, last, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out_halo, HALO, MPI_LONG, next, 0, MPI_COMM_WORLD, &both[1]);
    }
    nanosleep(&work, NULL);
    MPI_Waitall(2, both, statuses);
    for (int i = 0; i < HALO; i += 511)
        EXPECT(in_halo[i] == last + round_now * i, "round %ld, %d: %ld",
               round_now, i, in_halo[i]);
}

static void burst(void)
{
    static unsigned turn;

    if (turn++ / ROUNDS % 5 < 3)
        exchange();
    else
        for (int i = 0; i < 120; i++)
            talk();
}

static const struct kind {
    const char *name;
    void (*step)(void);
    int fences, windows, together;
} kinds[] = {
    {"talk", talk, 0, 1, 0},           {"pause", talk_and_pause, 0, 1, 0},
    {"sleep", sleep_or_talk, 0, 1, 0}, {"fence", add, 1, 1, 1},
    {"messages", pass, 0, 0, 1},       {"halo", exchange, 0, 0, 1},
    {"persistent", exchange, 0, 0, 1}, {"pending", talk_and_rest, 0, 1, 1},
    {"bursts", burst, 0, 1, 1},
};

/* Rank 0 decides when it is over; who fences or passes on must do so equally
 * often. */
static int goes_on(const struct kind *kind, double until)
{
    static long calls;
    static MPI_Request over = MPI_REQUEST_NULL;
    static int mine;
    int flag, on = MPI_Wtime() < until;

    if (kind->together) {
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
        for (int t = 1; !kind->together && rma_rank == 0 && t < rma_size; t++)
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
    MPI_Request pending = MPI_REQUEST_NULL;
    double seconds = argc > 2 ? atof(argv[2]) : 2, until;

    rma_begin(&argc, &argv);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (argc > 1 && strcmp(argv[1], kinds[k].name) == 0)
            kind = &kinds[k];
    if (!kind)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(kind->name, "persistent") == 0) {
        MPI_Recv_init(in_halo, HALO, MPI_LONG,
                      (rma_rank + rma_size - 1) % rma_size, 0, MPI_COMM_WORLD,
                      &made[0]);
        MPI_Send_init(out_halo, HALO, MPI_LONG, (rma_rank + 1) % rma_size, 0,
                      MPI_COMM_WORLD, &made[1]);
    }
    MPI_Type_vector(PAIRS, 1, 2, MPI_LONG, &strided);
    MPI_Type_commit(&strided);
    if (kind->windows) {
        MPI_Win_allocate(rma_size * 2 * PAIRS * (MPI_Aint) sizeof(long),
                         sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &win);
        base[0] = 0;
        MPI_Barrier(MPI_COMM_WORLD); /* before others put there */
        if (kind->fences)
            MPI_Win_fence(0, win);
        else
            MPI_Win_lock_all(0, win);
    }
    if (strcmp(kind->name, "pending") == 0)
        MPI_Irecv(in_halo, HALO, MPI_LONG, rma_rank, 5, MPI_COMM_WORLD,
                  &pending);
    until = MPI_Wtime() + seconds;
    while (goes_on(kind, until))
        kind->step();
    if (rma_rank == 0)
        printf("progress thread at the end: %s\n",
               helper_use("aspen-progress").threads ? "yes" : "no");
    if (pending != MPI_REQUEST_NULL) {
        MPI_Send(out_halo, HALO, MPI_LONG, rma_rank, 5, MPI_COMM_WORLD);
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
    }
    end(kind);
    if (rma_rank == 0)
        printf("rounds %ld\n", round_now);
    for (int i = 0; i < 2; i++)
        if (made[i])
            MPI_Request_free(&made[i]);
    MPI_Type_free(&strided);
    return rma_end("auto");
}
