#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Random datatypes against the bytes that they must have (tests/pack/README.md):
# a bounded slice. tests/pack-campaign runs many.

load helpers

random_types() {
    run timeout -k 5 60 "$ASPEN_BUILD/tests/pack_random" "$@"
}

@test "2,000 random types, packed and unpacked in pieces" {
    random_types --seed 3 --types 2000
    ended_with 0
    printed '^2000 types, .* 0 wrong$'
    not_printed '^no typemap'
}

@test "every creator takes part, with and without large counts" {
    random_types --seed 4 --types 500
    ended_with 0
    [ "$(grep -cE '^[a-z_]+: [1-9][0-9]+, with large counts [1-9][0-9]*$' \
        <<<"$output")" -eq 12 ]
}

@test "the campaign is made of slices" {
    run env ASPEN_BUILD="$ASPEN_BUILD" "$ASPEN_TOP/tests/pack-campaign" \
        --seed 5 --types 500 --slice 200
    ended_with 0
    printed '^500 types, 0 slices wrong'
}

@test "a wrong byte is noticed, and its seed repeats it" {
    random_types --seed 5 --types 20 --break 11
    ended_with 1
    printed '^pack_random: --seed 5 --first 11 --types 1: packed'
    printed '^20 types, .* [1-9][0-9]* wrong$'
    random_types --seed 5 --first 11 --types 1 --break 11
    ended_with 1
}

@test "the campaign stops at a wrong slice" {
    mkdir -p "$BATS_TEST_TMPDIR/tests"
    printf '#!/bin/sh\n%s --break 11\n' \
        "exec $ASPEN_BUILD/tests/pack_random \"\$@\"" \
        >"$BATS_TEST_TMPDIR/tests/pack_random"
    chmod +x "$BATS_TEST_TMPDIR/tests/pack_random"
    run env ASPEN_BUILD="$BATS_TEST_TMPDIR" "$ASPEN_TOP/tests/pack-campaign" \
        --seed 5 --types 30 --slice 5
    ended_with 1
    printed '^pack_random: --seed 5 --first 11 --types 1: packed'
    printed '^15 types, 1 slices wrong'
}

@test "MPI_Pack and MPI_Unpack beside ghosts, of types that MPICH packs wrongly too" {
    run ghosts -n 1 -g 1 "$ASPEN_BUILD/tests/pack_random" --all --seed 8 \
        --types 700
    ended_with 0
    printed '^700 types, .* [1-9][0-9]* compared with MPI_Pack, 0 wrong$'
}

@test "errors of MPI_Pack and MPI_Unpack are MPI's" {
    same_everywhere 1 "$ASPEN_BUILD/tests/pack_errors"
}

@test "threads make, pack and free types beside ghosts" {
    run ghosts -n 1 -g 1 "$ASPEN_BUILD/tests/pack_threads"
    ended_with 0
    printed '^0 wrong$'
}

@test "what has no typemap is refused, counted, and stays refused" {
    run timeout -k 5 60 "$ASPEN_BUILD/tests/pack_refused"
    ended_with 0
}
