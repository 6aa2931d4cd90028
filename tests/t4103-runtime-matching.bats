#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Receives that UCX can look up: the same messages match, in less time.

load helpers

@test "receives of all kinds get the messages that MPI says" {
    local order=$ASPEN_BUILD/tests/match_order
    for shape in '-g 1' '-g 1 --nodes 2' --offload --thread; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $shape "$order" 60 2026
        ended_with 0
        printed '^12000 receives, 0 wrong$'
    done
}

# CPU time that grows with the number of receives is time to search.
@test "what a message costs does not grow with the receives posted" {
    local app=$ASPEN_BUILD/bench/matching_app few many
    few=$(ghosts -n 2 -g 1 "$app" 100 5)
    many=$(ghosts -n 2 -g 1 "$app" 5000 5)
    echo "$few; $many; as MPI has it: $(ghosts -n 2 -g 1 --knob match=off "$app" 5000 5)"
    awk -v few="$few" -v many="$many" 'BEGIN { split(few, f); split(many, m)
        exit m[1] > 4 * f[1] + 1 || m[2] > 4 * f[2] + 1 }'
}

@test "match=off leaves it to MPI, and the record says so" {
    local record=$BATS_TEST_TMPDIR/record
    ghosts -n 2 -g 1 --report="$record" "$ASPEN_BUILD/tests/match_order" 1
    # The tags of MPICH 4.3 and later have another form, and stay as they are.
    [[ $(mpich_release) > 4.2 ]] ||
        grep -q '"mpi_fixes": ".*match=yes' "$record"
    ghosts -n 2 -g 1 --report="$record" --knob match=off \
        "$ASPEN_BUILD/tests/match_order" 1
    ! grep -q 'match=' "$record"
}
