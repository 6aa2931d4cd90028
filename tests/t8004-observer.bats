#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Mode off with a report: plain MPI, whose time is taken. That its record is
# valid and can be shown is in t8020.

load helpers

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    ghosts -n 2 --off --report="$dir/stall.json" \
        "$ASPEN_BUILD/examples/rma_stall" 300 >"$dir/stall.log" 2>&1
}

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    yield=$ASPEN_BUILD/tests/.libs/yield.so
}

teardown() {
    [[ -z ${srun-} ]] || wait "$srun" || true
}

# off WHO REPORT PROGRAM...: two ranks on two nodes.
off() {
    run "$1" srun -N2 -n2 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=off "$2" "${@:3}"
}

@test "the record has the time of plain MPI, and says what could be done" {
    python3 - "$dir/stall.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
calls = r["time"]["calls"]
assert (r["mode"], r["users"], r["ghosts"]) == ("off", 2, 0), r
assert "ghost_load" not in r and "calls" not in r, r
assert calls["MPI_Accumulate"]["count"] == 101, calls
assert calls["MPI_Win_flush"]["wait_s"] > 0.2, calls
assert r["time"]["ranks"][0]["wait_s"] > 0.2, r
assert r["time"]["ranks"][1]["wait_s"] < r["time"]["ranks"][0]["wait_s"], r
END
    run cat "$dir/stall.log"
    printed '^aspen: mode off, 2 ranks on 1 node: plain MPI, '
    printed '^aspen: 2 ranks were in MPI 0\.[0-9]+ of '
    printed '^aspen: [0-9]+ % of their time they waited for operations on windows'
    run "$aspen" report --text "$dir/stall.json"
    printed '^  - Aspen was off: this is plain MPI, and its time was taken\.$'
    printed '^  - The ranks waited [2-9][0-9]+ ms, [0-9]+ % of their time, for oper'
    printed '^ +takes a core more on each node; aspen compare tells'
}

@test "who waits for messages, or for nothing, is told so" {
    # tell MESSAGE: of the same run, waiting in other calls.
    tell() {
        python3 -c "import json, sys; r = json.load(open(sys.argv[1]))
c = r['time']['calls']; $1
json.dump(r, open(sys.argv[2], 'w'))" "$dir/stall.json" "$dir/other.json"
        run "$aspen" report --text "$dir/other.json"
        ended_with 0
    }
    tell "c['MPI_Recv_c'] = c.pop('MPI_Win_flush')"
    printed '^  - The ranks waited [2-9][0-9]+ ms, .* for messages\.'
    not_printed 'for operations on windows'
    tell "c['MPI_Barrier'] = c.pop('MPI_Win_flush')"
    printed '^  - .* waited for windows and messages less than 2 % of their'
}

# MPICH 4.2 itself fails in MPI_Finalize after some of the sessions: there is no
# answer to compare with then.
@test "answers are those of MPI without us" {
    local plain compared=0
    for program in world/comm world/attr world/errh 'world/session alone' \
        'world/session before' 'world/session after' 'world/life 1' \
        'rma_atomic 5'; do
        # shellcheck disable=SC2086
        plain=$(ghosts -n 3 -g 0 "$ASPEN_BUILD/tests/"$program 2>&1) ||
            { [[ $program == *session* ]] && continue; }
        compared=$((compared + 1))
        # shellcheck disable=SC2086
        diff <(sort <<<"$plain") \
            <(ghosts -n 3 --off --report "$ASPEN_BUILD/tests/"$program 2>&1 |
                grep -v '^aspen: ' | sort) || {
            echo "differs: $program"
            return 1
        }
    done
    ((compared >= 5))
}

@test "without a report, and with sessions alone, nothing is told" {
    run ghosts -n 2 --off "$ASPEN_BUILD/examples/hello"
    ended_with 0
    not_printed 'aspen: '
    run ghosts -n 2 --off --report "$ASPEN_BUILD/tests/world/session" alone
    ended_with 0
    [ "$(grep -c '^aspen: ' <<<"$output")" -eq 1 ]
    printed '^aspen: no report: in mode off the time of programs that open a'
}

@test "under Slurm: a record of two nodes, as an ordinary user" {
    off as_user --async-report=/tmp/observer.json \
        "$ASPEN_BUILD/examples/rma_stall" 300
    ended_with 0
    printed '^updates took: [2-9][0-9]{2}\.[0-9]* ms'
    printed '^aspen: mode off, 2 ranks on 2 nodes: plain MPI, '
    printed '^aspen: [0-9]+ % of their time they waited for operations on windows'
    run as_user python3 -c 'import json; r = json.load(open("/tmp/observer.json"))
print(r["mode"], r["nodes"], [t["node"] for t in r["time"]["ranks"]],
      len(r["first_node"]), r["reason"])'
    printed '^off 2 \[0, 1\] 1 mode off leaves CPUs to Slurm$'
    as_user rm /tmp/observer.json
}

@test "no helper, no thread, no CPU taken; and none of it without a report" {
    # The children of slurmstepd: tasks, and the agent where there is one.
    # shellcheck disable=SC2016
    look='echo "has $(ps -o comm= --ppid $PPID | tr "\n" " ")"
        echo "CPUs $(taskset -pc $$ | sed "s/.*: //")"
        echo "preload $LD_PRELOAD $ASPEN_ROLE"'
    run on_cluster srun -n1 --async-progress=ghost:1 sh -c "$look"
    printed '^has .*aspen-agent '
    run on_cluster srun -n1 --async-progress=off --async-report sh -c "$look"
    ended_with 0
    printed '^has sh $'
    printed '^preload .*libaspen\.so user$'
    cpus=$(grep '^CPUs' <<<"$output")
    for report in --async-report=no --label; do
        run on_cluster srun -n1 --async-progress=off "$report" sh -c "$look"
        ended_with 0
        printed 'has sh $'
        printed "$cpus\$"
        printed 'preload  $'
    done
    # Programs without MPI, and steps of components, do not notice.
    run on_cluster srun -N2 --async-progress=off --async-report hostname
    [ "$(sort <<<"$output")" = $'n1\nn2' ]
    run on_cluster srun -N1 -n1 --async-progress=off --async-report hostname : \
        -N1 -n1 hostname
    ended_with 0
    not_printed aspen
}

@test "in a batch script, by the environment, and aspen status shows it" {
    as_user srun -J observer -n2 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=off --async-report \
        "$ASPEN_BUILD/examples/rma_stall" 6000 >"$dir/out" 2>&1 &
    srun=$!
    for ((i = 0; i < 40; i++)); do
        job=$(on_cluster squeue -h -t R -n observer -o %i)
        [[ -n $job ]] && run as_user "$aspen" status "$job" &&
            [[ $output == *'rank 1 '*rma_stall* || $output == *'rank 1 '* ]] &&
            break
        sleep 0.3
    done
    printed "^job $job, step 0, mode off, node n1 \\(1 of 1\\)\$"
    printed '^  2 ranks here, 2 tasks in all; bound: no, mode off leaves CPUs'
    printed '^     0  rank 0 +[0-9]+  \? +(running|sleeping) '
    on_cluster scancel "$job"
    run on_cluster env ASPEN_REPORT=1 salloc -Q -n2 --async-progress=off \
        srun "--export=ALL,LD_PRELOAD=$yield" \
        "$ASPEN_BUILD/examples/rma_stall" 50
    ended_with 0
    printed '^aspen: mode off, 2 ranks on 1 node: '
}

@test "off with pack and match mends messages, from srun and sbatch, without helpers" {
    local record=$BATS_TEST_TMPDIR/record.json script=$BATS_TEST_TMPDIR/script
    chmod 777 "$BATS_TEST_TMPDIR" && chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
    run as_user srun -N2 -n3 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=off,pack=auto,match=auto --async-report="$record" \
        "$ASPEN_BUILD/tests/pack_stories"
    ended_with 0
    printed '^aspen: mode off, 3 ranks on 2 nodes: MPI without helpers, whose messages'
    printed '^aspen: messages of types with gaps: [1-9]'
    grep -q '"mpi_fixes": ".*match=yes,pack=yes' "$record"
    run "$aspen" report --text "$record"
    printed '^  - Aspen had no helpers: it mended'
    printf '#!/bin/sh\nexec srun --export=ALL,LD_PRELOAD=%s %s\n' "$yield" \
        "$ASPEN_BUILD/tests/pack_stories" >"$script"
    run as_user sbatch --wait -N2 -n3 --output="$BATS_TEST_TMPDIR/out" \
        --async-progress=off,pack=auto --async-report=1 "$script"
    ended_with 0
    run cat "$BATS_TEST_TMPDIR/out"
    printed '^aspen: messages of types with gaps: [1-9]'
}
