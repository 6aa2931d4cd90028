! SPDX-License-Identifier: BSD-3-Clause
! A window on an allocatable array: everybody adds to everybody's elements.
! Prints "ok heap".
program heap
    use mpi_f08
    implicit none

    integer, parameter :: elements = 200000
    double precision, allocatable, asynchronous :: field(:)
    double precision, asynchronous :: one(10)
    integer :: rank, ranks, target, wrong, total
    type(MPI_Win) :: win

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    allocate (field(elements))
    field = 0
    one = 1
    call MPI_Win_create(field, int(elements, MPI_ADDRESS_KIND) * 8, 8, &
                        MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_lock_all(0, win)
    do target = 0, ranks - 1
        call MPI_Accumulate(one, 10, MPI_DOUBLE_PRECISION, target, &
                            int(elements - 10, MPI_ADDRESS_KIND), 10, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win)
    end do
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    wrong = count(field(elements - 9:) /= ranks) + &
            count(field(:elements - 10) /= 0)
    call MPI_Win_free(win)
    deallocate (field)
    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0 .and. total == 0) print '(a)', 'ok heap'
    if (rank == 0 .and. total > 0) print '(a,i0)', 'wrong elements: ', total
    call MPI_Finalize()
end program
