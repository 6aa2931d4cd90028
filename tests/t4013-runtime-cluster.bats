# SPDX-License-Identifier: BSD-3-Clause
# What a program sees under srun on two nodes, with and without ghosts.

load helpers

# Files of jobs are where all nodes see them.
setup_file() {
    export world=$ASPEN_BUILD/tests/world
    export work=$ASPEN_BUILD/tests/runtime-cluster
    mkdir -p "$work"
}

teardown_file() {
    rm -rf "$work"
}

step() {
    on_cluster srun -N2 --ntasks-per-node=2 \
        "--export=ALL,LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" "$@"
}

# Fail unless a step prints the same lines with and without ghosts.
same_in_steps() {
    local plain
    plain=$(step --async-progress=off "$@") || return 1
    diff <(sort <<<"$plain") <(step --async-progress=ghost:1 "$@" | sort)
}

@test "communicators and attributes" {
    same_in_steps "$world/comm"
    same_in_steps "$world/attr"
}

@test "error handlers and files" {
    same_in_steps "$world/errh"
    same_in_steps "$world/file" "$work/data"
}

@test "sessions" {
    same_in_steps "$world/session" alone
    # As in t4010.
    [[ $(mpich_release) =~ ^(4.2|5.0)$ ]] || same_in_steps "$world/session" before
}

@test "mpi_f08" {
    mpifort.mpich "$BATS_TEST_DIRNAME/world/f08.f90" -J "$work" -o "$work/f08"
    same_in_steps "$work/f08" "$work/data"
}

@test "MPI_Abort on the world, a fatal error: same status, prompt end" {
    for how in abort fatal fatal-away; do
        run step --async-progress=off "$world/life" 0 $how
        plain=$status
        [ "$plain" -ne 0 ]
        [ "$plain" -ne 124 ] # a time limit would be no end
        run step --async-progress=ghost:1 "$world/life" 0 $how
        # MPI_Abort of MPICH 4.2 returns, and ranks end in one way or another
        # until they are killed, plain ones too.
        [[ $(mpich_release) != 4.2 || $status == 0 || $status == 124 ]] ||
            plain=$status
        ended_with "$plain"
        not_printed 'after: '
    done
}
