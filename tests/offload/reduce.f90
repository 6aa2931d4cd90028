! SPDX-License-Identifier: BSD-3-Clause
! The reduction and the program call the same subroutine, whose local array
! gfortran keeps in static memory because of its size.
module sums
  use mpi_f08
  implicit none
  integer, parameter :: n = 20000
contains
  subroutine add(from, to, factor)
    real(8), intent(in) :: from(n), factor
    real(8), intent(inout) :: to(n)
    real(8) :: work(n)
    integer :: k
    work = from * factor
    do k = 1, 20
      work = work + 0.5d0
    end do
    to = to + work - 10d0
  end subroutine

  subroutine reduce(from, to, length, type)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: from, to
    integer :: length
    type(MPI_Datatype) :: type
    real(8), pointer :: a(:), b(:)
    call c_f_pointer(from, a, [length])
    call c_f_pointer(to, b, [length])
    call add(a, b, 1d0)
  end subroutine
end module

program main
  use sums
  implicit none
  type(MPI_Op) :: op
  type(MPI_Request) :: request
  integer :: rank, ranks, round, k, wrong, all
  real(8), save :: mine(n), sum_of(n), other(n), total(n)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Op_create(reduce, .true., op)
  wrong = 0
  do round = 1, 10
    mine = rank + 1
    sum_of = 0
    other = 3
    total = 0
    call MPI_Iallreduce(mine, sum_of, n, MPI_DOUBLE_PRECISION, op, &
                        MPI_COMM_WORLD, request)
    do k = 1, 20
      call add(other, total, 2d0)
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    wrong = wrong + count(sum_of /= ranks * (ranks + 1) / 2d0) &
            + count(total /= 120d0)
  end do
  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a)', all, ' wrong'
  call MPI_Finalize()
end program
