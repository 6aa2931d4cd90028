# SPDX-License-Identifier: BSD-3-Clause
# The program sees the users as its world, in every respect that a program can
# print: each one runs plain, with an idle library, and with ghosts.

load helpers

setup_file() {
    export world=$ASPEN_BUILD/tests/world
}

@test "communicators, groups and topologies" {
    same_everywhere 4 "$world/comm"
}

@test "attributes, the handles that callbacks see, and the order at the end" {
    same_everywhere 3 "$world/attr"
}

@test "error handlers and who inherits them" {
    same_everywhere 3 "$world/errh"
}

@test "files" {
    same_everywhere 3 "$world/file" "$BATS_TEST_TMPDIR/data"
}

@test "a program of sessions only" {
    same_everywhere 3 "$world/session" alone
}

@test "sessions before, inside and after MPI_Init" {
    same_everywhere 2 "$world/session" before
    same_everywhere 2 "$world/session" inside
    same_everywhere 2 "$world/session" after
}

@test "calls before MPI_Init and after MPI_Finalize, thread levels" {
    same_everywhere 2 "$world/life" 0
    same_everywhere 2 "$world/life" 1
    same_everywhere 2 "$world/life" 3
}

@test "one user rank" {
    same_everywhere 1 "$world/attr"
    same_everywhere 1 "$world/session" alone
}

@test "the universe has no ghosts" {
    run ghosts --mpiexec -usize --mpiexec 9 -n 3 -g 0 "$world/attr"
    ended_with 0
    printed '0: universe_size is 9'
    run ghosts --mpiexec -usize --mpiexec 9 -n 3 -g 1 "$world/attr"
    ended_with 0
    printed '0: universe_size is 8'
}

@test "MPI_Abort and fatal errors end everything with the same status" {
    for how in abort abort-self fatal; do
        run ghosts -n 3 -g 0 "$world/life" 0 $how
        plain=$status
        [ "$plain" -ne 0 ]
        run ghosts -n 3 -g 1 "$world/life" 0 $how
        # After abort-self mpiexec kills the rest, and whom it names varies.
        if [ $how = abort-self ]; then
            [ "$status" -ne 0 ]
        else
            ended_with "$plain"
        fi
        not_printed 'after: '
    done
}
