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
