! SPDX-License-Identifier: BSD-3-Clause
! Windows from mpi_f08: attributes, a shared counter, a put and a get under
! fence; a window that begins where MPICH takes another base (anywhere.c).
! Prints "ok fortran".
program fortran
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none

    integer, parameter :: rounds = 50
    integer :: rank, ranks, i, wrong, total
    integer(c_long), pointer :: words(:)
    integer(c_long), asynchronous :: one, ticket, got
    integer(c_long), asynchronous, save :: private(9)
    integer(MPI_ADDRESS_KIND) :: attribute, address
    logical :: flag
    type(c_ptr) :: memory
    type(MPI_Win) :: win

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    wrong = 0
    one = 1
    call MPI_Win_allocate(128_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, &
                          MPI_COMM_WORLD, memory, win)
    call c_f_pointer(memory, words, [16])
    words = 0

    call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag)
    if (.not. flag .or. attribute /= 128) call complain('MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, attribute, flag)
    if (.not. flag .or. attribute /= MPI_WIN_FLAVOR_ALLOCATE) &
        call complain('MPI_WIN_CREATE_FLAVOR')

    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock_all(0, win)
    do i = 1, rounds
        call MPI_Fetch_and_op(one, ticket, MPI_LONG, ranks - 1, &
                              0_MPI_ADDRESS_KIND, MPI_SUM, win)
        call MPI_Win_flush(ranks - 1, win)
        if (ticket < 0 .or. ticket >= rounds * ranks) call complain('ticket')
    end do
    call MPI_Win_unlock_all(win)

    call MPI_Win_fence(0, win)
    one = 100 + rank
    call MPI_Put(one, 1, MPI_LONG, modulo(rank + 1, ranks), &
                 1_MPI_ADDRESS_KIND, 1, MPI_LONG, win)
    call MPI_Win_fence(0, win)
    call MPI_Get(got, 1, MPI_LONG, modulo(rank + 1, ranks), &
                 1_MPI_ADDRESS_KIND, 1, MPI_LONG, win)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    if (words(2) /= 100 + modulo(rank - 1, ranks)) call complain('put')
    if (got /= 100 + rank) call complain('get')
    if (rank == ranks - 1 .and. words(1) /= rounds * ranks) &
        call complain('counter')
    call MPI_Win_free(win)

    do i = 2, 3
        private = 7
        call MPI_Win_create(private(i), 48_MPI_ADDRESS_KIND, 8, &
                            MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Get_address(private(i), address)
        call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, flag)
        if (.not. flag .or. attribute /= address) call complain('MPI_WIN_BASE')
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag)
        if (.not. flag .or. attribute /= 8) call complain('MPI_WIN_DISP_UNIT')
        call MPI_Win_fence(0, win)
        call MPI_Put(one, 1, MPI_LONG, modulo(rank + 1, ranks), &
                     5_MPI_ADDRESS_KIND, 1, MPI_LONG, win)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        if (private(i + 5) /= 100 + modulo(rank - 1, ranks)) &
            call complain('put to private memory')
        if (count(private /= 7) /= 1) call complain('what lies beside it')
        call MPI_Win_free(win)
    end do

    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0 .and. total == 0) print '(a)', 'ok fortran'
    call MPI_Finalize()

contains

    subroutine complain(what)
        character(*), intent(in) :: what

        wrong = wrong + 1
        print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    end subroutine
end program
