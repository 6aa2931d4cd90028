#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Time in MPI: programs that know how long they wait and work, against what the
# record says. Lower bounds are those of their sleeps; on a machine with other
# work a lost time slice may pass for work of MPI, so upper ones are wide.

load helpers

# Run a program, the record in $record; "--": the arguments of ghostrun, first.
measured() {
    record=$BATS_TEST_TMPDIR/record.json
    rm -f "$record"
    run ghosts -n 2 --report="$record" "$@"
    ended_with 0
    own=$(sed -n 's/^measured //p' <<<"$output" | head -1)
}

# Fail unless a Python expression holds of the record: r all, t its times, ranks,
# calls, and own, what the program measured itself.
holds() {
    python3 - "$record" "$1" "${own:-0}" <<'EOF' && return
import json, sys
with open(sys.argv[1]) as file:
    r = json.load(file)
t = r["time"]
names = {"r": r, "t": t, "ranks": t["ranks"], "calls": t["calls"],
         "own": float(sys.argv[3])}
sys.exit(not eval(sys.argv[2], names))
EOF
    echo "not so: $1"
    sed -n '/"time"/,$p' "$record"
    return 1
}

habit() {
    measured "${@:2}" "$ASPEN_BUILD/tests/profile_habits" "$1"
}

@test "who waits for a late sender waits, in every mode" {
    local mode
    for mode in '-g 1 --nodes 2' --thread --offload '-g 1'; do
        # shellcheck disable=SC2086
        habit late $mode
        printed '^aspen: 2 ranks were in MPI [0-9.]+ of [0-9.]+ s: [0-9.]+ s '\
'waiting, [0-9.]+ s working; most in MPI_Recv, [0-9.]+ s$'
        holds '0.25 <= ranks[0]["mpi_s"] <= t["wall_s"] + 0.001'
        holds 'ranks[0]["wait_s"] >= 0.2'
        holds 'ranks[1]["mpi_s"] < 0.1 + calls["MPI_Barrier"]["seconds"]'
        holds 'calls["MPI_Recv"]["count"] == calls["MPI_Send"]["count"] == 1'
        holds '0.25 <= calls["MPI_Recv"]["seconds"] <= ranks[0]["mpi_s"]'
        holds 'calls["MPI_Barrier"]["count"] == 2'
        holds 'all(abs(x["wait_s"] + x["work_s"] - x["mpi_s"]) < 1e-5
                   for x in ranks)'
    done
    holds 'r["ghost_busy"][0]["busy_s"] < 0.5 * r["ghost_busy"][0]["held_s"]'
}

@test "so it does in Fortran" {
    mpifort.mpich -o "$BATS_TEST_TMPDIR/late" \
        "$BATS_TEST_DIRNAME/profile/late.f90"
    measured -g 1 "$BATS_TEST_TMPDIR/late"
    holds 'ranks[0]["wait_s"] >= 0.2'
    holds 'calls["MPI_Recv"]["count"] == calls["MPI_Send"]["count"] == 1'
}

@test "calls that only work do not wait" {
    habit work -g 1
    holds 'calls["MPI_Reduce_local"]["count"] == 400'
    holds 'own / 2 < calls["MPI_Reduce_local"]["seconds"]'
    holds 'calls["MPI_Reduce_local"]["wait_s"] == 0'
    holds 'all(x["mpi_s"] <= x["wall_s"] for x in ranks)'
}

@test "small calls are all counted, and some timed" {
    habit small -g 1
    holds 'calls["MPI_Pack"]["count"] == 400000'
    holds '0.02 * own < calls["MPI_Pack"]["seconds"]'
    holds 'all(x["mpi_s"] <= x["wall_s"] for x in ranks)'
}

@test "threads that wait together are added up" {
    local mode
    for mode in '-g 1' --offload; do
        # shellcheck disable=SC2086
        habit threads $mode
        holds 'ranks[0]["threads"] == 4 and ranks[1]["threads"] == 1'
        holds '0.75 <= ranks[0]["mpi_s"] <= 4 * t["wall_s"] + 0.001'
        holds 'ranks[0]["wait_s"] >= 0.5'
    done
}

@test "what a callback does is part of the call that it is in" {
    local mode
    for mode in '-g 1' --offload; do
        # shellcheck disable=SC2086
        habit callback $mode
        holds '0.295 <= calls["MPI_Comm_free"]["seconds"] / 2 <= t["wall_s"]'
        holds '"MPI_Iprobe" not in calls'
    done
}

@test "ghosts say how long they were at work" {
    habit accumulate -g 1 --nodes 2
    printed '^aspen: 2 ghosts were at work [0-9.]+ of [0-9.]+ s, [0-9]+ %'
    holds '[g["rank"] for g in r["ghost_busy"]] == [2, 3]'
    holds '[g["node"] for g in r["ghost_busy"]] == [0, 1]'
    # that of the target has 300 x 64 KiB to add
    holds 'r["ghost_busy"][1]["busy_s"] > 0.003'
    holds 'all(g["busy_s"] <= g["held_s"] for g in r["ghost_busy"])'
    holds 'all(0 < g["cpu_s"] <= g["held_s"] + 0.5 for g in r["ghost_busy"])'
    # what a ghost costs before it serves anybody is told apart
    holds 'all(0.001 < g["start_cpu_s"] < g["cpu_s"] for g in r["ghost_busy"])'
    printed '^aspen: 2 ghosts were .* CPU-seconds, and [0-9.]+ to start$'
}

@test "who asks for no report gets no measuring" {
    run ghosts -n 2 -g 1 "$ASPEN_BUILD/tests/profile_habits" late
    ended_with 0
    [ -z "$output" ]
}

@test "a program that leaves no keys for threads is not measured" {
    run ghosts -n 2 --knob adapt=auto \
        --report="$BATS_TEST_TMPDIR/record.json" \
        "$ASPEN_BUILD/tests/profile_no_keys"
    ended_with 0
}

@test "timing and prediction are clean under the thread sanitizer" {
    local in=$ASPEN_TOP/runtime/profile cflags
    cflags=$(sed -n 's/^MPI_CPPFLAGS = //p' "$ASPEN_BUILD/runtime/Makefile")
    # shellcheck disable=SC2086
    gcc -g -O1 -fsanitize=thread -o "$BATS_TEST_TMPDIR/test" $cflags \
        -I"$ASPEN_BUILD" -I"$ASPEN_TOP" -I"$ASPEN_BUILD/runtime/mpi" \
        -I"$ASPEN_TOP/runtime/mpi" "$in/timing_test.c" "$in/timing.c" \
        "$in/poll_sampler.c" "$in/../base/clock.c" -lcmocka -lpthread -lm
    # without address randomization, which the sanitizer's map does not expect
    run timeout -k 5 60 setarch -R "$BATS_TEST_TMPDIR/test"
    ended_with 0
    printed 'PASSED.* 16 test'
    not_printed 'ThreadSanitizer'
}
