#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ghosts that die, ghosts that idle.

load helpers

stall() {
    exec timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 -g 1 \
        "$ASPEN_BUILD/examples/rma_stall" "$@"
}

# Wait up to 10 s for a ghost below process $1 and print its pid.
find_ghost() {
    local i pid
    for ((i = 0; i < 100; i++)); do
        for pid in $(pgrep -x aspen-ghost); do
            [[ $(ps -o pgid= -p "$pid") -gt 0 ]] || continue
            grep -qz "^ASPEN_TEST_MARK=$1$" "/proc/$pid/environ" \
                2>/dev/null || continue
            # it serves once it has mapped its arena
            grep -q aspen-arena "/proc/$pid/maps" || continue
            echo "$pid"
            return
        done
        sleep 0.1
    done
    return 1
}

# The job's status; 124 where it takes longer than it may.
kill_ghost() {
    local job status=0 begin
    export ASPEN_TEST_MARK=$$.kill.$RANDOM
    stall 20000 &
    job=$!
    kill -9 "$(find_ghost "$ASPEN_TEST_MARK" && sleep 1)"
    begin=$SECONDS
    wait "$job" || status=$?
    ((SECONDS - begin < 15)) || status=124
    return $status
}

@test "a ghost that is killed ends the job" {
    run_failing kill_ghost
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    not_printed 'updates took'
    # That it is named can be seen under Slurm only (t5002, t5041): mpiexec
    # ends everybody at once and may lose what they said.
}

@test "an idle ghost costs next to nothing" {
    export ASPEN_TEST_MARK=$$.idle
    (stall 8000 1 >"$BATS_TEST_TMPDIR/out" 2>&1) &
    job=$!
    ghost=$(find_ghost "$ASPEN_TEST_MARK")
    sleep 1
    read -r user0 system0 < <(awk '{print $14, $15}' "/proc/$ghost/stat")
    wakes0=$(awk '/^voluntary/ { print $2 }' "/proc/$ghost/status")
    sleep 2
    read -r user1 system1 < <(awk '{print $14, $15}' "/proc/$ghost/stat")
    wakes1=$(awk '/^voluntary/ { print $2 }' "/proc/$ghost/status")
    wait "$job"
    grep -q 'updates took' "$BATS_TEST_TMPDIR/out"
    ticks=$((user1 + system1 - user0 - system0))
    echo "$ticks ticks of 10 ms and $((wakes1 - wakes0)) wakes in 2 s"
    ((ticks <= 2))
    # it blocks until something comes, a second at most
    ((wakes1 - wakes0 <= 20))
}

# Whatever load does to the users, none is to be served (adapt.high=0).
@test "ghosts that judge users who talk sleep between two looks" {
    export ASPEN_TEST_MARK=$$.judge
    (exec timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 --nodes 2 -g 1 \
        --knob adapt=ghosts --knob adapt.interval_min_ms=1000 \
        --knob adapt.high=0 --knob adapt.low=0 \
        "$ASPEN_BUILD/bench/adapt_app" --ms 2000 \
        steady,op=get,n=100,compute_us=0,warm_ms=5000 \
        >"$BATS_TEST_TMPDIR/out" 2>&1) &
    job=$!
    ghost=$(find_ghost "$ASPEN_TEST_MARK")
    sleep 4 # the first interval, in which windows are theirs, and a rest
    wakes0=$(awk '/^voluntary/ { print $2 }' "/proc/$ghost/status")
    sleep 2
    wakes1=$(awk '/^voluntary/ { print $2 }' "/proc/$ghost/status")
    wait "$job"
    echo "$((wakes1 - wakes0)) wakes in 2 s"
    ((wakes1 - wakes0 <= 1000)) # 2000 with naps of 1 ms
}

# Here a script around the program changes what MPI may use: there is no way
# between what it has then and what the ghosts were started with.
@test "ghosts have the variables of MPI that the program has" {
    UCX_TLS=posix,self run ghosts -n 2 -g 1 \
        env UCX_TLS=tcp,self "$ASPEN_BUILD/tests/world/errh"
    ended_with 0
    UCX_TLS=nonsense run ghosts -n 2 -g 1 \
        env -u UCX_TLS "$ASPEN_BUILD/tests/world/errh"
    ended_with 0
    too_long=$(printf '%016000d' 0)
    run ghosts -n 2 -g 1 env "UCX_A=$too_long" "UCX_B=$too_long" \
        "$ASPEN_BUILD/tests/world/errh"
    ended_with 0
    printed '^aspen: the ghosts cannot be told all variables MPIR_\*, .*too many'
}
