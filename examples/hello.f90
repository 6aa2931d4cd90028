! SPDX-License-Identifier: BSD-3-Clause
! The Fortran twin of hello.c: who runs where, and how many ghosts serve a node.
!
!   mpifort.mpich -o hello_f90 hello.f90
!   srun -N2 -n4 --async-progress=ghost:1 ./hello_f90
program hello
    use, intrinsic :: iso_c_binding, only: c_int
    use mpi_f08
    implicit none

    interface
        integer(c_int) function sched_getcpu() bind(C)
            import :: c_int
        end function sched_getcpu
    end interface

    integer, parameter :: line_length = 256
    character(len=MPI_MAX_PROCESSOR_NAME) :: node
    character(len=line_length) :: line
    character(len=line_length), allocatable :: lines(:)
    integer :: rank, ranks, length, i

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Get_processor_name(node, length)
    write (line, '(a,i0,a,i0,3a,i0,a,i0,a)') 'rank ', rank, ' of ', ranks, &
        ' on ', node(:length), ', CPU ', sched_getcpu(), '; ', ghosts(), &
        ' ghosts per node'
    allocate (lines(merge(ranks, 1, rank == 0)))
    call MPI_Gather(line, line_length, MPI_CHARACTER, lines, line_length, &
                    MPI_CHARACTER, 0, MPI_COMM_WORLD)
    if (rank == 0) then
        do i = 1, ranks
            print '(a)', trim(lines(i))
        end do
    end if
    call MPI_Finalize()

contains

    ! The number after "gpn=" in ASPEN_LAYOUT; 0 without Aspen.
    integer function ghosts()
        character(len=:), allocatable :: layout
        integer :: bytes, at, status

        ghosts = 0
        call get_environment_variable('ASPEN_LAYOUT', length=bytes, &
                                      status=status)
        if (status /= 0 .or. bytes == 0) return
        allocate (character(len=bytes) :: layout)
        call get_environment_variable('ASPEN_LAYOUT', layout)
        at = index(layout, ' gpn=')
        if (at > 0) read (layout(at + 5:), *, iostat=status) ghosts
    end function ghosts
end program hello
