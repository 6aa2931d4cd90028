#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ghosts with offload threads in front of them, without Slurm.

load helpers

both() { run ghosts --knob offload=yes "$@"; }

@test "what holds of offload threads holds with ghosts behind them" {
    both -n 2 --nodes 2 "$ASPEN_BUILD/tests/offload_stories"
    ended_with 0
    printed '^all stories: ok$'
    both -n 2 --nodes 2 "$ASPEN_BUILD/tests/offload_outside"
    ended_with 0
    printed '^all stories: ok$'
    both -n 3 --nodes 2 "$ASPEN_BUILD/tests/offload_levels"
    ended_with 0
    printed '^levels: ok$'
    both -n 2 "$ASPEN_BUILD/tests/offload_stress" 4 1 "$RANDOM"
    ended_with 0
    printed ' 0 wrong$'
}

@test "windows: every epoch and operation" {
    local program
    for program in operations 'derived 40' 'atomic 30' 'active 10' \
        'windows 200' 'threads 20' shared fortran; do
        # shellcheck disable=SC2086
        both -n 3 -g 1 --nodes 2 "$ASPEN_BUILD/tests"/rma_$program
        ended_with 0
        printed "^ok ${program%% *}"
    done
}

@test "the record has both" {
    both -n 2 --report="$BATS_TEST_TMPDIR/record" \
        "$ASPEN_BUILD/tests/rma_operations"
    ended_with 0
    printed '^aspen: and an offload thread in 2 of 2 ranks; '
    run python3 -c 'import json, sys; r = json.load(open(sys.argv[1]))
print(r["mode"], r["redirected"] > 0, r["offload"]["commands"] > 0)' \
        "$BATS_TEST_TMPDIR/record"
    printed '^ghost True True$'
}

@test "windows are known by the place that made them" {
    both -n 2 --window 'order:9;async_config:off' --report \
        "$ASPEN_BUILD/tests/rma_rules"
    ended_with 0
    printed 'window 1 "first": MPI_Win_allocate at rma_rules\+0x'
}
