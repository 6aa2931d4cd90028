#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Messages of types with gaps, packed by Aspen in the place of MPICH.

load helpers

# The number $1 of the object typed of a record.
typed() {
    python3 -c 'import json, sys
print(json.load(open(sys.argv[1])).get("typed", {}).get(sys.argv[2], 0))' \
        "$BATS_TEST_TMPDIR/record" "$1"
}

messages() {
    run ghosts -n 2 --report="$BATS_TEST_TMPDIR/record" "${@:1:$#-2}" \
        "$ASPEN_BUILD/tests/pack_messages" --types "${@:$#-1:1}" --seed "${@:$#}"
    ended_with 0
    printed ' messages, [0-9]+ bytes, 0 wrong$'
}

# As the type at both ends, or as MPI_PACKED at one of them: plain MPICH aborts at
# many of these, as it cannot unpack a part of a number.
@test "random types arrive, whatever they are sent as" {
    local seed=1
    for shape in '-g 1' '-g 1 --nodes 2' --offload --thread \
        '-g 1 --knob offload=yes'; do
        # shellcheck disable=SC2086
        messages $shape 150 $((seed++))
        [ "$(typed described)" -gt 50 ]
        [ "$(typed undescribed)" -eq 0 ]
        printed '^aspen: messages of types with gaps: [0-9]+ packed or unpacked by Aspen'
    done
}

@test "without helpers, too, when the request says so" {
    messages --off --knob pack=auto 150 9
    [ "$(typed described)" -gt 50 ]
    printed '^aspen: mode off, .*: MPI without helpers, whose messages were mended'
    run ghosts -n 3 --off --report="$BATS_TEST_TMPDIR/record" \
        "$ASPEN_BUILD/tests/pack_stories"
    [ "$(typed described)" -eq 0 ]
    printed '^aspen: mode off, .*: plain MPI, whose time was taken'
}

@test "lengths, errors, collectives, attributes as in plain MPI" {
    same_everywhere 3 "$ASPEN_BUILD/tests/pack_stories"
}

# MPICH 4.0 deletes them inside of UCX, which only one thread may be in.
@test "types freed while messages are under way, by several threads" {
    for shape in '-g 1' '-g 2' --offload --thread; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $shape "$ASPEN_BUILD/tests/pack_freed"
        ended_with 0
        printed '^0 wrong$'
    done
}

@test "pack=off leaves them to MPI" {
    ghosts -n 2 -g 1 --report="$BATS_TEST_TMPDIR/record" --knob pack=off \
        "$ASPEN_BUILD/tests/pack_messages" --same --types 0
    ! grep -q 'pack=' "$BATS_TEST_TMPDIR/record"
    ghosts -n 3 -g 1 --report="$BATS_TEST_TMPDIR/record" --knob pack=off \
        "$ASPEN_BUILD/tests/pack_stories"
    [ "$(typed described)" -eq 0 ]
    ghosts -n 3 -g 1 --report="$BATS_TEST_TMPDIR/record" \
        "$ASPEN_BUILD/tests/pack_stories"
    [ "$(typed described)" -gt 20 ]
    grep -q '"mpi_fixes": ".*pack=yes' "$BATS_TEST_TMPDIR/record"
}
