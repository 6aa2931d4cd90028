#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Collectives by algorithms of our own under Slurm, on two nodes.

load helpers

programs() {
    run on_cluster srun -N2 -n4 \
        "--export=ALL,LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        --async-report "--async-progress=$1" "$ASPEN_BUILD/tests/coll_programs" \
        "$2" 30
    ended_with 0
    printed '^ok coll_programs 30 programs'
    printed '^aspen: collectives of [1-9]'
}

@test "with ghosts, with an offload thread, and with neither" {
    programs ghost:1,coll=tune 1
    programs offload,coll=tune 2
    programs off,coll=tune 3
}

@test "what one run found the next one uses, also without a plan" {
    local table=$BATS_TEST_TMPDIR/site.coll
    programs "ghost:1,coll=tune,coll.save=$table" 4
    programs "off,coll=table,coll.table=$table" 4
    printed 'by coll.table, without a search$'
}

@test "a word that is none is refused before anything runs" {
    run on_cluster srun -n2 --async-progress=off,coll=tuna true
    [ "$status" -ne 0 ]
    printed 'coll'
    printed 'off|table|tune'
}
