/* SPDX-License-Identifier: BSD-3-Clause */
/* What has been put is there when the call that completes it returns: rank 1
 * puts into the memory of rank 0 and tells rank 2, which reads it; then rank 0
 * reads it. Three ranks. usage: arrived [ROUNDS] (2000) */
#include "rma.h"

enum { ORIGIN = 1, TARGET = 0, READER = 2, TAG = 3 };
enum { LARGEST = 4096 };

/* From what is always sent at once to what may be sent otherwise. */
static const int sizes[] = {1, 16, 200, LARGEST}; /* ints */
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static int *memory, sent[LARGEST];
static MPI_Win win;

static void set_sent(int value, int count)
{
    for (int i = 0; i < count; i++)
        sent[i] = value;
}

static void put(int count)
{
    MPI_Put(sent, count, MPI_INT, TARGET, 0, count, MPI_INT, win);
}

static void flush(int count)
{
    MPI_Win_lock_all(0, win);
    put(count);
    MPI_Win_flush(TARGET, win);
}

static void flush_all(int count)
{
    MPI_Win_lock_all(0, win);
    put(count);
    MPI_Win_flush_all(win);
}

/* The Put before the Get is not completed by what comes back. */
static void flush_both(int count)
{
    int got;

    MPI_Win_lock_all(0, win);
    MPI_Get(&got, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win);
    put(count);
    MPI_Win_flush(TARGET, win);
}

static void flush_request(int count)
{
    MPI_Request request;

    MPI_Win_lock_all(0, win);
    MPI_Rput(sent, count, MPI_INT, TARGET, 0, count, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(TARGET, win);
}

static void unlock(int count)
{
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
    put(count);
    MPI_Win_unlock(TARGET, win);
}

static void unlock_all(int count)
{
    MPI_Win_lock_all(0, win);
    put(count);
    MPI_Win_unlock_all(win);
}

static const struct way {
    const char *name;
    void (*store)(int count);
    int stays_locked;
} ways[] = {
    {"flush", flush, 1},
    {"flush_all", flush_all, 1},
    {"flush of both", flush_both, 1},
    {"flush of Rput", flush_request, 1},
    {"unlock", unlock, 0},
    {"unlock_all", unlock_all, 0},
};

static void look(const char *who, const char *way, const int *found, int value,
                 int count)
{
    EXPECT(found[0] == value && found[count - 1] == value,
           "%s, %s of %d: %d and %d, not %d", way, who, count, found[0],
           found[count - 1], value);
}

/* What another process reads. */
static void read_there(const struct way *way, int value, int count)
{
    static int found[LARGEST];

    MPI_Recv(NULL, 0, MPI_INT, ORIGIN, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
    MPI_Get(found, count, MPI_INT, TARGET, 0, count, MPI_INT, win);
    MPI_Win_unlock(TARGET, win);
    look("reader", way->name, found, value, count);
    MPI_Send(NULL, 0, MPI_INT, TARGET, TAG, MPI_COMM_WORLD);
}

static void one_round(const struct way *way, int value, int count)
{
    set_sent(value, count);
    if (rma_rank == ORIGIN) {
        way->store(count);
        MPI_Send(NULL, 0, MPI_INT, READER, TAG, MPI_COMM_WORLD);
        if (way->stays_locked)
            MPI_Win_unlock_all(win);
    } else if (rma_rank == READER) {
        read_there(way, value, count);
    } else if (rma_rank == TARGET) {
        MPI_Recv(NULL, 0, MPI_INT, READER, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        look("target", way->name, memory, value, count);
        MPI_Win_unlock(TARGET, win);
    }
}

/* The target's own reads where it takes part. */
static void fence_round(int value, int count)
{
    set_sent(value, count);
    MPI_Win_fence(0, win);
    if (rma_rank == ORIGIN)
        put(count);
    MPI_Win_fence(0, win);
    if (rma_rank == TARGET)
        look("target", "fence", memory, value, count);
}

static void post_round(int value, int count, MPI_Group origin, MPI_Group target)
{
    set_sent(value, count);
    if (rma_rank == TARGET) {
        MPI_Win_post(origin, 0, win);
        MPI_Win_wait(win);
        look("target", "complete", memory, value, count);
    } else if (rma_rank == ORIGIN) {
        MPI_Win_start(target, 0, win);
        put(count);
        MPI_Win_complete(win);
    }
}

static void take_part(int rounds)
{
    MPI_Group world, origin, target;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){ORIGIN}, &origin);
    MPI_Group_incl(world, 1, (int[]){TARGET}, &target);
    for (int i = 1; i <= rounds; i++)
        fence_round(i, sizes[i % SIZES]);
    for (int i = 1; i <= rounds; i++)
        post_round(i, sizes[i % SIZES], origin, target);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2000;

    rma_begin(&argc, &argv);
    if (rma_size != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_allocate(sizeof(sent), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        for (int i = 1; i <= rounds; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            one_round(&ways[w], i, sizes[i % SIZES]);
        }
    take_part(rounds);
    MPI_Win_free(&win);
    return rma_end("arrived");
}
