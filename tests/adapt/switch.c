/* SPDX-License-Identifier: BSD-3-Clause */
/* Redirection switched off and on by info keys at every legal point. Knows
 * nothing of Aspen: on plain MPICH the keys say nothing and the values are the
 * same. Prints "story NAME: ok" for each story.
 * usage: switch [rounds [story]] */
#include "tests/rma/rma.h"

#include <time.h>

enum { WORDS = 64, BURST = 20, MOST_RANKS = 16 };

static int rounds;
static long *base;
static MPI_Win win;
static unsigned chance;

static void set(const char *async, int symmetric)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (async)
        MPI_Info_set(info, "async_config", async);
    if (symmetric)
        MPI_Info_set(info, "symmetric", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
}

static void window(const char *async)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (async)
        MPI_Info_set(info, "async_config", async);
    MPI_Win_allocate(WORDS * (MPI_Aint) sizeof(long), sizeof(long), info,
                     MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    memset(base, 0, WORDS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void nap(double ms)
{
    const struct timespec time = {0, (long) (ms * 1e6)};

    nanosleep(&time, NULL);
}

/* Some rank is late now and then, so that others are ahead of it. */
static void maybe_nap(void)
{
    if (rma_random(&chance) % 4 == 0)
        nap(rma_random(&chance) % 3);
}

/* Same in all ranks, or each rank for itself. */
static const char *direction(int round, int each)
{
    unsigned own = each ? (unsigned) rma_rank * 31u : 0;
    unsigned state = (unsigned) round * 7919u + own;

    (void) rma_random(&state);
    return rma_random(&state) % 2 ? "on" : "off";
}

/* What everybody does in a round, to everybody: add to word 0, and replace word
 * 2 + origin. */
static long written[BURST], replaced[MOST_RANKS][BURST];

static void burst(int round)
{
    static const long one = 1;

    for (int i = 0; i < BURST; i++)
        written[i] = (long) round * BURST + i;
    for (int t = 0; t < rma_size; t++)
        for (int i = 0; i < BURST; i++) {
            MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Get_accumulate(&written[i], 1, MPI_LONG, &replaced[t][i], 1,
                               MPI_LONG, t, 2 + rma_rank, 1, MPI_LONG,
                               MPI_REPLACE, win);
        }
}

/* When it is complete at the origin: what was replaced is what this origin
 * wrote before, in order. */
static void check_replaced(int round)
{
    for (int t = 0; t < rma_size; t++)
        for (int i = 0; i < BURST; i++) {
            long before = (long) round * BURST + i - 1;

            EXPECT(replaced[t][i] == (before < 0 ? 0 : before),
                   "round %d: replaced %ld, not %ld", round, replaced[t][i],
                   before);
        }
}

/* At the end, when all is complete everywhere. */
static void check_own(int n)
{
    EXPECT(base[0] == (long) n * BURST * rma_size, "sum %ld of %ld", base[0],
           (long) n * BURST * rma_size);
    for (int o = 0; o < rma_size; o++)
        EXPECT(base[2 + o] == (long) n * BURST - 1, "last of %d is %ld", o,
               base[2 + o]);
}

static void fences(int each)
{
    window(NULL);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int r = 0; r < rounds; r++) {
        burst(r);
        maybe_nap();
        set(direction(r, each), 0);
        MPI_Win_fence(r % 2 ? MPI_MODE_NOSTORE : 0, win);
        check_replaced(r);
        EXPECT(base[0] >= (long) (r + 1) * BURST * rma_size, "round %d: %ld", r,
               base[0]);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_own(rounds);
    MPI_Win_free(&win);
}

static void fences_alike(void)
{
    fences(0);
}

static void fences_each(void)
{
    fences(1);
}

/* No barrier of the program's: the call that switches has to see to it. */
static void symmetric(int each)
{
    window(NULL);
    MPI_Win_lock_all(0, win);
    for (int r = 0; r < rounds; r++) {
        burst(r);
        maybe_nap();
        MPI_Win_flush_local_all(win);
        check_replaced(r);
        set(direction(r, each), 1);
        maybe_nap();
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    check_own(rounds);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void symmetric_alike(void)
{
    symmetric(0);
}

static void symmetric_each(void)
{
    symmetric(1);
}

/* Accumulates that take so long that two executors at the same bytes would run
 * into each other, from all to all, under way when the direction changes. */
static void large(int fence)
{
    enum { LONGS = 8192, TIMES = 4 };
    static long ones[LONGS];
    long expected = (long) rounds * TIMES * rma_size;

    for (int i = 0; i < LONGS; i++)
        ones[i] = 1;
    MPI_Win_allocate(sizeof(ones), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    memset(base, 0, sizeof(ones));
    MPI_Barrier(MPI_COMM_WORLD);
    if (fence)
        MPI_Win_fence(0, win);
    else
        MPI_Win_lock_all(0, win);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < TIMES * rma_size; i++)
            MPI_Accumulate(ones, LONGS, MPI_LONG, (rma_rank + i) % rma_size, 0,
                           LONGS, MPI_LONG, MPI_SUM, win);
        maybe_nap();
        set(r % 2 ? "on" : "off", !fence);
        if (fence)
            MPI_Win_fence(0, win);
    }
    if (!fence)
        MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < LONGS; i++)
        EXPECT(base[i] == expected, "word %d is %ld, not %ld", i, base[i],
               expected);
    MPI_Win_free(&win);
}

static void large_fences(void)
{
    large(1);
}

static void large_symmetric(void)
{
    large(0);
}

/* Get, change, put under an exclusive lock; the lock is never the target's. */
static void guarded(void)
{
    long value;

    window("off");
    for (int r = 0; r < rounds; r++) {
        for (int t = 0; t < rma_size; t++) {
            int target = (rma_rank + t) % rma_size;

            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Get(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, win);
            MPI_Win_flush(target, win);
            value++;
            MPI_Put(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, win);
            MPI_Win_unlock(target, win);
        }
        set(direction(r, 1), 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, win);
    EXPECT(base[1] == (long) rounds * rma_size, "%ld of %ld", base[1],
           (long) rounds * rma_size);
    MPI_Win_unlock(rma_rank, win);
    MPI_Win_free(&win);
}

/* Post, start, complete, wait, with derived types and requests in between. */
static void exposed(void)
{
    MPI_Datatype comb;
    MPI_Group group;
    long line[4] = {1, 2, 3, 4}, got[4];

    window("off");
    MPI_Type_vector(4, 1, 2, MPI_LONG, &comb);
    MPI_Type_commit(&comb);
    MPI_Win_get_group(win, &group);
    for (int r = 0; r < rounds; r++) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        for (int t = 0; t < rma_size; t++)
            MPI_Accumulate(line, 4, MPI_LONG, t, 16, 1, comb, MPI_SUM, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        set(direction(r, 1), 1);
        MPI_Win_lock_all(0, win);
        for (int t = 0; t < rma_size; t++) {
            MPI_Request request;

            MPI_Rget(got, 4, MPI_LONG, t, 16, 1, comb, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Win_flush(t, win); /* plain MPICH 4.0.2 needs it */
            for (int i = 0; i < 4; i++)
                EXPECT(got[i] == (long) (r + 1) * rma_size * line[i],
                       "round %d: %ld", r, got[i]);
        }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&group);
    MPI_Type_free(&comb);
    MPI_Win_free(&win);
}

/* A known number of operations in each direction, for who counts: each rank
 * sends 10 to every other while on, 30 while off, 7 while on again. */
static void counted(void)
{
    static const struct {
        const char *async;
        int n;
    } phases[] = {{NULL, 10}, {"off", 30}, {"on", 7}, {NULL, 3}};
    long one = 1;

    window(NULL);
    MPI_Win_set_name(win, "counted");
    for (int p = 0; p < 4; p++) {
        set(phases[p].async, 1);
        MPI_Win_lock_all(0, win);
        for (int t = 0; t < rma_size; t++)
            for (int i = 0; i < phases[p].n; i++)
                MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM,
                               win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rma_rank, 0, win);
    EXPECT(base[0] == 50L * rma_size, "%ld", base[0]);
    MPI_Win_unlock(rma_rank, win);
    MPI_Win_free(&win);
}

/* Said but not yet in effect; then a window that begins off. */
static void latched(void)
{
    long one = 1;

    window(NULL);
    for (int i = 0; i < 2; i++) {
        set("off", 0);
        MPI_Win_lock_all(0, win);
        for (int t = 0; t < rma_size; t++)
            MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    window("off");
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int t = 0; t < rma_size; t++)
        MPI_Fetch_and_op(&one, &replaced[t][0], MPI_LONG, t, 0, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT(base[0] == rma_size, "%ld", base[0]);
    MPI_Win_free(&win);
}

/* What makes a point legal: nobody leaves before all have come. */
static void waits(void)
{
    static const int asserts[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED};

    window(NULL);
    for (int i = 0; i < 6; i++) {
        double begin;

        MPI_Barrier(MPI_COMM_WORLD);
        begin = seconds();
        if (rma_rank == i % rma_size)
            nap(60);
        if (i < 3)
            MPI_Win_fence(asserts[i], win);
        else
            set(i == 4 ? "off" : NULL, 1);
        EXPECT(seconds() - begin > 0.04, "%s %d does not wait: %.3f s",
               i < 3 ? "fence" : "set_info", i, seconds() - begin);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*tell)(void);
    } stories[] = {
        {"fences_alike", fences_alike},
        {"fences_each", fences_each},
        {"symmetric_alike", symmetric_alike},
        {"symmetric_each", symmetric_each},
        {"large_fences", large_fences},
        {"large_symmetric", large_symmetric},
        {"guarded", guarded},
        {"exposed", exposed},
        {"counted", counted},
        {"latched", latched},
        {"waits", waits},
    };
    int told = 0;

    rma_begin(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    chance = (unsigned) rma_rank;
    for (size_t s = 0; s < sizeof(stories) / sizeof(*stories); s++) {
        int before = rma_failures;

        if (argc > 2 && strcmp(argv[2], stories[s].name) != 0)
            continue;
        told++;
        stories[s].tell();
        if (rma_rank == 0 && rma_failures == before)
            printf("story %s: ok\n", stories[s].name);
    }
    EXPECT(told > 0, "no such story");
    return rma_end("switch");
}
