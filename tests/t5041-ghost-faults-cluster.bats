#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ghosts that are stopped, stuck or killed under Slurm, from before MPI_Init to
# after MPI_Finalize: the step ends in time, names them once, leaves nothing.

load helpers

setup() {
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    export ASPEN_GHOST_PRELOAD=$yield:$ASPEN_BUILD/tests/.libs/fault.so
}

teardown() {
    on_cluster scancel -n faults
    cluster run --node n2 -- sh -c 'rm -f /tmp/aspen-fault.*'
}

gone() {
    local left i
    for ((i = 0; i < 20; i++)); do
        left=$(on_cluster sh -c \
            'ps -e -o args | grep -E "aspen-(ghost|agent)|fault_ap[p]" |
             grep -v grep') || break
        sleep 0.5
    done
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
    run on_cluster sinfo -h -N -o '%N %t %E'
    not_printed 'drain|down'
}

# Start a step whose ghost on n2, world rank 3, is lost at $1 by signal $2, or
# by the state of that name in tests/fault_state.h.
lose() {
    local export=ALL,LD_PRELOAD=$yield,ASPEN_FAULT=$1:$2:3
    [[ $2 != [a-z]* ]] || export+=,ASPEN_FAULT_FILE=/tmp/aspen-fault.$2
    {
        on_cluster srun -p shared -J faults -N2 -n2 "--export=$export" \
            --async-progress=ghost:1,ghost.timeout_s=2 \
            "$ASPEN_BUILD/tests/fault_app" idle "${3-0}" \
            >"$BATS_TEST_TMPDIR/$1.$2" 2>&1 &&
            echo 0 >"$BATS_TEST_TMPDIR/$1.$2.status" ||
            echo $? >"$BATS_TEST_TMPDIR/$1.$2.status"
    } 3>&- &
}

# It failed, in time.
lost() {
    status=$(cat "$BATS_TEST_TMPDIR/$1.$2.status")
    output=$(cat "$BATS_TEST_TMPDIR/$1.$2")
    echo "$1 $2: $status: $output"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
}

# The ghost of world rank $1 is named while it $2, and told of once; then $3. It
# is stopped, or what $4 says.
named() {
    printed "ghost process [0-9]+ \(world rank $1, node n2\) has not moved for\
 2 s while it $2: it is ${4:-stopped \(SIGSTOP\)}; $3"
    [ "$(grep -cE 'aspen:.*(the job ends\.|is killed\.)' <<<"$output")" -eq 1 ]
}

died() {
    printed "ghost process [0-9]+ \(world rank 3, node n2\) died while it $1"
}

@test "stopped or killed, from before MPI_Init to after MPI_Finalize" {
    # Two of these steps fit on the nodes at a time.
    lose start 19
    lose start 9
    lose init 19
    lose arena 19
    lose finalize 19
    lose finalize 9
    lose exit 19
    wait
    lost start 19
    named 3 started 'the job ends\.'
    lost start 9
    died 'started; MPI_Init cannot complete'
    lost init 19
    named 3 started 'the job ends\.'
    lost arena 19
    named 3 started 'the job ends\.'
    lost finalize 19
    if mpich_since 4.2; then
        # It disconnects after the barrier: nobody needs the ghost any more.
        printed '^done$'
        named 3 'left MPI' 'the program has finished, so the ghost is killed\.'
        lost finalize 9
        printed '^done$'
    else
        named 3 'left MPI' 'the job ends\.'
        lost finalize 9
        died 'left MPI; MPI_Finalize cannot complete'
    fi
    lost exit 19
    printed '^done$'
    named 3 exited 'the program has finished, so the ghost is killed\.'
    gone
}

@test "stopped from outside while it serves" {
    on_cluster srun -J faults -N2 -n4 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=ghost:1,ghost.timeout_s=2 \
        "$ASPEN_BUILD/tests/fault_app" lock >"$BATS_TEST_TMPDIR/out" 2>&1 &
    srun=$!
    for ((i = 0; i < 150; i++)); do
        ! grep -q ready "$BATS_TEST_TMPDIR/out" || break
        sleep 0.1
    done
    cluster run --node n2 -- bash -c '
        for pid in $(pgrep -x aspen-ghost); do
            grep -qz "^SLURM_NODEID=1$" /proc/$pid/environ &&
                grep -qz "^SLURM_JOB_NAME=faults$" /proc/$pid/environ &&
                kill -STOP $pid && exit
        done
        exit 1'
    begin=$SECONDS
    wait "$srun" && status=0 || status=$?
    output=$(cat "$BATS_TEST_TMPDIR/out")
    echo "$output"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    ((SECONDS - begin < 20))
    named 5 '(slept for want of work|made MPI progress)' 'the job ends\.'
    gone
}

@test "blocked in the kernel or held by a debugger while it serves" {
    local state
    for state in blocked held; do lose progress $state 40; done
    for state in blocked held; do
        for ((i = 0; i < 200; i++)); do
            ! grep -q ready "$BATS_TEST_TMPDIR/progress.$state" || break
            sleep 0.1
        done
        # Only this node has the file, and only the ghosts of one step look.
        cluster run --node n2 -- touch "/tmp/aspen-fault.$state"
    done
    begin=$SECONDS
    wait
    ((SECONDS - begin < 20))
    lost progress blocked
    named 3 'made MPI progress' 'the job ends\.' 'blocked in the kernel'
    lost progress held
    named 3 'made MPI progress' 'the job ends\.' 'held by a debugger'
    gone
}
