! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 sends late; with mpi_f08, whose calls arrive as PMPI_Recv and its kin.
program late
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(us) bind(c)
      import c_int
      integer(c_int), value :: us
    end function
  end interface
  integer :: rank, word
  integer(c_int) :: ignored
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Barrier(MPI_COMM_WORLD)
  word = 1
  if (rank == 1) then
    ignored = usleep(300000_c_int)
    call MPI_Send(word, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
  else if (rank == 0) then
    call MPI_Recv(word, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  call MPI_Finalize()
end program
