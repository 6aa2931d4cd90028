# SPDX-License-Identifier: BSD-3-Clause
# A PMPI tool keeps its place whether it is preloaded before or behind
# libaspen.so, and sees MPI_COMM_WORLD either way.

load helpers

setup_file() {
    export world=$ASPEN_BUILD/tests/world
    export tool=$world/.libs/count.so
}

# Compare a program under the tool without Aspen with both orders.
same_tool() {
    local plain order
    plain=$(ghosts -n 3 -g 0 --preload "$tool" "$@" | sort)
    grep -qE 'tool: [0-9]+ calls, [1-9]' <<<"$plain"
    for order in --preload --behind '--inert --preload' '--inert --behind'; do
        # shellcheck disable=SC2086
        diff <(echo "$plain") <(ghosts -n 3 $order "$tool" "$@" | sort) &&
            continue
        echo "differs with $order"
        return 1
    done
}

@test "a tool counts the same calls in either order" {
    same_tool "$world/attr"
    same_tool "$world/errh"
}

@test "a tool sees MPI-IO once, not what the library calls inside" {
    same_tool "$world/file" "$BATS_TEST_TMPDIR/data"
}

@test "a tool of a Fortran program" {
    mpifort.mpich "$BATS_TEST_DIRNAME/world/f77.f" -o "$BATS_TEST_TMPDIR/f77"
    same_tool "$BATS_TEST_TMPDIR/f77"
}
