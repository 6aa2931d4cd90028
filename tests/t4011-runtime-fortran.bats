# SPDX-License-Identifier: BSD-3-Clause
# The three Fortran bindings, C with Fortran, and C++. mpif.h and `use mpi` call the
# MPI_ functions of C and MPII_ helpers, mpi_f08 calls PMPI_.

load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    mpifort.mpich "$BATS_TEST_DIRNAME/world/f77.f" -o f77
    mpifort.mpich "$BATS_TEST_DIRNAME/world/f08.f90" -o f08
    mpicc.mpich -c "$BATS_TEST_DIRNAME/world/mixed.c"
    mpifort.mpich "$BATS_TEST_DIRNAME/world/mixed.f90" mixed.o -o mixed
}

@test "mpif.h" {
    same_everywhere 3 "$BATS_FILE_TMPDIR/f77"
}

@test "mpi_f08" {
    same_everywhere 3 "$BATS_FILE_TMPDIR/f08" "$BATS_TEST_TMPDIR/data"
}

@test "use mpi, mixed with C" {
    same_everywhere 3 "$BATS_FILE_TMPDIR/mixed"
}

@test "the universe has no ghosts for Fortran either" {
    run ghosts --mpiexec -usize --mpiexec 9 -n 2 -g 1 "$BATS_FILE_TMPDIR/f77"
    ended_with 0
    printed '0: universe +T +8'
    run ghosts --mpiexec -usize --mpiexec 9 -n 2 -g 1 \
        "$BATS_FILE_TMPDIR/f08" "$BATS_TEST_TMPDIR/data"
    ended_with 0
    printed '0: universe +T +8'
}

@test "C++" {
    mpicxx.mpich "$BATS_TEST_DIRNAME/world/cxx.cc" -o "$BATS_TEST_TMPDIR/cxx"
    same_everywhere 2 "$BATS_TEST_TMPDIR/cxx"
}
