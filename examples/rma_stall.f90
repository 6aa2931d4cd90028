! SPDX-License-Identifier: BSD-3-Clause
! The Fortran twin of rma_stall.c: one rank updates the memory of another that
! is busy with something else.
!
!   mpifort rma_stall.f90 -o rma_stall_f90
!   srun -N2 -n4 --async-progress=ghost:1 ./rma_stall_f90
program rma_stall
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none

    interface
        ! The target computes without calling MPI; here it sleeps.
        integer(c_int) function usleep(microseconds) bind(c)
            import :: c_int
            integer(c_int), value :: microseconds
        end function
    end interface

    integer, parameter :: busy_ms = 500, updates = 100
    integer :: rank, ranks, target, i, ignored
    integer(c_long), pointer :: counter
    type(c_ptr) :: memory
    type(MPI_Win) :: win
    double precision :: begin, ms

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    target = ranks - 1
    ! One counter is used; MPICH 4.0.2 wants sizes that 16 divides.
    call MPI_Win_allocate(64_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, &
                          MPI_COMM_WORLD, memory, win)
    call c_f_pointer(memory, counter)
    counter = 0
    call MPI_Win_lock_all(0, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call update()  ! the first one also opens the connection
    call MPI_Barrier(MPI_COMM_WORLD)

    begin = MPI_Wtime()
    if (rank == target) ignored = usleep(busy_ms * 1000)
    if (rank == 0) then
        do i = 1, updates
            call update()
        end do
    end if
    ms = (MPI_Wtime() - begin) * 1000

    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) print '(a,f0.3,a,i0,a,i0,a,i0,a)', 'updates took: ', ms, &
        ' ms (', updates, ' of them, to rank ', target, &
        ', which was busy for ', busy_ms, ' ms)'
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)
    if (rank == target .and. counter /= updates + 1) &
        print *, 'WRONG: the counter is ', counter
    call MPI_Win_unlock(rank, win)
    call MPI_Win_free(win)
    call MPI_Finalize()

contains

    ! Add 1 to the target's counter and wait until it is there.
    subroutine update()
        integer(c_long), save, asynchronous :: one = 1

        call MPI_Accumulate(one, 1, MPI_LONG, target, &
                            0_MPI_ADDRESS_KIND, 1, MPI_LONG, MPI_SUM, win)
        call MPI_Win_flush(target, win)
    end subroutine
end program
