#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# MPICH's own algorithms, each chosen by control variables for one call.

load helpers

# $1 ranks on $2 pretended nodes; MPICH alone, which is told to fail where it would
# silently take another algorithm.
native() {
    MPIR_CVAR_NUM_CLIQUES=$2 run timeout -k 5 100 mpiexec.mpich -n "$1" \
        "$ASPEN_BUILD/tests/coll_native" "${@:3}"
    ended_with 0
    printed "^ok $3|^ok [0-9]+ "
}

@test "every algorithm gives what MPI's choice gives, with the algorithm's messages" {
    native 4 1 each
    native 4 2 each
    native 5 2 each
}

@test "an algorithm that is taken for MPI's own choice sends what that sends" {
    native 6 1 default
    native 6 2 default
}

# tests/coll-native-campaign has the whole.
@test "random algorithms and calls: none aborts, hangs or falls back" {
    native 8 1 random 1 400
    native 7 2 random 2 400
    native 6 2 random 3 1000
    native 3 1 random 4 1000
}

@test "what others write stays, also after a call that failed" {
    native 3 1 rules
    native 4 2 rules
}

@test "there are none where several threads may call, or of unknown releases" {
    native 2 1 threads
}

# Each rank's data lie as it likes, and an algorithm of MPICH that is wrong with such
# types gets bytes: $1 ranks on $2 nodes, algorithm, operation, programs.
typed() {
    run ghosts -n "$1" --off --nodes "$2" --knob coll=tune \
        --knob "coll.force=mpich-$3" "$ASPEN_BUILD/tests/coll_typed" 3 "$5" 0 "$4" \
        blocking
    ended_with 0
    printed "^ok coll_typed $5 programs, seed 3\$"
}

@test "types with gaps, lower bounds, interleaved copies, different on each rank" {
    typed 5 2 nb-ring allgather 12
    typed 5 1 nb-brucks allgather 12
    typed 5 1 nb-tree gather 12
    typed 5 1 nb-tree scatter 12
    typed 5 1 nb-scattered alltoall 12
    typed 4 1 pairwise reduce_scatter_block 12
}

forced() {
    run ghosts -n 4 "${@:2}" --knob coll=tune --knob "coll.force=$1" \
        "$ASPEN_BUILD/tests/coll_programs" 11 40
    ended_with 0
    printed '^ok coll_programs'
}

# One algorithm for every call that it can be applied to. In mode offload what was
# posted before must not see what is written for a later call.
@test "programs get the same results, whatever stands behind" {
    for shape in --off --offload --thread '-g 1' '-g 1 --knob offload=yes'; do
        # shellcheck disable=SC2086
        forced mpich-nb-tree $shape
    done
    for name in mpich mpich-binomial mpich-recursive-doubling; do
        forced "$name" --off --nodes 2
    done
}
