/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_BOTTOM with types that have addresses, on odd ranks; even ones name the
 * same data by a buffer. In collectives, posted and persistent ones, messages,
 * and operations on windows. */
#include "expect.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, MOST = 16 };

static int size;
static int in[4 * MOST], out[4 * MOST];

/* `blocks` ints, `stride` apart; of one that is `extent` ints long. */
static MPI_Datatype typed(const int *at, int blocks, int stride, int extent)
{
    MPI_Datatype vector, absolute, type;
    MPI_Aint address;
    int one = 1;

    MPI_Get_address(at, &address);
    MPI_Type_vector(blocks, 1, stride, MPI_INT, &vector);
    MPI_Type_create_hindexed(1, &one, &address, vector, &absolute);
    MPI_Type_create_resized(absolute, 0, extent * (MPI_Aint) sizeof(int),
                            &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    MPI_Type_free(&absolute);
    return type;
}

/* One side: two numbers, at once or with a gap. */
struct side {
    void *buffer;
    MPI_Datatype type;
    int count, stride, extent;
};

static struct side side_of(int *at, int stride)
{
    struct side side = {at, MPI_INT, 2, 1, 2};

    if (rank % 2) {
        side = (struct side){MPI_BOTTOM, MPI_DATATYPE_NULL, 1, stride,
                             stride + 1};
        side.type = typed(at, 2, stride, side.extent);
    }
    return side;
}

static void end_side(struct side *side)
{
    if (side->buffer == MPI_BOTTOM)
        MPI_Type_free(&side->type);
}

static void set(const struct side *side, int *at, int block, int value)
{
    at[block * side->extent] = value;
    at[block * side->extent + side->stride] = -value;
}

static int has(const struct side *side, const int *at, int block, int value)
{
    return at[block * side->extent] == value &&
           at[block * side->extent + side->stride] == -value;
}

static struct side sends, gets;

static void begin(void)
{
    memset(in, 0, sizeof(in));
    memset(out, 0, sizeof(out));
}

static void wait_for(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void check_blocks(int base, int step)
{
    for (int r = 0; r < size; r++)
        EXPECT(has(&gets, out, r, base + r * step));
}

/* posted: by the non-blocking call. */
static void gather(int round, int posted)
{
    MPI_Request request;

    begin();
    set(&sends, in, 0, round + rank);
    if (posted) {
        MPI_Iallgather(sends.buffer, sends.count, sends.type, gets.buffer,
                       gets.count, gets.type, MPI_COMM_WORLD, &request);
        wait_for(&request);
    } else {
        MPI_Allgather(sends.buffer, sends.count, sends.type, gets.buffer,
                      gets.count, gets.type, MPI_COMM_WORLD);
    }
    check_blocks(round, 1);
    begin();
    set(&gets, out, rank, round + rank);
    if (posted) {
        MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gets.buffer,
                       gets.count, gets.type, MPI_COMM_WORLD, &request);
        wait_for(&request);
    } else {
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gets.buffer,
                      gets.count, gets.type, MPI_COMM_WORLD);
    }
    check_blocks(round, 1);
}

static void gather_to_root(int round, int posted)
{
    int root = round % size;
    MPI_Request request;

    begin();
    set(&sends, in, 0, round + rank);
    if (posted) {
        MPI_Igather(sends.buffer, sends.count, sends.type, gets.buffer,
                    gets.count, gets.type, root, MPI_COMM_WORLD, &request);
        wait_for(&request);
    } else {
        MPI_Gather(sends.buffer, sends.count, sends.type, gets.buffer,
                   gets.count, gets.type, root, MPI_COMM_WORLD);
    }
    if (rank == root)
        check_blocks(round, 1);
}

static void gather_counts(int round)
{
    int counts[MOST], displs[MOST];

    for (int r = 0; r < size; r++) {
        counts[r] = gets.count;
        displs[r] = gets.count * (size - 1 - r);
    }
    begin();
    set(&sends, in, 0, round + rank);
    MPI_Allgatherv(sends.buffer, sends.count, sends.type, gets.buffer, counts,
                   displs, gets.type, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        EXPECT(has(&gets, out, size - 1 - r, round + r));
}

/* Displacements that are addresses, with a built-in type. */
static void gather_to_addresses(int round)
{
    MPI_Count counts[MOST];
    MPI_Aint displs[MOST];
    int at_bottom = rank % 2;

    begin();
    for (int r = 0; r < size; r++) {
        counts[r] = 1 + r % 2;
        displs[r] = 2 * r;
        if (at_bottom)
            displs[r] += (MPI_Aint) out / (MPI_Aint) sizeof(int);
    }
    in[0] = round + rank;
    in[1] = round - rank;
    MPI_Allgatherv_c(in, 1 + rank % 2, MPI_INT, at_bottom ? MPI_BOTTOM : out,
                     counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        EXPECT(out[2 * r] == round + r &&
               out[2 * r + 1] == (r % 2 ? round - r : 0));
}

static void scatter(int round, int posted)
{
    int root = round % size;
    MPI_Request request;

    begin();
    for (int r = 0; r < size; r++)
        set(&sends, in, r, round + r);
    if (posted) {
        MPI_Iscatter(sends.buffer, sends.count, sends.type, gets.buffer,
                     gets.count, gets.type, root, MPI_COMM_WORLD, &request);
        wait_for(&request);
    } else {
        MPI_Scatter(sends.buffer, sends.count, sends.type, gets.buffer,
                    gets.count, gets.type, root, MPI_COMM_WORLD);
    }
    EXPECT(has(&gets, out, 0, round + rank));
}

static void exchange(int round, int posted)
{
    MPI_Request request;

    begin();
    for (int r = 0; r < size; r++)
        set(&sends, in, r, round + 10 * rank + r);
    if (posted) {
        MPI_Ialltoall(sends.buffer, sends.count, sends.type, gets.buffer,
                      gets.count, gets.type, MPI_COMM_WORLD, &request);
        wait_for(&request);
    } else {
        MPI_Alltoall(sends.buffer, sends.count, sends.type, gets.buffer,
                     gets.count, gets.type, MPI_COMM_WORLD);
    }
    check_blocks(round + rank, 10);
}

static void spread(int round, int posted)
{
    int root = round % size;
    MPI_Request request;

    begin();
    if (rank == root)
        set(&gets, out, 0, round + 5);
    if (posted) {
        MPI_Ibcast(gets.buffer, gets.count, gets.type, root, MPI_COMM_WORLD,
                   &request);
        wait_for(&request);
    } else {
        MPI_Bcast(gets.buffer, gets.count, gets.type, root, MPI_COMM_WORLD);
    }
    EXPECT(has(&gets, out, 0, round + 5));
}

static void repeat_persistent(int round)
{
    MPI_Request request;

    MPI_Bcast_init(gets.buffer, gets.count, gets.type, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        begin();
        if (rank == 0)
            set(&gets, out, 0, round + i);
        MPI_Start(&request);
        wait_for(&request);
        EXPECT(has(&gets, out, 0, round + i));
    }
    MPI_Request_free(&request);
}

/* Round a ring. */
static void pass_on(int round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    begin();
    set(&sends, in, 0, round + rank);
    MPI_Sendrecv(sends.buffer, sends.count, sends.type, to, 0, gets.buffer,
                 gets.count, gets.type, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT(has(&gets, out, 0, round + from));
    MPI_Sendrecv_replace(gets.buffer, gets.count, gets.type, to, 0, from, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(has(&gets, out, 0, round + (rank + 2 * size - 2) % size));
    begin();
    set(&sends, in, 0, round + rank);
    MPI_Send_init(sends.buffer, sends.count, sends.type, to, 1, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Recv_init(gets.buffer, gets.count, gets.type, from, 1, MPI_COMM_WORLD,
                  &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    EXPECT(has(&gets, out, 0, round + from));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* ---- windows ---------------------------------------------------------------- */

/* Origin and result may be at MPI_BOTTOM; the memory of the window is not. */
static void use_window(MPI_Win win, MPI_Aint disp, int round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;

    begin();
    set(&sends, in, 0, round + rank);
    MPI_Win_lock_all(0, win);
    MPI_Put(sends.buffer, sends.count, sends.type, to, disp, 2, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(gets.buffer, gets.count, gets.type, rank, disp, 2, MPI_INT, win);
    MPI_Win_flush_all(win);
    EXPECT(has(&gets, out, 0, round + from));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(sends.buffer, sends.count, sends.type, to, disp, 2, MPI_INT,
                   MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get_accumulate(sends.buffer, sends.count, sends.type, gets.buffer,
                       gets.count, gets.type, to, disp, 2, MPI_INT, MPI_NO_OP,
                       win);
    MPI_Win_flush_all(win);
    EXPECT(has(&gets, out, 0, 2 * (round + rank)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
}

static void use_windows(int round)
{
    int *base, zero[2] = {0};
    MPI_Aint address = 0, theirs = 0;
    MPI_Win win;

    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    use_window(win, 1, round);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, zero, sizeof(zero));
    MPI_Get_address(zero, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, (rank + size - 1) % size, 3, &theirs, 1,
                 MPI_AINT, (rank + 1) % size, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    begin();
    set(&sends, in, 0, round + rank);
    MPI_Win_lock_all(0, win);
    MPI_Put(sends.buffer, sends.count, sends.type, (rank + 1) % size, theirs, 2,
            MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(zero[0] == round + (rank + size - 1) % size && zero[1] == -zero[0]);
    MPI_Win_detach(win, zero);
    MPI_Win_free(&win);
    /* A part of no bytes at MPI_BOTTOM. */
    MPI_Win_create(rank % 2 ? MPI_BOTTOM : zero, rank % 2 ? 0 : sizeof(zero), 4,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(sends.buffer, sends.count, sends.type, 0, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 1; round <= ROUNDS; round++) {
        sends = side_of(in, 1 + round % 2);
        gets = side_of(out, 1 + round / 2 % 2);
        for (int posted = 0; posted < 2; posted++) {
            gather(round, posted);
            gather_to_root(round, posted);
            scatter(round, posted);
            exchange(round, posted);
            spread(round, posted);
        }
        gather_counts(round);
        gather_to_addresses(round);
        repeat_persistent(round);
        pass_on(round);
        if (round % 7 == 0)
            use_windows(round);
        end_side(&sends);
        end_side(&gets);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("bottom: %d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
