#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen status: on jobs of the cluster, and on processes that only look like
# some.

load helpers

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    pretenders=()
}

teardown() {
    ((${#pretenders[@]} == 0)) || kill "${pretenders[@]}" 2>/dev/null || true
    [[ -z ${name-} ]] || on_cluster scancel -n "$name"
    [[ -z ${srun-} ]] || wait "$srun" || true
}

# start NAME OPTION...: a job of the ordinary user whose last rank sleeps; sets
# job, srun. Ends when its ranks are in MPI.
start() {
    local i
    name=$1
    as_user srun -J "$name" -N2 "--export=ALL,LD_PRELOAD=$yield" "${@:2}" \
        >"$BATS_TEST_TMPDIR/out" 2>&1 &
    srun=$!
    for ((i = 0; i < 40; i++)); do
        job=$(on_cluster squeue -h -t R -n "$name" -o %i)
        [[ -z $job ]] || show "$job"
        # Not one of them is still on its way.
        [[ -z $job || $output != *'MPI is up'* ||
            $output =~ \ (in MPI_Init|before MPI|not started|\?)\  ]] || return 0
        sleep 0.3
    done
    cat "$BATS_TEST_TMPDIR/out"
    return 1
}

show() {
    run as_user "$aspen" status "$@"
}

@test "a job with ghosts: who is who, how far, and at what cost" {
    start ghosts -n4 --async-progress=ghost:1 \
        "$ASPEN_BUILD/examples/rma_stall" 10000
    ended_with 0
    echo "$output"
    printed "^job $job, step 0, mode ghost, node n1 \\(1 of 2\\)$"
    printed '^  2 ranks and 1 ghost here, 6 tasks in all; bound: no, pretended'
    line=' +[0-9]+  MPI is up +(running|sleeping) +[0-9.]+ s +[0-9]+ %  '
    for rank in 0 1 2 3; do
        printed "^ +[01]  rank $rank +$line"
    done
    for ghost in 2 5; do
        printed "^     2  ghost $ghost +[0-9]+  serves +(running|sleeping) "
    done
    [ "$(grep -c '^  the ghosts have used [0-9.]* s of CPU' <<<"$output")" -eq 2 ]
    awk 'length > 80 { print "wide: " $0; bad = 1 } END { exit bad }' \
        <<<"$output"
    # The pid of a ghost is a ghost's, that of a rank a rank's.
    pid=$(awk '$2 == "ghost" { print $4; exit }' <<<"$output")
    [ "$(on_cluster cat "/proc/$pid/comm")" = aspen-ghost ]
    pid=$(awk '$2 == "rank" { print $4; exit }' <<<"$output")
    [ "$(on_cluster cat "/proc/$pid/comm")" = rma_stall ]
    # One step of it; and the job does not mind being looked at.
    show "$job.0"
    ended_with 0
    show "$job.7"
    ended_with 1
    printed "^aspen: job $job.7 is not here \\(n1\\), but other steps"
    # Root is another user.
    run on_cluster "$aspen" status "$job"
    ended_with 1
    printed "^aspen: job $job is on this node \\(n1\\), but no process of it is yours"
    wait "$srun"
    grep -q '^updates took' "$BATS_TEST_TMPDIR/out"
    [ "$(sed -n 's/^updates took: \([0-9]*\).*/\1/p' \
        "$BATS_TEST_TMPDIR/out")" -lt 2000 ]
    show "$job"
    ended_with 1
    printed "^aspen: job $job has no process on this node \\(n1\\); is it over"
}

@test "a ghost that is not needed is parked" {
    local i
    start parked -n4 \
        --async-progress=ghost:2,ghost.active=auto,adapt.interval_ms=50 \
        "$ASPEN_BUILD/examples/rma_stall" 10000
    for ((i = 0; i < 20; i++)); do
        show "$job"
        [ "$(grep -c ' parked ' <<<"$output")" -lt 2 ] || break
        sleep 0.2
    done
    # The first one of a node never is.
    for ghost in 2 6; do
        printed "^     2  ghost $ghost +[0-9]+  serves +(running|sleeping) "
    done
    for ghost in 3 7; do
        printed "^     3  ghost $ghost +[0-9]+  parked +(running|sleeping) "
    done
}

@test "a job with offload threads shows their CPU time" {
    start threads -n2 -c2 --async-progress=offload \
        "$ASPEN_BUILD/examples/rma_stall" 20000
    printed "^job $job, step 0, mode offload, node n1 "
    printed '^  task .* thread  CPUs$'
    printed '^     0  rank 0 +[0-9]+  MPI is up +[a-z]+ +[0-9.]+ s +[0-9]+ % +[0-9.]+ s'
}

@test "a job without Aspen, and what is no job" {
    name=plain
    as_user srun -J plain -n1 sleep 20 &
    srun=$!
    for ((i = 0; i < 50; i++)); do
        job=$(on_cluster squeue -h -t R -n plain -o %i)
        [[ -n $job ]] && show "$job" && [[ $output == *without* ]] && break
        sleep 0.2
    done
    ended_with 1
    [ "$output" = "aspen: job $job runs here, but without Aspen" ]
    show 999999
    ended_with 1
    printed '^aspen: job 999999 has no process on this node'
    for wrong in x 0 1. 1.0x 99999999999 -1 ''; do
        show "$wrong"
        ((status > 0))
        [[ $wrong == 1.0x ]] || ended_with 2
    done
    show --watch 0 1
    ended_with 2
}

# pretend LAYOUT BOARD: a process that says it is a task of step 4242.0, with the
# bytes that the Python expression BOARD makes on its board. It may use pid, its
# own, and slot(pid, state). Its standard input keeps the process.
pretend() {
    ASPEN_LAYOUT=$1 python3 - "$2" 3>&- >"$BATS_TEST_TMPDIR/said" <<'END' &
import os, struct, sys, time

def slot(pid, state, told=0):
    return struct.pack("<iII52x", pid, state, told)

def head(ntasks, nghosts, magic=0x42505341, version=1):
    return struct.pack("<4I48x4x60x", magic, version, ntasks, nghosts)

pid = os.getpid()
fd = os.memfd_create("aspen-board", 0)
os.write(fd, eval(sys.argv[1]))
os.environ.update(SLURM_JOB_ID="4242", SLURM_STEP_ID="0", ASPEN_LOCAL="0",
                  SLURMD_NODENAME="n\x1b[31m1", ASPEN_BOARD_FD=str(fd))
os.execvp("sleep", ["sleep", "30"])
END
    pretenders+=($!)
    for ((i = 0; i < 50; i++)); do
        [[ $(cat "/proc/$!/comm") == sleep ]] && break
        sleep 0.1
    done
    run timeout 20 "$aspen" status 4242
    kill "${pretenders[@]}"
    wait "${pretenders[@]}" || true
    pretenders=()
    # Nothing of it acts on the terminal, and nothing crashes.
    [[ $output != *$'\e'* ]]
    ((status < 3))
}

layout="aspen-layout/1 job=4242.0 mode=ghost gpn=1 bound=no reason=test digest=0 \
size=2 nnodes=1 node=0 nodes=n0:0,1 service= task=0:user:0:1:numa-1:h-1:c \
task=1:ghost:-:-:numa-1:h-1:c end"

@test "boards and layouts that make no sense are not believed" {
    pretend "$layout" 'head(2, 1) + slot(pid, 3) + slot(pid, 1)'
    ended_with 0
    printed '^job 4242, step 0, mode ghost, node n.+\[31m1 \(1 of 1\)$'
    printed '^     0  rank 0 +[0-9]+  MPI is up +sleeping'
    printed '^     1  ghost 1 +[0-9]+  serves '
    # Processes that are not of the step, and states that nobody knows.
    pretend "$layout" 'head(2, 1) + slot(1, 77) + slot(-5, 4294967295, 9)'
    ended_with 0
    printed '^     0  rank 0 +-  \? +ended'
    printed '^     1  ghost 1 +-  \? +ended'
    for board in 'b""' 'head(2, 1)' 'head(2, 1)[:20]' 'head(3, 1) + slot(1, 1)' \
        'head(1 << 31, 1)' 'head(2, 2) + slot(pid, 3) * 2' \
        'head(2, 1, 7) + slot(pid, 3) * 2' \
        'head(2, 1, version=2) + slot(pid, 3) * 2' 'os.urandom(300)'; do
        pretend "$layout" "$board"
        ended_with 0
        printed 'no process shows the board of tasks'
        printed '^     0  rank 0 +[0-9]+  \? +sleeping'
    done
    pretend 'aspen-layout/9 nonsense' 'head(2, 1) + slot(pid, 3) * 2'
    ended_with 1
    [ "$output" = "aspen: job 4242 has a layout that this aspen cannot read" ]
}
