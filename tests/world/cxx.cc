// SPDX-License-Identifier: BSD-3-Clause
// The C++ bindings that MPICH still ships: callbacks on MPI::COMM_WORLD.
#include <mpi.h>

#include <cstdio>

static int rank = -1;

static int on_copy(const MPI::Comm &comm, int, void *, void *in, void *out,
                   bool &flag)
{
    std::printf("%d: copy, world %d\n", rank, comm == MPI::COMM_WORLD);
    *static_cast<void **>(out) = in;
    flag = true;
    return MPI_SUCCESS;
}

static int on_delete(MPI::Comm &comm, int, void *, void *)
{
    std::printf("%d: delete, world %d\n", rank, comm == MPI::COMM_WORLD);
    return MPI_SUCCESS;
}

static void on_error(MPI::Comm &comm, int *, ...)
{
    std::printf("%d: handler, world %d\n", rank, comm == MPI::COMM_WORLD);
}

int main()
{
    MPI::Init();
    rank = MPI::COMM_WORLD.Get_rank();
    int keyval = MPI::Comm::Create_keyval(on_copy, on_delete, nullptr);
    MPI::COMM_WORLD.Set_attr(keyval, &rank);
    MPI::Intracomm dup = MPI::COMM_WORLD.Dup();
    dup.Free();
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_error);
    MPI::COMM_WORLD.Set_errhandler(handler);
    MPI::COMM_WORLD.Call_errhandler(MPI::ERR_TAG);
    std::printf("%d: size %d\n", rank, MPI::COMM_WORLD.Get_size());
    MPI::Finalize();
    return 0;
}
