#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Messages that ghosts carry, p2p=all: programs that know nothing of it, with one
# and two ghosts a node, on one node and two.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# A program and its arguments, in all shapes of four ranks; it says at the end.
everywhere() {
    local says=$1 shape
    shift
    for shape in '-g 1' '-g 2' '-g 1 --nodes 2' '-g 2 --nodes 2'; do
        # shellcheck disable=SC2086
        run ghosts -n 4 $shape --knob p2p=all "$build/$1" "${@:2}"
        ended_with 0
        printed "^$says\$"
        not_printed '^aspen:'
    done
}

@test "messages that one could take for each other" {
    everywhere 'pairs: 7 stories, 0 wrong' p2p_pairs
}

@test "no byte is written where it should not be" {
    everywhere 'buffers: 6 stories, 0 wrong' p2p_buffers
}

@test "a collective write beside a receive, and messages in MPI_Finalize" {
    everywhere 'beside: 0 wrong' p2p_beside "$BATS_TEST_TMPDIR/striped"
}

@test "random programs match as the reference says" {
    everywhere 'p2p_random: 40 programs, seed 4060, 1 threads: ok' \
        p2p_random 4060 40
}

@test "random programs of two threads" {
    everywhere 'p2p_random: 15 programs, seed 4061, 2 threads: ok' \
        p2p_random 4061 15 0 2
}

@test "random programs of one rank, of three and of seven" {
    local users
    for users in 1 3 7; do
        run ghosts -n "$users" -g 1 --knob p2p=all "$build/p2p_random" 7 15
        ended_with 0
        printed ': ok$'
    done
}

@test "messages for some seconds" {
    everywhere 'soak: [1-9][0-9]{2,} messages, [0-9]+ bytes, 0 wrong' \
        p2p_soak 3
}

# The numbers of the object messages of a record, in the order of the file.
numbers() {
    python3 -c 'import json, sys
messages = json.load(open(sys.argv[1]))["messages"]
print(*(v for v in messages.values() if isinstance(v, int)),
      *(r["communicators"] for r in messages["rules"]))' \
        "$BATS_TEST_TMPDIR/record"
}

# counted GHOSTRUN-OPTIONS...: p2p_counted by four ranks, with its record.
counted() {
    run ghosts -n 4 --report="$BATS_TEST_TMPDIR/record" "$@" \
        "$build/p2p_counted"
    ended_with 0
}

# 5 messages from each rank to the next, 70 of rank 0 to itself.
@test "the record tells how many messages, bytes, copies, and how they queued" {
    local bytes=$((4 * (3 * 100 + 2 * 100000) + 70 * 8)) direct=$((4 * 100000))
    local messages="90 $bytes 90 $bytes $direct $((bytes - direct)) 0 40 30 0"
    for shape in '-g 1' '-g 2 --nodes 2'; do
        # shellcheck disable=SC2086
        counted $shape --knob p2p=all
        [ "$(numbers)" = "5 1 0 $messages" ]
        printed '^aspen: ghosts carried 90 messages \(0\.8 MB\) on 5 communicators; 1 '
    done
    counted --knob p2p=large --communicator 'order:1;exact_length:true' \
        --communicator 'size:2;p2p:off' --communicator 'order:9;p2p:off'
    [ "$(numbers)" = "3 3 2 $messages 1 2 0" ]
    printed '^aspen: +p2p=large was all on 2 communicators'
    printed '^aspen: the rule at .* held for no communicator'
    counted --knob p2p=off --communicator 'order:1;p2p:all'
    [ "$(numbers)" = "1 5 0 0 0 0 0 0 0 0 0 0 0 1" ]
    counted --knob p2p=off
    run numbers
    printed 'KeyError'
}

@test "where ghosts cannot carry messages the record says why" {
    run bash -c "ulimit -f 1000000 && exec timeout -k 5 60 \
        '$ASPEN_TOP/tests/ghostrun' -n 4 --knob p2p=all \
        --report='$BATS_TEST_TMPDIR/record' '$build/p2p_counted'"
    ended_with 0
    printed '^aspen: ghosts carried no messages: 4 of 4 ranks have no memory in common'
    printed '^aspen: some rank has no memory in common with its ghost'
    [ "$(numbers)" = "0 0 0 0 0 0 0 0 0 0 0 0 0" ]
    run timeout -k 2 20 "$ASPEN_BUILD/tools/aspen" report --text \
        "$BATS_TEST_TMPDIR/record"
    printed '^  - Ghosts carried no messages: 4 of 4 ranks have no memory'
}

# What each rank tells of a communicator, once.
told() {
    local lines
    lines=$(grep -cE "^aspen: [0-9.]+ rank [0-9]+ p2p: $1" <<<"$output") || true
    [ "$lines" -eq 4 ] || { echo "$lines: $1"; echo "$output"; return 1; }
}

@test "the trace tells of each communicator who carries its messages, and why" {
    export ASPEN_LOG=trace
    run ghosts -n 4 --knob p2p=all --communicator \
        'size:2;p2p:off;from:job.yaml%3A3%3A5' "$build/p2p_counted"
    ended_with 0
    told 'communicator MPI_COMM_WORLD of 4 processes: ghosts carry its messages: p2p is all, as the knob says$'
    told 'communicator MPI_COMM_SELF of 1 processes: ghosts carry'
    told 'communicator 1 of 4 processes, made at p2p_counted\+0x[0-9a-f]+: ghosts carry its messages: p2p is all, as the knob says$'
    told "communicator 2 of 4 processes, .*: its messages are MPI's: p2p is off, as the program or its original says\$"
    told "communicator 3 of 2 processes, .*: its messages are MPI's: p2p is off, as job.yaml:3:5 says\$"
    told "an intercommunicator: its messages are MPI's\$"
    run ghosts -n 4 --knob p2p=large --communicator 'order:1;exact_length:true' \
        "$build/p2p_counted"
    told 'communicator 1 .*: ghosts carry its messages of more than 8192 bytes: p2p is large'
    told 'communicator 3 .*: ghosts carry its messages: p2p is large, as the knob says, which is all where exact lengths are not promised$'
}

# given_back MS WHAT OPTIONS...: `record` is after how many ms; 0: not.
given_back() {
    run ghosts -n 4 --report="$BATS_TEST_TMPDIR/record" --knob p2p=all \
        "${@:3}" "$build/p2p_given_back" "$1" "$2"
    ended_with 0
    printed '^given_back: 0 wrong$'
    record=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["messages"]["given_back_ms"])' \
        "$BATS_TEST_TMPDIR/record")
}

@test "adaptation gives messages back to MPI, with nothing under way" {
    local adapt what
    for adapt in profile auto; do
        adapt="--knob adapt=$adapt --knob adapt.interval_ms=20 \
--knob adapt.high=90 --knob adapt.low=80"
        for what in chats cancels errs; do
            # shellcheck disable=SC2086
            given_back 3000 $what $adapt --nodes 2
            [ "$record" -gt 0 ]
            printed '^aspen:   after [0-9.]+ s messages were given back to MPI'
        done
        # shellcheck disable=SC2086
        given_back 3000 levels $adapt
        [ "$record" -eq 0 ]
        for what in computes receives persists ahead; do
            # shellcheck disable=SC2086
            given_back 1000 $what $adapt
            # after the rounds nothing is under way any more
            [ "$record" -eq 0 ] || [ "$record" -ge 1000 ] ||
                { echo "$what: $record ms"; return 1; }
        done
    done
    # shellcheck disable=SC2086
    given_back 1000 chats $adapt --communicator 'size:4;p2p:all'
    [ "$record" -eq 0 ]
    given_back 500 chats
    [ "$record" -eq 0 ]
}

# With two nodes rank 1 is on the other and rank 2 on this.
stopped() {
    local says=$1 peer=$2
    shift 2
    run ghosts -n 4 "$@" "$build/p2p_stopped" "$peer" 3
    ended_with 0
    [ "$(grep -c ": completed while stopped: $says\$" <<<"$output")" -eq 3 ]
    printed '^stopped: 0 wrong$'
}

@test "a send completes while its receiver is stopped" {
    stopped yes 1 -g 1 --knob p2p=all
    stopped yes 1 -g 1 --nodes 2 --knob p2p=all
    stopped yes 2 -g 1 --nodes 2 --knob p2p=all
    stopped yes 1 -g 2 --nodes 2 --knob p2p=all
}

@test "plain MPI and p2p=off: it does not" {
    stopped no 1 -g 0
    stopped no 1 -g 1 --nodes 2 --knob p2p=off
}

# tests/p2p/spoil.c
spoilt() {
    run_failing env ASPEN_SPOIL="$1" timeout -k 5 90 "$ASPEN_TOP/tests/ghostrun" \
        -n 4 -g 1 --behind "$build/p2p/.libs/spoil.so" "${@:2}"
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
}

@test "what is spoilt is found out" {
    spoilt source "$build/p2p_pairs" one_tag
    spoilt tag "$build/p2p_pairs" order
    spoilt context "$build/p2p_pairs" two_communicators
    spoilt byte "$build/p2p_pairs" self
    spoilt behind "$build/p2p_buffers" reuse
    spoilt late "$build/p2p_buffers" cancelled
    spoilt byte "$build/p2p_soak" 1
    spoilt source "$build/p2p_random" 1 20
    spoilt byte "$build/p2p_random" 1 20
    spoilt behind "$build/p2p_random" 1 20
}
