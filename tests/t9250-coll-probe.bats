#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The model's constants: measured, from a table, or of a machine by name.

load helpers

setup_file() { export build=$ASPEN_BUILD/tests; }

# Of the record of a job: "FROM LATENCY_US OVERHEAD_US" of the links $2.
link_of() {
    python3 - "$1" "$2" <<'END'
import json, sys
part = json.load(open(sys.argv[1]))["collectives"]
for link in part["links"]:
    if link["where"] == sys.argv[2]:
        print(link["from"], link["latency_us"], link["overhead_us"])
END
}

# A job of $1 (options of ghostrun); its record is in $record.
job() {
    record=$BATS_TEST_TMPDIR/record
    # shellcheck disable=SC2086
    run ghosts $1 --off --report="$record" --knob coll=tune "${@:2}" \
        "$build/coll_programs" 9 20
    ended_with 0
    printed '^aspen:   links inside nodes by [a-z.]+: L [0-9.e+-]+ us, o '
}

# Other programs may keep the CPUs from the pair; then nothing is taken of it.
@test "links are measured at the start, within a time" {
    local i
    for i in {1..30}; do
        job '-n 4 --nodes 2' --knob coll.probe_ms=300
        grep -q '^probe ' <<<"$(link_of "$record" 'inside nodes')" &&
            grep -q '^probe ' <<<"$(link_of "$record" 'between nodes')" && break
    done
    [[ $(link_of "$record" 'inside nodes') == 'probe '* ]]
    [[ $(link_of "$record" 'between nodes') == 'probe '* ]]
    python3 "$ASPEN_TOP/tests/report_check.py" valid \
        "$ASPEN_TOP/docs/record.schema.json" "$record"
    "$ASPEN_PREFIX/bin/aspen" report --text "$record" | tr -s ' \n' ' ' |
        grep -q 'Links: inside nodes by probe L .* us, o .*measured in [0-9.]* ms'
}

# What was measured, or not because of other programs, is for those who asked.
@test "links are shown to who makes a table or asked for a report" {
    local say=(--knob coll=tune --knob coll.effort=all --knob coll.probe_ms=30)
    run ghosts -n 2 --off "${say[@]}" "$build/coll_tuned" asks
    ended_with 0
    not_printed 'aspen: '
    run ghosts -n 2 --off "${say[@]}" --report "$build/coll_tuned" asks
    ended_with 0
    printed '^aspen: links( inside nodes)?: '
    run ghosts -n 2 --off "${say[@]}" --knob "coll.save=$BATS_TEST_TMPDIR/new" \
        "$build/coll_tuned" asks
    ended_with 0
    printed '^aspen: links( inside nodes)?: '
}

@test "a machine by name where nobody is to measure" {
    job '-n 3' --knob coll.probe_ms=0
    [ "$(link_of "$record" 'inside nodes')" = 'infiniband 0.15 0.08' ]
    UCX_TLS=tcp,self job '-n 2 --nodes 2' --knob coll.probe_ms=0
    [ "$(link_of "$record" 'between nodes')" = 'tcp 19.0 3.0' ]
}

@test "links of a table are taken, and what it lacks is measured" {
    local table=$BATS_TEST_TMPDIR/table
    run ghosts -n 2 --off --knob coll=tune --knob coll.probe_ms=0 \
        --knob "coll.save=$table" "$build/coll_tuned" asks
    ended_with 0
    ! grep -q '^link' "$table"
    sed -i 's/^rows .*/link inside 1234000 567000 89000 10\n&/' "$table"
    job '-n 2' --knob "coll.table=$table" --knob "coll.save=$table"
    [ "$(link_of "$record" 'inside nodes')" = 'coll.table 1.234 0.567' ]
    python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["collectives"]["probe_ms"] == 0' "$record"
    grep -q '^link inside 1234000 567000 89000 10$' "$table"
    # There is no line for links between nodes.
    job '-n 4 --nodes 2' --knob "coll.table=$table" --knob "coll.save=$table"
    python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["collectives"]["probe_ms"] > 0' "$record"
    # Rows of the job of another shape are still there.
    grep -q '^jobs 1x2,2x2$' "$table"
    grep -q 'ranks=2,nodes=1' "$table"
}

@test "more ranks than CPUs, in all modes" {
    local shape
    for shape in '-n 8 --off --nodes 2' '-n 3 -g 1' '-n 3 --offload' \
        '-n 3 --thread' '-n 4 -g 1 --nodes 2 --knob offload=yes'; do
        # shellcheck disable=SC2086
        run ghosts $shape --knob coll=tune "$build/coll_programs" 3 20
        ended_with 0
        printed '^ok coll_programs'
        not_printed '^aspen:'
    done
}

@test "aspen tune --probe writes links, aspen explain uses them" {
    local table=$BATS_TEST_TMPDIR/table i
    for i in {1..30}; do
        run "$ASPEN_PREFIX/bin/aspen" tune --probe --out "$table" -- \
            mpiexec.mpich -n 2
        ended_with 0
        grep -q '^link inside' "$table" && break
        printed 'what was measured is of no use: run it again'
    done
    printed '^aspen: links inside nodes: L [0-9.]+ us, o [0-9.]+ us'
    grep -q '^rows 0$' "$table"
    run "$ASPEN_PREFIX/bin/aspen" explain table "$table"
    ended_with 0
    printed '^Links inside nodes: L [0-9.]+ us, o'
    run "$ASPEN_PREFIX/bin/aspen" explain coll bcast --ranks 8 \
        --machine "$table"
    ended_with 0
    printed "8 ranks on 1 node; machine $table\$"
    run "$ASPEN_PREFIX/bin/aspen" explain coll bcast --ranks 8 --machine nosuch
    ended_with 2
    printed 'no machine "nosuch": take sun, infiniband, tcp, '
    grep -v '^link\|^core' "$table" >"$table.bare"
    run "$ASPEN_PREFIX/bin/aspen" explain coll bcast --ranks 8 \
        --machine "$table.bare"
    ended_with 2
    printed 'no links were measured: run aspen tune --probe'
}

@test "orders of the model against measured times" {
    run timeout -k 5 100 "$ASPEN_TOP/bench/coll_order" --build "$ASPEN_BUILD" \
        --shapes 2x1 --samples 3 bcast:8 alltoall:64
    ended_with 0
    printed '^2x1 +bcast:8 +[0-9]+ +-?[0-9.]+ +[0-9]+ +-?[0-9.]+ +[0-9]+( \(disturbed\))?$'
    printed '^calls in which the probe was not disturbed: [0-2]$'
    run timeout -k 5 100 "$ASPEN_TOP/bench/coll_order" --build "$ASPEN_BUILD" \
        --shapes 2x1 bcast
    ended_with 1
    printed "cannot make sense of 'bcast'"
}
