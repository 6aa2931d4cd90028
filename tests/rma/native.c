/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that ghosts cannot serve: private memory, dynamic, shared. */
#include "rma.h"

static void add(MPI_Win win, MPI_Aint disp, const long *word)
{
    const long one = 1;
    int target = 0;

    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, target, disp, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rma_rank == target)
        EXPECT(*word == rma_size, "sum %ld", *word);
}

int main(int argc, char **argv)
{
    _Alignas(64) long private[8] = {0}, attached[8] = {0};
    MPI_Aint address;
    MPI_Info info;
    MPI_Win win;
    long *base;

    rma_begin(&argc, &argv);
    MPI_Win_create(private, sizeof(private), 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_set_name(win, "fen\xc3\xaatre \xff");
    add(win, 0, private);
    MPI_Win_free(&win);
    /* One process that wants no ghosts is enough. */
    MPI_Info_create(&info);
    if (rma_rank == 0)
        MPI_Info_set(info, "async_config", "off");
    MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    add(win, 0, base);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, attached, sizeof(attached));
    MPI_Get_address(attached, &address);
    MPI_Bcast(&address, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    add(win, address, attached);
    MPI_Win_detach(win, attached);
    MPI_Win_free(&win);
    return rma_end("native");
}
