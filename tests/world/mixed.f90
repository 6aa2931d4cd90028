! SPDX-License-Identifier: BSD-3-Clause
! The Fortran half of mixed.c: `use mpi`, called from C.
module mixed
    use mpi
    implicit none
    integer :: rank = -1
contains
    subroutine on_delete(comm, keyval, val, extra, ierror)
        integer :: comm, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: val, extra
        print '(i2,a,l2,i4)', rank, ': Fortran delete, world', &
            comm == MPI_COMM_WORLD, val
        ierror = MPI_SUCCESS
    end subroutine

    ! Read what C has set, and set what C will read.
    subroutine fortran_part(keyval_c, keyval_f) bind(C)
        use iso_c_binding, only: c_int
        integer(c_int), intent(in), value :: keyval_c
        integer(c_int), intent(out) :: keyval_f
        integer(MPI_ADDRESS_KIND) :: val, extra
        integer :: ierror
        logical :: flag

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
        call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval_c, val, flag, ierror)
        print '(i2,a,l2,i4)', rank, ': Fortran sees', flag, val
        extra = 0
        call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, keyval_f, &
                                    extra, ierror)
        val = 44
        call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval_f, val, ierror)
    end subroutine
end module
