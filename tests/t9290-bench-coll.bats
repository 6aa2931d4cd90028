#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Collectives measured: counts of messages.

load helpers

# The cell of column $2 (from 1) in the row that begins with $1.
cell() {
    awk -v row="$1" -v n="$2" '$1 == row { print $n }' <<<"$output"
}

messages() {
    run timeout -k 5 90 "$ASPEN_TOP/bench/coll_messages" --build "$ASPEN_BUILD" \
        --calls 2 "$@"
}

@test "messages of a call, inside nodes and between them" {
    messages --ranks 8 --nodes 1,4 --request off bcast:8 allgather:8
    ended_with 0
    # A tree has an edge less than ranks; 3 of 4 nodes are reached by one each.
    [ "$(cell bcast:8 2)" = 7 ] && [ "$(cell bcast:8 3)" = 0 ]
    [ "$(cell bcast:8 6)" = 4 ] && [ "$(cell bcast:8 7)" = 3 ]
    # Recursive doubling: 3 rounds of 8 messages, the first within nodes.
    [ "$(cell allgather:8 2)" = 24 ] && [ "$(cell allgather:8 3)" = 0 ]
    [ "$(cell allgather:8 6)" = 8 ] && [ "$(cell allgather:8 7)" = 16 ]
    # A mode that does nothing sends the same.
    for name in bcast:8 allgather:8; do
        for i in 2 3 6 7; do
            [ "$(cell $name $i)" = "$(cell $name $((i + 2)))" ]
        done
    done
}

@test "the counter: each rank, whole runs, nodes from a list, ghosts" {
    export ASPEN_COUNT_FILE=$BATS_TEST_TMPDIR/counts ASPEN_COUNT_NODES=0,0,1,1
    local count=$ASPEN_BUILD/tests/coll/.libs/count_messages.so
    local app=$ASPEN_BUILD/bench/coll_messages_app
    ghosts -n 4 -g 0 --preload "$count" "$app" 0 3 scatter:16
    # A binomial tree: 0 sends two blocks to 2 and one to 1, 2 one to 3.
    grep -q 'region=2 rank=0 node=0 inside=3 inside_bytes=48 between=3 between_bytes=96 other=0' \
        "$ASPEN_COUNT_FILE"
    grep -q 'region=2 rank=2 node=1 inside=3 inside_bytes=48 between=0 between_bytes=0' \
        "$ASPEN_COUNT_FILE"
    grep -q 'region=0 rank=all node=all inside=0 ' "$ASPEN_COUNT_FILE"
    # Nobody said what counts: all of it.
    unset ASPEN_COUNT_NODES
    rm "$ASPEN_COUNT_FILE"
    ghosts -n 2 -g 1 --preload "$count" "$ASPEN_BUILD/tests/idle_app" 0 0
    grep -qE 'region=0 rank=1 node=0 inside=[1-9]' "$ASPEN_COUNT_FILE"
}

@test "names and lists that make no sense are refused" {
    messages --ranks 2 bcast:7
    ended_with 1
    printed "cannot make sense of 'bcast:7'"
    export ASPEN_COUNT_NODES=0
    run_telling ghosts -n 2 -g 0 \
        --preload "$ASPEN_BUILD/tests/coll/.libs/count_messages.so" \
        "$ASPEN_BUILD/bench/coll_messages_app" 0 1 barrier
    [ "$status" -ne 0 ]
    printed 'ASPEN_COUNT_NODES is too short'
}

APPS=(fft,n=8 fft,n=8,how=slabs fft,n=8,how=pencils cg,n=500,most=5
    cg,n=500,most=5,how=reduce summa,n=32,block=8 summa,n=32,block=8,how=prefetch
    cholesky,n=48,block=12)

# coll_app on 4 ranks, or $ranks.
apps() {
    run ghosts -n "${ranks-4}" -g 0 "$ASPEN_BUILD/bench/coll_app" --ms 0 "$@"
}

@test "applications: right on grids of all shapes" {
    apps "${APPS[@]}"
    ended_with 0
    [ "$(grep -c 'check=ok$' <<<"$output")" -eq "${#APPS[@]}" ]
    printed '^app=cg spec=cg,n=500,most=5 ranks=4 runs=1 time_ms=.* coll_ms=.* iterations=5 '
    ranks=6 apps cholesky,n=48,block=8,rows=2 cholesky,n=48,block=8,rows=6 \
        summa,n=48,block=8,rows=2 cg,n=501,shift=5000
    ended_with 0
    ranks=8 apps fft,nx=8,ny=16,nz=32,rows=4 fft,nx=32,ny=16,nz=8,how=slabs \
        fft,nx=8,ny=8,nz=16,how=pencils,rows=8
    ended_with 0
    not_printed WRONG
}

@test "a rank that computes delays those behind it, unless it has a thread" {
    ranks=8 apps late,n=1
    ended_with 0
    # Of the tree of 8 with 4 in the middle: 5, 6 and 7.
    printed ' delayed=[3-7] .* check=ok$'
    run ghosts -n 8 --offload "$ASPEN_BUILD/bench/coll_app" --ms 0 \
        late,n=2 late,n=2,how=sum late,n=2,how=exchange
    ended_with 0
    printed '^app=late spec=late,n=2 .* delayed=0 .* check=ok$'
}

@test "applications notice a wrong collective" {
    for app in "${APPS[@]}"; do
        run_telling ghosts -n 4 -g 0 \
            --preload "$ASPEN_BUILD/tests/coll/.libs/spoil.so" \
            "$ASPEN_BUILD/bench/coll_app" --ms 0 "$app"
        [ "$status" -ne 0 ]
        printed 'check=WRONG'
    done
}

@test "applications: what does not fit is refused" {
    run_telling ghosts -n 3 -g 0 "$ASPEN_BUILD/bench/coll_app" fft,n=8
    printed "'fft,n=8' with 3 ranks: sides must be powers of two"
    [ "$status" -ne 0 ]
    run_telling ghosts -n 4 -g 0 "$ASPEN_BUILD/bench/coll_app" \
        summa,n=30,block=4
    printed 'must be a multiple of the block'
    run timeout 20 "$ASPEN_BUILD/bench/coll_app" cg,how=slabs
    ended_with 2
    printed "cannot make sense of 'how'"
    run timeout 20 "$ASPEN_BUILD/bench/coll_app" fft,m=1
    ended_with 2
}

@test "a table of both rivals" {
    run timeout -k 5 90 "$ASPEN_TOP/bench/coll" --build "$ASPEN_BUILD" \
        --out "$BATS_TEST_TMPDIR" --quick --limit 40 --request off,pack=auto \
        c-summa
    ended_with 0
    printed '^ranks +4 +16$'
    for row in 'blocking plain' 'blocking tuned' 'blocking tuned : plain' \
        'prefetch coll tuned'; do
        printed "^$row +[0-9.]+ +[0-9.]+$"
    done
    grep -q 'off,pack=auto$' "$BATS_TEST_TMPDIR/c-summa.tsv"
    run timeout -k 5 90 "$ASPEN_TOP/bench/coll" --build "$ASPEN_BUILD" \
        --out "$BATS_TEST_TMPDIR" --quick --request off,nothing=1 s-e7
    ended_with 2
    printed 'coll: no such experiment: s-e7'
}
