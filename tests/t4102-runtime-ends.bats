# SPDX-License-Identifier: BSD-3-Clause
# Ranks that come to MPI_Finalize at different times, over TCP, under plain
# mpiexec. Plain MPICH 4.0.2 does not end two of these (docs/design/ends.md).

load helpers

setup_file() {
    export ASPEN_BUILD
    export app=$ASPEN_BUILD/tests/ends_app
    export UCX_TLS=tcp
}

# ends_all WAY: with each kind of helper; at most 30 s each.
ends_all() {
    local helper
    for helper in "-g 1" "-g 1 --nodes 2" "-g 1 --knob adapt=auto" \
        --offload "--offload -g 1" --thread; do
        # shellcheck disable=SC2086
        run timeout -k 5 30 "$ASPEN_TOP/tests/ghostrun" -n 3 $helper "$app" \
            "$1" "$BATS_TEST_TMPDIR/ended"
        rm -f "$BATS_TEST_TMPDIR/ended"
        echo "with $helper:"
        ended_with 0
        [ "$(grep -c 'rank . ended' <<<"$output")" -eq 3 ] || {
            echo "$output"
            return 1
        }
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
