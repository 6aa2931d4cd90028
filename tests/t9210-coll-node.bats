#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Collectives among the ranks of a node, called as the runtime calls them
# (tests/coll/). Where ranks are more than processors they sleep (--waiter 2): a
# spinning one keeps the others from coming.

load helpers

# story RANKS ARGUMENT...
story() {
    run timeout -k 5 100 mpiexec.mpich -n "$1" "$ASPEN_BUILD/tests/coll_node" \
        "${@:2}"
    ended_with 0
    printed ': 0 wrong$'
}

no_shared_memory_left() {
    run compgen -G '/dev/shm/aspen-*'
    [ -z "$output" ]
}

@test "no rank leaves a barrier before the last one came" {
    story 1 barriers
    story 2 barriers
    story 5 --seed 2 --waiter 2 barriers
    story 16 --seed 3 --waiter 2 barriers
}

@test "random operations, algorithms, roots and sizes give what they must" {
    local ranks
    for ranks in 1 3 4 7; do
        story "$ranks" --seed "$ranks" --waiter 2 random 500
    done
    story 2 --seed 11 random 300
    story 5 --seed 12 --waiter 2 --slot 4096 random 300
    story 16 --seed 13 --waiter 2 random 150
}

@test "a message goes on while its sender is in a barrier" {
    story 2 isend 9
    story 4 --waiter 2 isend 3
}

@test "... which it would not by itself" {
    run timeout -k 5 10 mpiexec.mpich -n 2 "$ASPEN_BUILD/tests/coll_node" \
        --poll 0 isend 1
    [ "$status" -ge 124 ] # or mpiexec was killed
}

@test "the launcher ends ranks that wait for one that died" {
    local waiter
    for waiter in 0 2; do
        run_failing timeout -k 5 30 mpiexec.mpich -n 4 \
            "$ASPEN_BUILD/tests/coll_node" --waiter "$waiter" killed
        [ "$status" -ne 0 ]
        [ "$status" -ne 124 ]
        not_printed 'not so'
        no_shared_memory_left
    done
}

@test "without memory there is an error on every rank, and no signal" {
    story 3 no-memory
    printed '^length of files is limited: '
    printed '^no shared memory: '
}

@test "without memfds an object of /dev/shm does it, and leaves no name" {
    story 3 --waiter 2 fallback
    no_shared_memory_left
}

@test "ranks that give different sizes get an error, and go on" {
    story 2 --seed 5 mismatch
    story 5 --seed 6 --waiter 2 mismatch
    story 3 --seed 7 --waiter 2 --slot 4096 mismatch
}

@test "threads as ranks are clean under the thread sanitizer" {
    local in=$ASPEN_TOP/runtime/coll/node base=$ASPEN_TOP/runtime/base file
    local sources=() cflags
    for file in "$in"/*.c; do
        case $file in
            */area.c | */mpi_reduce.c) ;; # call MPI
            *) sources+=("$file") ;;
        esac
    done
    cflags=$(sed -n 's/^MPI_CPPFLAGS = //p' "$ASPEN_BUILD/runtime/Makefile")
    # -Wtsan: fences are those of the event count, which no data depend on
    # shellcheck disable=SC2086
    gcc -g -O1 -fsanitize=thread -Wno-tsan -o "$BATS_TEST_TMPDIR/test" $cflags \
        -I"$ASPEN_BUILD" -I"$ASPEN_TOP" -I"$ASPEN_BUILD/runtime/mpi" \
        -I"$ASPEN_TOP/runtime/mpi" "${sources[@]}" "$base/event.c" \
        "$base/await.c" "$base/backoff.c" "$base/wait_table.c" -lcmocka -lpthread
    run timeout -k 5 120 setarch -R "$BATS_TEST_TMPDIR/test"
    ended_with 0
    printed 'PASSED.*4 test'
    not_printed 'ThreadSanitizer'
}

@test "bench/coll_node makes its tables" {
    ASPEN_BUILD=$ASPEN_BUILD run "$ASPEN_TOP/bench/coll_node" --ranks 3 \
        --samples 3
    ended_with 0
    printed '^\| barrier \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| .*(spin|yield|sleep)'
    printed '^\| 8 B allreduce \| '
    printed '^\| push \| pull \| '
}
