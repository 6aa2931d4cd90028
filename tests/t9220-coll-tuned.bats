#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Collectives by algorithms of our own, in programs: coll=tune and coll=table.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# Random programs in a mode of ghostrun: every result and every gap compared.
programs() {
    # shellcheck disable=SC2086
    run ghosts $1 --knob coll=tune "${@:4}" "$build/coll_programs" "$2" "$3"
    ended_with 0
    printed "^ok coll_programs $3 programs, seed $2\$"
    not_printed '^aspen:'
}

@test "random programs, all on one node and on two, in all modes" {
    programs '-n 4 --off' 1 60
    programs '-n 4 --off --nodes 2' 2 60
    programs '-n 5 -g 1 --nodes 2' 3 40
    programs '-n 3 --offload' 4 40
    programs '-n 4 --thread --nodes 2' 5 40
    programs '-n 4 -g 1 --nodes 2 --knob offload=yes' 6 30
}

@test "each family of algorithms, forced" {
    local family
    for family in shared tree ring dissemination exchange levels spread; do
        programs '-n 5 --off' 7 40 --knob "coll.force=$family"
        programs '-n 4 --off --nodes 2' 8 40 --knob "coll.force=$family"
    done
}

# Data that lie in another way on each rank, every byte compared: a mode, seed,
# programs. tests/coll-campaign has the whole.
typed() {
    # shellcheck disable=SC2086
    run ghosts $1 --knob coll=tune "${@:4}" "$build/coll_typed" "$2" "$3"
    ended_with 0
    printed "^ok coll_typed $3 programs, seed $2\$"
    not_printed '^aspen:'
}

@test "types of each rank's own, in all modes, searched and forced" {
    typed '-n 4 --off' 1 25
    typed '-n 5 -g 1 --nodes 2' 2 20
    typed '-n 3 --offload --nodes 3' 3 20
    typed '-n 4 --thread --nodes 2' 4 20
    typed '-n 5 --off' 5 20 --knob coll.force=flat
    typed '-n 4 --off --nodes 2' 6 20 --knob coll.force=exchange
}

# Of a mode, a seed: the algorithm must be used, or the search find a choice.
exchanged() {
    # shellcheck disable=SC2086
    ASPEN_LOG=trace run ghosts $1 --knob coll=tune "${@:4}" \
        "$build/coll_typed" "$2" 15 0 alltoallv
    ended_with 0
    printed "^ok coll_typed 15 programs, seed $2\$"
    printed "alltoallv.*$3"
}

@test "alltoallv: counts and types of each rank's own, in all modes, by each algorithm" {
    local family
    exchanged '-n 4 --off' 1 tr[iy]
    exchanged '-n 5 -g 1 --nodes 2' 2 tr[iy]
    exchanged '-n 3 --offload' 3 tr[iy]
    exchanged '-n 4 --thread --nodes 2' 4 tr[iy]
    for family in flat spread pairwise; do
        exchanged '-n 5 --off' 5 "alltoallv:$family" --knob "coll.force=$family"
        exchanged '-n 4 --off --nodes 2' 6 "alltoallv:$family" \
            --knob "coll.force=$family"
    done
    exchanged '-n 5 --off' 7 alltoallv:shared --knob coll.force=shared
    exchanged '-n 4 --offload' 8 alltoallv:shared --knob coll.force=shared
}

@test "alltoallv: sizes rise and fall, arguments are refused, lengths differ" {
    local story options
    for story in sizes refused lengths; do
        for options in '' '--nodes 2' '--knob coll.force=shared' \
            '--knob coll.force=spread'; do
            # shellcheck disable=SC2086
            run ghosts -n 4 --off --knob coll=tune $options \
                "$build/coll_exchange" "$story"
            ended_with 0
            printed "^story $story: ok\$"
        done
    done
}

story() {
    run ghosts -n 3 --off --knob coll=tune "$build/coll_tuned" "$@"
    ended_with 0
    printed "^story $1: ok\$"
    run ghosts -n 4 --off --nodes 2 --knob coll=tune "$build/coll_tuned" "$@"
    ended_with 0
    printed "^story $1: ok\$"
}

@test "a program asks how many searches are open" { story asks; }
@test "a program says aspen_coll=off" { story off; }
@test "1000 communicators" { story many; }
@test "communicators of ranks that have learnt different things" { story mixed; }

# Rows lie in nodes, columns across them: each has its own entry.
again() {
    local record=$BATS_TEST_TMPDIR/record
    run ghosts -n $(($1 * $1)) --off --nodes "$1" --report="$record" \
        --knob coll=tune "$build/coll_tuned" again
    ended_with 0
    printed '^story again: ok$'
    python3 "$ASPEN_TOP/tests/report_check.py" valid \
        "$ASPEN_TOP/docs/record.schema.json" "$record"
    python3 - "$record" <<'END'
import json, sys
c = json.load(open(sys.argv[1]))["collectives"]
small = [f["key"] for f in c["found"] if "bytes=64," in f["key"]]
assert c["communicators"] == 4, c
assert c["reused"] >= 2, c
assert c["kinds"] == len(c["found"]), c  # none was searched twice
assert any("nodes=1," in k for k in small), c
assert any("nodes=1," not in k for k in small), c
END
}

@test "a second identical split searches nothing: 2 x 2, 4 x 4" {
    again 2
    again 4
}

@test "no room for one communicator more" { story full; }
@test "ranks that disagree about a size get an error" { story lengths; }
@test "a rank receives over what it sends" { story aliases; }
@test "MPI refuses arguments, and the call is made again" { story refused; }
@test "MPI refuses a type or NULL, and the call is made again" { story types; }
@test "where MPI takes aliases collectives stay its own, with a line" {
    MPIR_CVAR_COLL_ALIAS_CHECK=0 run ghosts -n 3 --off --knob coll=tune \
        "$build/coll_tuned" late
    ended_with 0
    printed '^aspen: MPIR_CVAR_COLL_ALIAS_CHECK is off: collectives stay MPI'
}

@test "what means something at the root only" { story unmeant; }
@test "two threads on two communicators" { story threads; }
@test "another thread meets no error handler but the program's" { story handler; }
@test "a rank that comes late" { story late; }

# What MPI promises, a few hundred times; docs/bench/coll-statements.md says how
# often else.
semantics() {
    run ghosts "${@:3}" --knob coll=tune "$build/coll_semantics" "$1" "$2"
    ended_with 0
    printed "^$1: $2 calls, 0 wrong\$"
}

@test "buffers are free when a call returns, and no one leaves a barrier early" {
    semantics scribble 1000 -n 4 --off
    semantics scribble 500 -n 4 --off --nodes 2
    semantics barriers 1000 -n 4 --off
    semantics isend 40 -n 3 --off
    semantics threads 400 -n 2 --off
}

@test "what is found is told, saved, and used without a search" {
    local table=$BATS_TEST_TMPDIR/table record=$BATS_TEST_TMPDIR/record
    run ghosts -n 4 --off --report="$record" --knob coll=tune \
        --knob "coll.save=$table" "$build/coll_programs" 9 60
    ended_with 0
    printed '^aspen: collectives of [1-9][0-9]* communicators tuned'
    python3 "$ASPEN_TOP/tests/report_check.py" valid \
        "$ASPEN_TOP/docs/record.schema.json" "$record"
    "$ASPEN_PREFIX/bin/aspen" report --text "$record" >"$BATS_TEST_TMPDIR/text"
    grep -q 'What was chosen for collective' "$BATS_TEST_TMPDIR/text"
    "$ASPEN_PREFIX/bin/aspen" explain table "$table"
    run ghosts -n 4 --off --report="$record" --knob coll=table \
        --knob "coll.table=$table" "$build/coll_programs" 9 60
    ended_with 0
    printed '^aspen: collectives of [1-9][0-9]* communicators by coll\.table, without'
}

# Between levels the blocks of a node are one, so nodes must have equal numbers
# of ranks; a row may say otherwise.
@test "a table that names levels for nodes of unequal size" {
    local table=$BATS_TEST_TMPDIR/table
    run ghosts -n 5 --off --nodes 2 --knob coll=tune \
        --knob "coll.save=$table" "$build/coll_programs" 9 60
    ended_with 0
    grep -q '^allgather:' "$table"
    sed -i 's/^\(allgather:[^ ]*\) [^ ]*/\1 allgather:shared,k=4,segment=4096,wait=sleep+allgather:ring/' "$table"
    run ghosts -n 5 --off --nodes 2 --knob coll=table \
        --knob "coll.table=$table" "$build/coll_programs" 9 60
    ended_with 0
    printed '^ok coll_programs 60 programs, seed 9$'
}

@test "a table of another machine, a broken one, and one that is not there" {
    local table=$BATS_TEST_TMPDIR/table
    run ghosts -n 2 --off --knob coll=tune --knob "coll.save=$table" \
        "$build/coll_tuned" asks
    ended_with 0
    sed 's/^ucx .*/ucx 0.9/' "$table" >"$table.other"
    run ghosts -n 2 --off --knob coll=table --knob "coll.table=$table.other" \
        "$build/coll_programs" 1 5
    ended_with 0
    printed '^aspen: table ignored: built for UCX 0\.9, this is '
    [ "$(grep -c '^aspen:' <<<"$output")" -eq 1 ]
    head -c 100 "$table" >"$table.broken"
    run ghosts -n 2 --off --knob coll=table --knob "coll.table=$table.broken" \
        "$build/coll_programs" 1 5
    ended_with 0
    printed "^aspen: .*table.broken:[0-9]+: "
    run ghosts -n 2 --off --knob coll=table --knob coll.table=/none \
        "$build/coll_programs" 1 5
    ended_with 0
    printed '^aspen: coll\.table is not used: /none: No such file'
    run ghosts -n 2 --off --knob coll=table "$build/coll_programs" 1 5
    ended_with 0
    printed "^aspen: coll=table without a table .*: blocking collectives stay MPI's"
    run ghosts -n 2 --off --knob coll=tune --knob coll.save=/none/x \
        "$build/coll_tuned" asks
    ended_with 0
    printed '^aspen: cannot write coll.save /none/x: '
}

@test "aspen tune makes a table, and goes on with one" {
    local table=$BATS_TEST_TMPDIR/table
    run "$ASPEN_PREFIX/bin/aspen" tune --out "$table" --ops allreduce,barrier \
        --from 64 --to 1024 --budget-ms 200 -- mpiexec.mpich -n 2
    ended_with 0
    printed '^aspen tune: allreduce, 1024 bytes$'
    grep -q '^allreduce:bytes=1024,' "$table"
    cp "$table" "$table.first"
    run "$ASPEN_PREFIX/bin/aspen" tune --out "$table" --ops allreduce \
        --from 64 --to 2048 --budget-ms 200 -- mpiexec.mpich -n 2
    ended_with 0
    grep -q '^allreduce:bytes=2048,' "$table"
    # what was there was not measured again
    diff <(grep '^allreduce:bytes=1024,' "$table.first") \
        <(grep '^allreduce:bytes=1024,' "$table")
    run "$ASPEN_PREFIX/bin/aspen" tune -- mpiexec.mpich -n 2
    ended_with 2
    printed 'where to'
    run "$ASPEN_PREFIX/bin/aspen" tune --out /none/x -- mpiexec.mpich -n 2
    ended_with 2
    printed 'cannot write to --out /none/x'
}

@test "a rank without the library: an end in time, and the reason" {
    local start=$BATS_TEST_TMPDIR/start
    printf '#!/bin/sh\n[ "$PMI_RANK" = 0 ] || unset LD_PRELOAD\nexec "$@"\n' \
        >"$start"
    chmod +x "$start"
    run_failing timeout -k 5 40 "$ASPEN_TOP/tests/ghostrun" -n 2 --off \
        --knob coll=tune --knob init.timeout_s=2 "$start" "$build/idle_app"
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
    printed '^aspen: some ranks did not join to tune collectives within 2 s'
}

@test "nobody asks: nothing is loaded in front" {
    run ghosts -n 2 --off --report="$BATS_TEST_TMPDIR/r" "$build/coll_tuned" none
    ended_with 0
    not_printed 'collectives of'
}
