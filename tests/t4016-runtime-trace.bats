#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_LOG=trace and --async-report=trace: each kind of line comes when it must,
# once, and none without. Without Slurm.

load helpers

setup() {
    programs=$ASPEN_BUILD/tests
}

# traced GHOSTRUN-OPTIONS...: what is run tells its decisions.
traced() {
    ASPEN_LOG=trace run ghosts "$@"
    ended_with 0
}

# A line of a user's or, from aspen-ghost, of a ghost's; of this module and text.
tells() {
    printed "^aspen: [0-9]+\.[0-9]{6} rank [0-9]+ $1: $2"
}
ghost_tells() {
    printed "^aspen-ghost: [0-9]+\.[0-9]{6} rank [0-9]+ $1: $2"
}

# No line of these modules comes twice from a rank.
once() {
    local twice
    twice=$(grep -E "^aspen[a-z-]*: [0-9.]+ rank [0-9]+ ($1): " <<<"$output" |
        sed 's/: [0-9.]* rank/: rank/' | sort | uniq -d)
    [ -z "$twice" ] || { echo "twice: $twice"; return 1; }
}

@test "nothing is told that was not asked for" {
    run ghosts -n 2 --nodes 2 "$programs/rma_operations"
    ended_with 0
    not_printed '^aspen'
    ASPEN_LOG=notice run ghosts -n 2 "$programs/rma_operations"
    ended_with 0
    not_printed '^aspen'
    ASPEN_LOG=trace run ghosts -n 2 --inert "$programs/match_order" 1
    not_printed '^aspen'
}

@test "a word that is no level is told once" {
    ASPEN_LOG=loud run ghosts -n 2 -g 1 "$programs/rma_operations"
    ended_with 0
    [ "$(grep -c '^aspen: ASPEN_LOG=loud is none of' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^aspen' <<<"$output")" -eq 1 ]
}

@test "mode, layout, what MPI needs mended, windows, routes" {
    traced -n 2 --nodes 2 --knob rma.binding=segment "$programs/rma_operations"
    tells start 'job test\.0: mode ghost, 4 tasks on 2 nodes, 1 ghosts a node'
    tells start 'knob rma\.binding=segment$'
    tells start 'process [0-9]+, task 0 of node 1: rank 1 of MPI.s world, ghost 3, '
    tells start 'mode ghost: has begun; MPICH '
    ghost_tells casper/server 'process [0-9]+, ghost of node 1, which has 1 users'
    tells mpi 'fix tcp_finalize: this MPI (needs|does not need) it'
    tells casper/window 'window 0\.0 of 2 processes: 320 bytes .* to ghost 3; .*by segment'
    tells casper/rma 'window 0\.0: MPI_Put to process 0, [0-9]+ bytes: copied by'
    tells casper/rma 'window 0\.0: MPI_Put to process 1, [0-9]+ bytes: by ghost 3$'
    tells casper/rma 'window 0\.0: MPI_Fetch_and_op to process 0, [0-9]+ bytes: by ghost 2$'
    once 'mpi|casper/rma|casper/window|start'
}

@test "a window that is MPI's own, with the reason" {
    traced -n 2 "$programs/rma_native"
    tells casper/window "a window, [0-9]+ bytes of this process, is MPI's own: dynamic window"
    tells casper/window "a window, .* MPI's own: window on private memory"
}

@test "--async-report=trace is that, and the record at the end" {
    local dir=$BATS_TEST_TMPDIR
    cd "$dir"
    run ghosts -n 2 --report=trace "$programs/rma_operations"
    ended_with 0
    tells casper/rma 'window 0\.0: '
    printed '^aspen: ghost mode, 2 user ranks'
    [ ! -e trace ]
    # a policy's value means the same, and gives way to the option's
    run ghosts -n 2 --knob report=trace "$programs/rma_operations"
    ended_with 0
    tells casper/rma 'window 0\.0: '
    ghost_tells casper/server '.*'
    printed '^aspen: ghost mode, 2 user ranks'
    [ ! -e trace ]
    run ghosts -n 2 --knob report=trace --report=1 "$programs/rma_operations"
    printed '^aspen: ghost mode, 2 user ranks'
    not_printed 'window 0\.0: '
}

@test "redirection that is switched, by the program and by ghosts" {
    traced -n 2 --nodes 2 --knob adapt=user "$programs/adapt_switch" 4
    tells casper/window 'window 0\.0: redirection to this process is off from here on: as the program'
    tells casper/rma '.* by the target itself, for redirection to it is off; rank 1$'
    # The predictor always says off.
    traced -n 2 --nodes 2 --knob adapt=ghosts --knob adapt.interval_ms=20 \
        --knob adapt.high=0 --knob adapt.low=0 "$programs/adapt_auto" pause 1
    ghost_tells adapt/node 'world rank 0: redirection off, [0-9]+ % of its time in MPI'
}

@test "what is decided for all ranks, and its progress threads" {
    traced -n 2 --nodes 2 --knob adapt=auto "$programs/adapt_auto" halo 3
    ghost_tells adapt/node 'all ranks, at [0-9.]+ s: [a-z]+: '
    tells progress 'calls pass the progress thread.s gate'
}

@test "the algorithm of a collective for each size, tried and chosen, once" {
    local table=$BATS_TEST_TMPDIR/table
    traced -n 4 --off --knob coll=tune --knob "coll.save=$table" \
        "$programs/coll_programs" 9 60
    tells start 'mode off: no helper has begun'
    tells coll/comm 'communicator of 4 ranks on 1 nodes: .* decided from call [0-9]+ on'
    tells coll/comm "allgather:bytes=[0-9]+,.*: tries MPI's own choice \(search\)"
    tells coll/comm 'allgather:bytes=[0-9]+,.*: tries allgather:[a-z]+.* \(search\)'
    tells coll/comm '[a-z]+:bytes=[0-9]+,.*: carried out by '
    sed -i 's/^\(allgather:[^ ]*\) [^ ]*/\1 allgather:shared,k=2,segment=65536,wait=sleep/' "$table"
    traced -n 4 --off --knob coll=table --knob "coll.table=$table" \
        "$programs/coll_programs" 9 60
    tells coll/comm 'allgather:.*: carried out by allgather:shared,k=2,.* \(coll\.table\)$'
    not_printed '\(search\)'
    traced -n 2 --off --knob coll=tune --knob coll.force=shared \
        "$programs/coll_programs" 9 60
    tells coll/comm '.*: carried out by [a-z]+:shared,.* \(coll\.force\)$'
}

@test "non-blocking collectives: what carries out what was posted, once a communicator" {
    traced -n 2 --off --knob coll=tune "$programs/coll_posted" 1 20
    tells coll/comm 'posted [a-z_]+:bytes=[0-9]+,.*: carried out by memory of the node$'
    tells coll/comm 'posted [a-z_]+: carried out by MPI: its arguments are left to that$'
    local communicators most
    communicators=$(grep -c 'rank 0 coll/comm: communicator of' <<<"$output")
    most=$(grep -o 'rank 0 coll/comm: posted .*' <<<"$output" | sort | uniq -c |
        sort -rn | awk 'NR == 1 {print $1}')
    [ "$most" -le "$communicators" ]
    traced -n 2 --nodes 2 --knob coll=tune "$programs/coll_posted" 1 20
    tells coll/comm 'posted [a-z_]+:bytes=[0-9]+,.*: carried out by ghosts$'
}

@test "threads: what carries out the calls" {
    traced -n 2 --offload "$programs/match_order" 1
    tells start 'mode offload: has begun, and an offload thread carries out'
    traced -n 2 --thread "$programs/match_order" 1
    tells start 'mode thread: has begun; '
    tells mpi 'fix match: '
}
