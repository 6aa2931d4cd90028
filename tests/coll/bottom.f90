! SPDX-License-Identifier: BSD-3-Clause
! MPI_BOTTOM and MPI_IN_PLACE in collectives, from each Fortran binding: with
! -DF08 mpi_f08, with -DMPIF mpif.h, else the module mpi.
program bottom
#if defined(F08)
    use mpi_f08
    implicit none
    type(MPI_Datatype) :: absolute, inner, vector, all
    type(MPI_Request) :: request
#elif defined(MPIF)
    implicit none
    include 'mpif.h'
    integer :: absolute, inner, vector, all, request
#else
    use mpi
    implicit none
    integer :: absolute, inner, vector, all, request
#endif
    integer :: rank, size, ierror, i, r, wrong(1) = 0, total(1)
    integer, volatile :: in(8), out(64)
    integer(MPI_ADDRESS_KIND) :: at(1), extent

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, inner, ierror)
    call MPI_Get_address(in, at(1), ierror)
    call MPI_Type_create_hindexed(1, [1], at, inner, absolute, ierror)
    call MPI_Type_commit(absolute, ierror)
    extent = 16
    call MPI_Get_address(out, at(1), ierror)
    call MPI_Type_create_hindexed(1, [1], at, inner, all, ierror)
    call MPI_Type_create_resized(all, 0_MPI_ADDRESS_KIND, extent, vector, ierror)
    call MPI_Type_commit(vector, ierror)
    do i = 1, 20
        in = 0
        out = 0
        in(1) = rank + i
        in(3) = -in(1)
        call MPI_Allgather(MPI_BOTTOM, 1, absolute, MPI_BOTTOM, 1, vector, &
                           MPI_COMM_WORLD, ierror)
        call check
        out = 0
        out(4 * rank + 1) = in(1)
        out(4 * rank + 3) = in(3)
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, 1, &
                           vector, MPI_COMM_WORLD, ierror)
        call check
        out = 0
        call MPI_Iallgather(MPI_BOTTOM, 1, absolute, MPI_BOTTOM, 1, vector, &
                            MPI_COMM_WORLD, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check
        if (rank /= 0) in = 0
        call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, ierror)
        if (in(1) /= i .or. in(3) /= -i) wrong = wrong + 1
        in(1) = rank
        call MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INTEGER, MPI_SUM, &
                           MPI_COMM_WORLD, ierror)
        if (in(1) /= size * (size - 1) / 2) wrong = wrong + 1
    end do
    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                       ierror)
    if (rank == 0) print '(a,i2,a)', 'bottom:', total, ' wrong'
    call MPI_Type_free(absolute, ierror)
    call MPI_Type_free(vector, ierror)
    call MPI_Type_free(inner, ierror)
    call MPI_Type_free(all, ierror)
    call MPI_Finalize(ierror)
contains
    subroutine check
        do r = 0, size - 1
            if (out(4 * r + 1) /= r + i .or. out(4 * r + 3) /= -r - i) &
                wrong = wrong + 1
        end do
    end subroutine
end program
