#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Redirection switched off and on, under Slurm on two nodes.

load helpers

switching() {
    run on_cluster srun -N2 -n4 \
        "--export=ALL,LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        --async-report "$@"
    ended_with 0
}

@test "a program that switches is right across nodes" {
    switching --async-progress=ghost:1,adapt=user \
        "$ASPEN_BUILD/tests/adapt_switch" 6
    printed '^ok switch'
    printed '[1-9][0-9]*, by targets while redirection was off \('
    printed 'aspen:   node 1 \|'
}

@test "the profile's knobs reach the ranks of both nodes" {
    local knobs=adapt=profile,adapt.interval_ms=20,adapt.high=70,adapt.low=45
    switching "--async-progress=ghost:1,$knobs" \
        "$ASPEN_BUILD/tests/adapt_phases" 240 3
    printed '^ok phases'
    printed 'adapt=profile, redirection to a rank was switched [1-9]'
    printed 'by targets while redirection was off \(accumulate [1-9]'
}

@test "auto finds out if ghosts help, and says so" {
    switching --async-progress "$ASPEN_BUILD/tests/adapt_auto" sleep 1.5
    printed 'auto chose ghost: several ranks may wait'
    printed '^ok auto'
    printed 'aspen: adapt=auto, redirection to a rank was switched'
    printed 'aspen: auto, at [0-9.]+ s: trial: to see if that is right'
}
