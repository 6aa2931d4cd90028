#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Messages that are packed and unpacked in pieces cut at every byte, of every type
# that MPI has itself, as the type and as its packed stream: plain MPICH 4.0 ends
# such programs, as it cannot unpack a part of a number.

load helpers

# pieces SECONDS GHOSTRUN-OPTIONS... -- OPTIONS...
pieces() {
    local seconds=$1 shape=()
    shift
    while [ "$1" != -- ]; do
        shape+=("$1")
        shift
    done
    shift
    run timeout -k 5 "$seconds" "$ASPEN_TOP/tests/ghostrun" -n 2 "${shape[@]}" \
        "$ASPEN_BUILD/tests/pack_pieces" "$@"
}

cut_pieces() {
    pieces "$1" --behind "$ASPEN_BUILD/tests/.libs/pieces.so" "${@:2}"
}

@test "short messages cut at every byte, long ones of up to 4 MiB into odd pieces" {
    cut_pieces 150 --off --knob pack=auto -- --few
    ended_with 0
    printed '^5[0-9]{4} messages, [1-9][0-9]{5,7} cuts, 0 wrong$'
}

@test "beside ghosts, by offload threads, with progress threads" {
    for shape in '-g 1' '-g 1 --nodes 2' --offload --thread; do
        # shellcheck disable=SC2086
        cut_pieces 100 $shape -- --few --most 50000
        ended_with 0
        printed '^5[0-9]{4} messages, [1-9][0-9]{5,7} cuts, 0 wrong$'
    done
}

# Where pieces end, UCX alone decides then.
@test "what is sent as a packed stream, uncut" {
    pieces 60 --off --knob pack=auto -- --uncut --few --most 400000
    ended_with 0
    printed '^5[0-9]{4} messages, 0 cuts, 0 wrong$'
}

@test "a wrong byte in a piece is noticed" {
    PIECES_SPOIL=1 cut_pieces 60 -g 1 -- --few --most 2000
    ended_with 1
    printed '^pack_pieces: rank [01]: vector of MPI_CHAR, 67 bytes, .* cut at 1'
    not_printed ' 0 wrong$'
}
