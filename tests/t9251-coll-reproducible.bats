#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# coll.reproducible: the same bits in each call and each run.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# Reductions, each $1 times with the same data, while algorithms are tried out.
repeat() {
    # shellcheck disable=SC2086
    run ghosts $2 --knob coll=tune "${@:3}" "$build/coll_repeat" $1
    ended_with 0
}

yes=(--knob coll.reproducible=yes)

@test "1000 calls, three launches, one node and two: one set of bits" {
    local bits
    repeat '1000 2' '-n 3 --off' "${yes[@]}"
    # Nor does the promised association differ from what it was.
    printed '^changed 0 other 0 bits [0-9a-f]{16}$'
    bits=$(grep -o 'bits .*' <<<"$output")
    repeat '1000 2' '-n 3 --off --nodes 2' "${yes[@]}"
    printed "^changed 0 other 0 $bits\$"
    repeat '1000 2' '-n 3 --off --nodes 2' "${yes[@]}"
    printed "^changed 0 other 0 $bits\$"
}

@test "in all modes" {
    local shape bits=
    for shape in '-n 4 --off' '-n 4 -g 1 --nodes 2' '-n 4 --offload' \
        '-n 4 --thread --nodes 2'; do
        repeat 20 "$shape" "${yes[@]}"
        printed '^changed 0 other 0 bits '
        bits=${bits:-$(grep -o 'bits .*' <<<"$output")}
        printed "$bits\$"
    done
}

@test "without it the same calls give other bits" {
    repeat 60 '-n 4 --off'
    printed '^changed [1-9]'
}

@test "algorithms of a table that associate otherwise are not taken" {
    local table=$BATS_TEST_TMPDIR/table
    repeat 60 '-n 4 --off' --knob "coll.save=$table"
    grep -q 'op=builtin-float' "$table"
    repeat 20 '-n 4 --off' "${yes[@]}" --knob "coll.table=$table"
    printed '^changed 0 other 0 bits '
}

@test "results are right" {
    run ghosts -n 4 --off --knob coll=tune "${yes[@]}" "$build/coll_programs" \
        5 40
    ended_with 0
    printed '^ok coll_programs'
    not_printed '^aspen:'
}
