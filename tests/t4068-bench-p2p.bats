#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench/p2p: one experiment, all rivals, quickly.

load helpers

bench() {
    run timeout -k 5 120 "$ASPEN_TOP/bench/p2p" --build "$ASPEN_BUILD" \
        --out "$BATS_TEST_TMPDIR" --quick --limit 40 "$@"
}

@test "a table of the rivals" {
    local rival
    bench c-e4
    ended_with 0
    printed '^delay us +300 +3000$'
    for rival in plain async offload thread ghosts 'ghosts, heap=shared'; do
        printed "^$rival wait +[0-9.]+ +[0-9.]+$"
    done
}

@test "wrong names are refused" {
    bench goals
    ended_with 2
    printed 'p2p: no such experiment: goals'
    run timeout 20 "$ASPEN_BUILD/bench/offload_app" exchange,shape=ring
    ended_with 2
}
