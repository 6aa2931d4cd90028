#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# With coll=tune: what is known by a handle when MPI gives the handle to another
# object, and data at MPI_BOTTOM.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# usage: everywhere RANKS PROGRAM [ARGUMENT...]
everywhere() {
    local shape
    for shape in --off '-g 1 --nodes 2' --offload --thread \
        '-g 1 --knob offload=yes'; do
        # shellcheck disable=SC2086
        run ghosts -n "$1" $shape --knob coll=tune "${@:2}"
        ended_with 0
        not_printed '^aspen:'
        not_printed 'not so'
    done
}

@test "delete functions that call MPI, and who gets the handle next" {
    everywhere 4 "$build/coll_reuse" comms refused pending types windows \
        requests operations end
    printed '^reuse at the end: right$'
}

@test "the same while other threads make and free such objects" {
    everywhere 4 "$build/coll_reuse" threads window-threads
}

# What a program has that forgot to make its communicator.
@test "a communicator that is 0 is refused, before and after others" {
    cat >"$BATS_TEST_TMPDIR/zero.c" <<'C'
#include <mpi.h>
#include <stdio.h>

static void try(void)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(MPI_Barrier((MPI_Comm) 0), &class);
    printf("%s\n", class == MPI_ERR_COMM ? "refused" : "taken");
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    try();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2000; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
    try();
    MPI_Finalize();
    return 0;
}
C
    mpicc.mpich -o "$BATS_TEST_TMPDIR/zero" "$BATS_TEST_TMPDIR/zero.c"
    everywhere 2 "$BATS_TEST_TMPDIR/zero"
    # mpiexec may put the lines of two ranks into one
    [ "$(grep -o 'refused' <<<"$output" | wc -l)" -eq 4 ]
}

@test "MPI_BOTTOM and types with addresses" {
    everywhere 4 "$build/coll_bottom"
    printed '^bottom: 0 wrong$'
    run ghosts -n 5 --off --nodes 2 --knob coll=tune "$build/coll_bottom"
    ended_with 0
}

@test "MPI_BOTTOM and MPI_IN_PLACE of each Fortran binding" {
    local binding shape
    for binding in F08 MPIF MODULE; do
        mpifort.mpich -cpp -w -fallow-argument-mismatch "-D$binding" \
            "$BATS_TEST_DIRNAME/coll/bottom.f90" -o "$BATS_TEST_TMPDIR/bottom"
        for shape in --off '-g 1 --knob offload=yes'; do
            # shellcheck disable=SC2086
            run ghosts -n 3 $shape --knob coll=tune "$BATS_TEST_TMPDIR/bottom"
            ended_with 0
            printed '^bottom: 0 wrong$'
        done
    done
}
