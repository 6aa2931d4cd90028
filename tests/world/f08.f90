! SPDX-License-Identifier: BSD-3-Clause
! mpi_f08, which calls PMPI_ functions: attributes, error handlers, topology,
! file and sessions.
module callbacks
    use mpi_f08
    implicit none
    integer :: rank = -1
contains
    subroutine on_copy(oldcomm, comm_keyval, extra_state, attribute_val_in, &
                       attribute_val_out, flag, ierror)
        type(MPI_Comm) :: oldcomm
        integer :: comm_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in
        integer(MPI_ADDRESS_KIND) :: attribute_val_out
        logical :: flag
        print '(i2,a,l2,2i4)', rank, ': copy, world', &
            oldcomm == MPI_COMM_WORLD, extra_state, attribute_val_in
        attribute_val_out = attribute_val_in + 1
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine on_delete(comm, comm_keyval, attribute_val, extra_state, ierror)
        type(MPI_Comm) :: comm
        integer :: comm_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
        print '(i2,a,l2,2i4)', rank, ': delete, world', &
            comm == MPI_COMM_WORLD, extra_state, attribute_val
        ierror = MPI_SUCCESS
    end subroutine

    subroutine on_error(comm, error_code)
        type(MPI_Comm) :: comm
        integer :: error_code
        print '(i2,a,l2)', rank, ': handler, world', comm == MPI_COMM_WORLD
    end subroutine
end module

program f08
    use callbacks
    implicit none
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    type(MPI_File) :: file
    type(MPI_Group) :: group
    integer :: nprocs, total, keyval, ierror, dims(1), coords(1), n
    integer(MPI_ADDRESS_KIND) :: val, extra
    logical :: flag
    character(200) :: path

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    print '(i2,a,2i4)', rank, ': size and sum', nprocs, total
    val = -1
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, val, flag)
    if (.not. flag) val = 0
    print '(i2,a,l2,i12)', rank, ': universe', flag, val
    extra = 5
    call MPI_Comm_create_keyval(on_copy, on_delete, keyval, extra)
    val = 77
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, val)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, keyval, val, flag)
    print '(i2,a,l2,i4)', rank, ': copied', flag, val
    call MPI_Comm_free(comm)
    call MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, n)
    print '(i2,a,l2)', rank, ': identical', n == MPI_IDENT
    call MPI_Comm_create_errhandler(on_error, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
    call MPI_Send(n, 1, MPI_INTEGER, -77, 0, MPI_COMM_WORLD, ierror)
    print '(i2,a,l2)', rank, ': error', ierror /= MPI_SUCCESS
    dims(1) = nprocs
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.true.], .false., comm)
    call MPI_Cart_coords(comm, rank, 1, coords)
    call MPI_Comm_free(comm)
    print '(i2,a,i4)', rank, ': coordinate', coords(1)
    call get_command_argument(1, path)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), &
                       MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
    call MPI_File_get_group(file, group)
    call MPI_Group_size(group, n)
    print '(i2,a,i4)', rank, ': group of the file', n
    call MPI_Group_free(group)
    call MPI_File_close(file)
    call MPI_Finalize()
end program
