#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One-sided communication through ghosts, without Slurm: tests/rma/*.c on one
# and on two pretended nodes, with one and with two ghosts each.

load helpers

# ghosts ARGUMENTS-OF-ghostrun...
ghosts() {
    run timeout -k 5 100 "$ASPEN_TOP/tests/ghostrun" --report "$@"
}

rma() { echo "$ASPEN_BUILD/tests/rma_$1"; }

@test "operations and types, one ghost" {
    ghosts -n 2 -g 1 "$(rma operations)"
    ended_with 0
    printed '^ok operations'
    not_printed 'native'
}

@test "derived types, units by rank, two nodes with two ghosts" {
    ghosts -n 4 -g 2 --nodes 2 "$(rma derived)" 100
    ended_with 0
    printed '^ok derived'
    not_printed 'native'
}

@test "counters, exclusive locks and lock_all exclude each other" {
    ghosts -n 3 -g 1 "$(rma atomic)" 60
    ended_with 0
    printed '^ok atomic'
    ghosts -n 4 -g 2 --nodes 2 "$(rma atomic)" 40
    ended_with 0
    printed '^ok atomic'
    not_printed 'native'
}

@test "fence and post/start with all asserts" {
    ghosts -n 3 -g 1 --nodes 1 "$(rma active)" 10
    ended_with 0
    printed '^ok active'
    ghosts -n 4 -g 1 --nodes 2 "$(rma active)" 10
    ended_with 0
    printed '^ok active'
}

@test "windows as objects; creating and freeing many leaks nothing" {
    ghosts -n 3 -g 1 "$(rma windows)" 1000
    ended_with 0
    printed '^ok windows'
}

@test "threads" {
    ghosts -n 2 -g 1 --nodes 2 "$(rma threads)" 40
    ended_with 0
    printed '^ok threads'
}

@test "Fortran" {
    ghosts -n 3 -g 1 "$(rma fortran)"
    ended_with 0
    printed '^ok fortran'
    not_printed 'wrong'
}

@test "misuse is reported, and info shown, as by plain MPICH" {
    timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 -g 0 "$(rma errors)" \
        >"$BATS_TEST_TMPDIR/plain"
    timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 -g 1 "$(rma errors)" \
        >"$BATS_TEST_TMPDIR/ghost"
    grep -q '^ok errors' "$BATS_TEST_TMPDIR/plain"
    diff "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/ghost"
}

@test "an operation outside the window touches nothing and is an error" {
    ghosts -n 2 -g 1 "$(rma errors)" bounds
    ended_with 0
    [ "$(grep -c 'not contained within the window' <<<"$output")" -eq 3 ]
    printed 'put of the last +ok'
}

@test "shared windows, and windows on memory from MPI" {
    ghosts -n 3 -g 1 "$(rma shared)"
    ended_with 0
    printed '^ok shared'
    not_printed 'native'
    ghosts -n 4 -g 2 --nodes 2 "$(rma shared)"
    ended_with 0
    printed '^ok shared'
    not_printed 'native'
}

@test "memory from MPI: small blocks are small, aligned, and served by ghosts" {
    ghosts -n 2 -g 0 "$(rma memory)"
    ended_with 0
    printed '^ok memory'
    ghosts -n 2 -g 1 --nodes 2 "$(rma memory)" windows
    ended_with 0
    printed '^ok memory'
    not_printed 'native'
    printed 'redirected [1-9]'
}

@test "accumulates by segment: every operation, derived types, threads" {
    # Three ghosts to two windows: ghosts change within a window, and an element.
    ghosts -n 2 -g 3 --knob rma.binding=segment "$(rma derived)" 200
    ended_with 0
    printed '^ok derived'
    ghosts -n 2 -g 3 --knob rma.binding=segment "$(rma operations)"
    ended_with 0
    printed '^ok operations'
    ghosts -n 3 -g 2 --knob rma.binding=segment "$(rma atomic)" 40
    ended_with 0
    printed '^ok atomic'
}

@test "Put and Get through the ghost that a balance picks" {
    for balance in random ops bytes queue; do
        ghosts -n 2 -g 2 --nodes 2 --knob rma.balance=$balance \
            "$(rma derived)" 30
        ended_with 0
        printed '^ok derived'
    done
    ghosts -n 2 -g 2 --nodes 2 --knob rma.balance=queue \
        --knob rma.binding=segment "$(rma threads)" 20
    ended_with 0
    printed '^ok threads'
}

# large OPTIONS...
large() {
    ghosts "$@" "$(rma large)" 3
    ended_with 0
    printed '^ok large'
}

@test "Put and Get by the device" {
    for program in shared derived active threads windows; do
        ghosts -n 3 -g 1 --nodes 2 --knob rma.direct=yes "$(rma $program)" 20
        ended_with 0
        printed "^ok $program"
    done
    printed 'direct [0-9]+, by RDMA devices'
    large -n 3 -g 1 --nodes 3 --knob rma.direct=yes
}

@test "accumulates of an origin that computes hold nobody up" {
    export ASPEN_WAKEUPS=$BATS_TEST_TMPDIR/wakeups
    ghosts -n 3 -g 1 --ghost-preload "$ASPEN_BUILD/tests/.libs/wakeups.so" \
        "$(rma linger)"
    cat "$ASPEN_WAKEUPS" # late: who waited did so for a wake-up that was lost
    ended_with 0
    printed '^ok linger'
}

@test "a Put of more elements than an int counts moves them all" {
    ghosts -n 2 -g 1 --nodes 2 "$(rma large)" huge
    ended_with 0
    printed '^ok huge'
    not_printed 'native'
}

@test "large operations are complete when they should be" {
    large -n 3 -g 1 --nodes 3
    large -n 4 -g 2 --nodes 2 --knob rma.balance=bytes \
        --knob rma.binding=segment
    large -n 3 -g 1 --nodes 3 --knob rma.direct=no # on the dynamic window
}

@test "memory of MPI_Alloc_mem outlives MPI_Finalize" {
    ghosts -n 2 -g 1 "$(rma afterwards)"
    ended_with 0
    printed '^ok afterwards'
}

@test "a loop of one-sided calls makes progress for messages" {
    ghosts -n 2 -g 1 "$(rma progress)"
    ended_with 0
    printed '^ok progress'
    ghosts -n 2 -g 1 --nodes 2 "$(rma progress)"
    ended_with 0
    printed '^ok progress'
}

@test "windows that ghosts cannot serve stay with MPI and are counted" {
    ghosts -n 2 -g 1 "$(rma native)"
    ended_with 0
    printed '^ok native'
    printed 'native [0-9]+, window on private memory'
    printed 'native [0-9]+, dynamic window'
    printed 'native [0-9]+, window with async_config=off'
}

@test "windows of MPI's own that begin anywhere" {
    local program

    program=$(rma anywhere)
    ghosts -n 1 -g 1 "$program"
    ended_with 0
    printed '^ok anywhere'
    ghosts -n 3 -g 1 "$program"
    ended_with 0
    printed '^ok anywhere'
    printed 'redirected 0 '
    ghosts -n 4 -g 2 --nodes 2 "$program"
    ended_with 0
    printed '^ok anywhere'
}

@test "little address space, short files: the arena is smaller" {
    run bash -c "ulimit -v 8000000 && exec timeout -k 5 60 \
        '$ASPEN_TOP/tests/ghostrun' --report -n 2 -g 1 '$(rma atomic)' 20"
    ended_with 0
    printed '^ok atomic'
    printed 'redirected [1-9]'
    run bash -c "ulimit -f 1000000 && exec timeout -k 5 60 \
        '$ASPEN_TOP/tests/ghostrun' --report -n 2 -g 1 '$(rma atomic)' 20"
    ended_with 0
    printed '^ok atomic'
    printed 'redirected [1-9]'
}
