#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Non-blocking collectives: a rank that has posted one and computes delays nobody.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# Each rank in turn posts and computes until all others are done, in a mode of
# ghostrun; $2 ms at most.
apart() {
    # shellcheck disable=SC2086
    run ghosts $1 "$build/coll_attentive" "${3-all}" "$2"
    ended_with 0
    printed '^all apart$'
    not_printed '^aspen:'
}

not_apart() {
    # shellcheck disable=SC2086
    run_failing ghosts $1 "$build/coll_attentive" "$3" "$2"
    ended_with 1
    printed '^[0-9]+ turns were not apart$'
}

@test "plain MPI: who computes delays others" {
    not_apart '-n 4 --off' 200 ibarrier,iallreduce
    not_apart '-n 4 --off --nodes 2' 200 ibarrier,ibcast
}

@test "one node: nobody is delayed, in any mode" {
    apart '-n 8 --off --knob coll=tune' 5000
    apart '-n 4 -g 1 --knob coll=tune' 5000
    apart '-n 4 --thread --knob coll=tune' 5000
}

@test "two nodes with ghosts: nobody is delayed" {
    apart '-n 4 -g 1 --nodes 2 --knob coll=tune' 5000
    apart '-n 8 -g 1 --nodes 2 --knob coll=tune' 5000 \
        ibarrier,ibcast,ireduce,iallreduce,ialltoall
    apart '-n 5 -g 2 --nodes 2 --knob coll=tune' 5000
}

@test "offload and progress threads move MPI's own" {
    apart '-n 4 --offload --nodes 2 --knob coll=tune' 10000
    apart '-n 4 --thread --nodes 2 --knob coll=tune' 10000
}

@test "16 ranks on two nodes" {
    apart '-n 16 -g 1 --nodes 2 --knob coll=tune' 10000 ibcast,iallreduce
}

posted() {
    # shellcheck disable=SC2086
    run ghosts $1 --knob coll=tune "$build/coll_posted" "$2" "$3"
    ended_with 0
    printed "^ok coll_posted $3 programs, seed $2\$"
    not_printed '^aspen:'
}

@test "random programs of blocking and non-blocking ones and messages" {
    posted '-n 4 --off' 1 8
    posted '-n 3 --off' 2 8
    posted '-n 4 --off --nodes 2' 3 6
    posted '-n 5 -g 1 --nodes 2' 4 6
    posted '-n 6 -g 2 --nodes 3' 5 4
    posted '-n 3 --offload' 6 6
    posted '-n 4 --thread --nodes 2' 7 6
    posted '-n 4 -g 1 --nodes 2 --knob offload=yes' 8 4
}

# What two looks in a row find is told once: ranks that share a CPU sleep, and look
# before they do.
@test "random programs on one CPU" {
    local cpus
    cpus=$(taskset -pc $$ | sed 's/.*: //')
    for seed in 3 4 5; do
        run taskset -c "${cpus%%[,-]*}" timeout 60 "$ASPEN_TOP/tests/ghostrun" \
            -n 4 --off --knob coll=tune --knob coll.force=shared \
            "$build/coll_posted" $seed 30
        ended_with 0
        printed "^ok coll_posted 30 programs, seed $seed\$"
    done
}

@test "memory is used again: more than fits, to a root that is late" {
    run ghosts -n 4 -g 1 --nodes 2 --knob coll=tune "$build/coll_attentive" \
        ahead 1
    ended_with 0
    printed '^ran ahead$'
    run ghosts -n 3 --off --knob coll=tune "$build/coll_attentive" ahead 1
    ended_with 0
    printed '^ran ahead$'
}

@test "the record counts them" {
    local record=$BATS_TEST_TMPDIR/record
    run ghosts -n 4 -g 1 --nodes 2 --report="$record" --knob coll=tune \
        "$build/coll_attentive" iallreduce 5000
    ended_with 0
    printed '^aspen: non-blocking collectives: 0 in memory of the node, [1-9]'
    python3 "$ASPEN_TOP/tests/report_check.py" valid \
        "$ASPEN_TOP/docs/record.schema.json" "$record"
    "$ASPEN_PREFIX/bin/aspen" report --text "$record" >"$BATS_TEST_TMPDIR/text"
    grep -q "Of rank 0's non-blocking calls 0 were" "$BATS_TEST_TMPDIR/text"
    run ghosts -n 3 --off --report="$record" --knob coll=tune \
        "$build/coll_attentive" ibarrier 5000
    ended_with 0
    printed 'collectives: [1-9][0-9]* in memory of the node, 0 among'
}

# More than a small ring of slots would hold, and all but one rank wait where
# nothing of Aspen's looks.
@test "many operations that nobody has taken, and a wait in MPI_Recv" {
    local kind
    for kind in bcast allreduce; do
        run ghosts -n 4 -g 1 --nodes 2 --knob coll=tune "$build/coll_crowd" \
            "$kind" 400 100000
        ended_with 0
        printed '^crowd: ok$'
        run ghosts -n 4 --off --knob coll=tune "$build/coll_crowd" "$kind" \
            400 100000
        ended_with 0
        printed '^crowd: ok$'
    done
}

behind() {
    # shellcheck disable=SC2086
    run ghosts $1 --knob coll=tune "$build/coll_behind" "${@:2}"
    ended_with 0
    printed '^behind: ok$'
    not_printed '^aspen:'
}

# More than a region holds; tests/coll/behind.c.
@test "a rank that has not taken anything waits in another call of MPI" {
    behind '-n 4 -g 1 --nodes 2' reduce recv 5000 20000 1
    behind '-n 4 -g 1 --nodes 2' bcast lock 5000 20000 1
    behind '-n 4 -g 1 --nodes 2' allreduce fence 5000 10000 4
    behind '-n 4 -g 1 --nodes 2' allgather ssend 3000 10000 1
    behind '-n 3 --off' bcast barrier 300 1000000 1
    behind '-n 3 -g 1' reduce probe 300 1000000 1
    behind '-n 3 --thread' allreduce ssend 300 1000000 1
    behind '-n 3 --offload' allreduce recv 1000 10000 1
}

# tests/coll/overwrite.c. Its owner may write the place again before anybody reads
# it: then nothing has happened, and the job ends as it would.
stray_store() {
    for _ in {1..10}; do
        run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" "$@" --knob coll=tune \
            "$build/coll_overwrite"
        [ "$status" -lt 124 ]
        [[ $output == *'not found out'* ]] || break
        [ "$status" -eq 0 ]
    done
    [ "$status" -ne 0 ]
}

# Ranks 1 and 3 are on the other node.
@test "a stray store into what was posted: a line that names it, and an end" {
    stray_store -n 4 -g 1 --nodes 2
    printed '^aspen(-ghost)?: memory .* overwritten \(next,? of rank 0 of its '
    stray_store -n 3 --off
    printed '^aspen: memory .* overwritten \(next of rank 0 of its '
}

@test "a ghost that stops in an operation: a message, and an end in time" {
    local out=$BATS_TEST_TMPDIR/out pid ghost=
    ASPEN_TEST_MARK=$BATS_TEST_TMPDIR ghosts -n 4 -g 1 --nodes 2 \
        --knob coll=tune --knob ghost.timeout_s=3 \
        "$build/coll_attentive" loop 5000 >"$out" 2>&1 3>&- &
    for ((i = 0; i < 200; i++)); do
        ! grep -q '^looping$' "$out" || break
        sleep 0.1
    done
    for pid in $(grep -lsz "^ASPEN_TEST_MARK=$BATS_TEST_TMPDIR" \
        /proc/[0-9]*/environ | tr -dc '0-9\n'); do
        [[ $(cat "/proc/$pid/comm") != aspen-ghost ]] || ghost=$pid
    done
    kill -STOP "$ghost"
    begin=$SECONDS
    wait $! || true
    ((SECONDS - begin < 20))
    grep -Eq "ghost process $ghost .*stopped \(SIGSTOP\); the job ends" "$out"
}

@test "the order of memory, as the thread sanitizer knows it" {
    local cflags folder=$ASPEN_TOP/runtime/coll/nonblocking
    local base=$ASPEN_TOP/runtime/base
    cflags=$(sed -n 's/^MPI_CPPFLAGS = //p' "$ASPEN_BUILD/runtime/Makefile")
    # -Wtsan: as in t9210
    # shellcheck disable=SC2086
    gcc -g -O1 -fsanitize=thread -Wno-tsan -o "$BATS_TEST_TMPDIR/test" $cflags \
        -I"$ASPEN_BUILD" -I"$ASPEN_TOP" "$folder"/operation_test.c \
        "$folder"/operation.c "$folder"/../../posted/mailbox.c "$base"/{event,backoff}.c \
        "$base"/{wait_table,memory_left}.c "$ASPEN_TOP/common/base/words.c" \
        -lcmocka -lpthread
    run timeout -k 5 120 setarch -R "$BATS_TEST_TMPDIR/test"
    ended_with 0
    printed 'PASSED.*2 test'
    not_printed 'ThreadSanitizer'
}
