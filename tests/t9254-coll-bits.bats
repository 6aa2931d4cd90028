#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One set of bits on all ranks, and no byte changed but those of the result.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# A program, its calls, how ghostrun starts it.
same() {
    # shellcheck disable=SC2086
    run ghosts $3 --knob coll=tune "${@:4}" "$build/coll_$1" "$2"
    ended_with 0
    printed "^$1: $2 calls, 0 differ\$"
    not_printed '^aspen:'
}

# Nodes of one rank: radices above 2, and ranks beside the exchange.
@test "each family of algorithms, forced: bits" {
    local family
    for family in shared tree exchange halving ring levels; do
        same bits 60 '-n 5 --off --nodes 5' --knob "coll.force=$family"
        same bits 40 '-n 6 --off --nodes 2' --knob "coll.force=$family"
    done
    same bits 60 '-n 3 --off' --knob coll.force=exchange
}

@test "each family of algorithms, forced: bytes beside the result" {
    local family
    for family in shared tree exchange halving ring levels flat; do
        same beside 60 '-n 6 --off --nodes 2' --knob "coll.force=$family"
    done
    same beside 60 '-n 3 --off' --knob coll.force=exchange
}

@test "in all modes, while all configurations are tried out" {
    local shape
    for shape in '-n 5 --off --nodes 5' '-n 4 -g 1 --nodes 2' \
        '-n 3 --offload' '-n 4 --thread --nodes 2'; do
        same bits 150 "$shape" --knob coll.effort=all --knob coll.probe_ms=0
    done
    same beside 100 '-n 4 -g 1 --nodes 2' --knob coll.force=exchange
    same beside 100 '-n 3 --offload' --knob coll.force=halving
    same beside 100 '-n 4 --thread --nodes 2' --knob coll.force=flat
}
