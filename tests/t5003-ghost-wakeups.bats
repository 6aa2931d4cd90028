#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ghosts that block: nobody waits for the end of the time for which they would
# block at most (docs/design/waiting.md), and they burn no CPU.

load helpers

setup() {
    export ASPEN_WAKEUPS=$BATS_TEST_TMPDIR/wakeups
}

watched() {
    run ghosts --ghost-preload "$ASPEN_BUILD/tests/.libs/wakeups.so" "$@"
    cat "$ASPEN_WAKEUPS"
    echo "$output"
    [ "$status" -eq 0 ]
    grep -q blocks "$ASPEN_WAKEUPS"
}

# $1: seconds, $2: the longest pause in us; then options
pauses() {
    watched "${@:3}" "$ASPEN_BUILD/tests/rma_pauses" "$1" "$2"
    ! grep late "$ASPEN_WAKEUPS"
}

@test "no wake-up of a ghost is lost, by any transport" {
    local tls
    for tls in posix,self sysv,self tcp,self all; do
        UCX_TLS=$tls pauses 3 20000 -n 4 --nodes 2
    done
}

@test "no wake-up is lost just before a ghost blocks" {
    export ASPEN_WAKEUPS_DELAY_US=3000
    pauses 3 5000 -n 4 --nodes 2 --knob idle.spin_us=0 --knob idle.yield_us=0
    pauses 3 5000 -n 3 -g 2
}

@test "no wake-up of a parked ghost is lost" {
    pauses 4 20000 -n 4 --nodes 2 -g 2 --knob ghost.active=auto
}

# UCX does not let a process arm that has something left to send: without naps
# the ghost used all the time of the computation.
@test "a ghost whose answers nobody takes uses little CPU time" {
    watched -n 2 --nodes 2 "$ASPEN_BUILD/tests/rma_burst" 3
    awk '$2 == "used" && $3 > 900 { exit 1 }' "$ASPEN_WAKEUPS"
}

# 16 kinds of operation and epoch; a ghost that naps for ever longer takes a
# second for some of them.
@test "no operation waits for a target that sleeps" {
    local nodes
    for nodes in 1 2; do
        run ghosts -n 2 --nodes $nodes "$ASPEN_BUILD/tests/rma_stalls" 500 300
        ended_with 0
        printed '^ok stalls'
    done
}
