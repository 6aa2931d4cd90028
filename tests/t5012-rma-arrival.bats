#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A Put is at its target when the call that completes it returns. MPICH over
# libfabric's tcp breaks that itself, and more often when the target is slow to
# look, as a ghost that sleeps is.
load helpers

# Not sockets, which MPICH takes between pretended nodes.
setup() { ! over_libfabric || export FI_PROVIDER=tcp; }

arrives() {
    run timeout -k 5 100 "$ASPEN_TOP/tests/ghostrun" -n 3 --nodes 2 "$@" \
        "$ASPEN_BUILD/tests/rma_arrived" 1000
    ended_with 0
    printed '^ok arrived'
}

@test "a third process reads what was put, flushed and told of" {
    arrives -g 1
    arrives -g 2
}

@test "the same, from a ghost that blocks at once" {
    arrives -g 1 --knob idle.spin_us=0 --knob idle.yield_us=0
}

@test "the same, with the dynamic window, and with changing ghosts" {
    arrives -g 1 --knob rma.direct=no
    arrives -g 2 --knob rma.balance=queue
}

@test "the same, where targets carry it out with their own windows" {
    arrives -g 1 --knob rma.direct=yes
}

@test "the same, where ranks adapt" {
    arrives -g 1 --knob adapt=auto
}

@test "the record says whether MPI has to be helped" {
    local record=$BATS_TEST_TMPDIR/record answer=no
    ! over_libfabric || answer=yes
    arrives -g 1 --report="$record"
    grep -q "\"mpi_fixes\": \".*flush_put=$answer" "$record"
}
