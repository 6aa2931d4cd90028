# SPDX-License-Identifier: BSD-3-Clause
# Ranks that come to MPI_Finalize at different times, over TCP, under plain
# mpiexec. Plain MPICH 4.0.2 does not end two of these (docs/design/ends.md).

load helpers

setup_file() {
    export ASPEN_BUILD
    export app=$ASPEN_BUILD/tests/ends_app
    export UCX_TLS=tcp
}

# ends_with HELPER WAY: at most 30 s.
# ends_all WAY: with each kind of helper.
ends_with() {
    # shellcheck disable=SC2086
    run timeout -k 5 30 "$ASPEN_TOP/tests/ghostrun" -n 3 $1 "$app" \
        "$2" "$BATS_TEST_TMPDIR/ended"
    rm -f "$BATS_TEST_TMPDIR/ended"
    echo "with $1:"
    ended_with 0
    [ "$(grep -c 'rank . ended' <<<"$output")" -eq 3 ] || {
        echo "$output"
        return 1
    }
}

ends_all() {
    local helper
    for helper in "-g 1" "-g 1 --nodes 2" "-g 1 --knob adapt=auto" \
        --offload "--offload -g 1" --thread; do
        ends_with "$helper" "$1"
    done
}

@test "ranks that end one after the other, outside MPI until then" {
    ends_all apart
}

@test "a rank that makes progress while the others have ended" {
    ends_all answers
}

@test "messages that are received when their sender has ended" {
    ends_all flood
}

@test "messages that their sender has left to MPI" {
    # UCX warns of requests that were not waited for, also without Aspen
    UCX_LOG_LEVEL=error ends_all promises
}

@test "messages that are sent in a callback of MPI_Finalize" {
    ends_with --offload callback
    ends_with --thread callback
}

@test "a rank without Aspen among the others" {
    local helper way
    for helper in --offload --thread; do
        for way in tcp all; do
            run env UCX_TLS=$way timeout -k 5 30 "$ASPEN_TOP/tests/ghostrun" \
                -n 3 $helper bash -c '
                    [ "$PMI_RANK" != 1 ] || unset LD_PRELOAD
                    exec "$0" normal' "$ASPEN_BUILD/tests/lifetime_app"
            ended_with 0
            [ "$(grep -c '^rank . of 3 done' <<<"$output")" -eq 3 ]
        done
    done
}
