#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ghost.active=auto, without Slurm: ghosts that are not needed are parked.

load helpers
load adapt

setup() {
    record=$BATS_TEST_TMPDIR/record.json
}

# scaled PROGRAM GHOSTRUN-OPTIONS... -- ARGUMENT...
scaled() {
    recorded "$@"
    ended_with 0
}

# Was the number of active ghosts of every node $2 in every phase of the kind $1?
# For a while: others use the processors, too, and a ghost that has to wait for
# one in the midst of its work looks busy.
active() {
    python3 - "$record" "$output" "$@" <<'PY' && return
import json, sys
r = json.load(open(sys.argv[1]))
phases = [line.split()[1:] for line in sys.argv[2].splitlines()
          if line.startswith("phase ")]
kind, wanted, seen = sys.argv[3], int(sys.argv[4]), 0
for node in range(r["nodes"]):
    turns = [(0.0, 2)] + [(c["t_s"], c["active"]) for c in r["active_ghosts"]
                          if c["node"] == node] + [(1e9, 0)]
    for name, start, end in phases:
        there = {n for (t, n), (u, _) in zip(turns, turns[1:])
                 if t < float(end) and u > float(start)}
        if name == kind:
            seen += 1
            if wanted not in there:
                sys.exit("node %d, %s phase from %s to %s s: %s" %
                         (node, name, start, end, there))
sys.exit(seen == 0 or r["active_ghosts_more"] > 0)
PY
    cat "$record"
    return 1
}

auto="--knob ghost.active=auto"

@test "rest parks a ghost, and load calls it up again" {
    local shape
    for shape in '-n 2 -g 2' \
        '-n 4 -g 2 --nodes 2 --knob rma.balance=queue --knob adapt=user'; do
        # shellcheck disable=SC2086
        scaled tests/adapt_ghost_scaling $shape $auto --knob adapt.interval_ms=20 \
            --knob ghost.high=50 --knob ghost.low=30 -- 800 1500 2
        printed '^ok ghost_scaling'
        active quiet 1
        active heavy 2
        says 'all(0 < g["parked_s"] < g["held_s"]
                  for g in r["ghost_busy"][r["nodes"]:])'
        # The first one of a node never is.
        says 'all(g["parked_s"] == 0 for g in r["ghost_busy"][:r["nodes"]])'
        printed '^aspen: they were parked for [0-9.]+ of these [0-9.]+ s'
    done
}

@test "a parked ghost sleeps" {
    # shellcheck disable=SC2086
    scaled examples/rma_stall -n 2 -g 2 $auto --knob adapt.interval_ms=100 \
        -- 5000 1
    # It blocks until something comes, as the other one does, in whose time
    # is also that of MPI_Init.
    says '(lambda first, second: second["parked_s"] > 2 and
           second["parked_cpu_s"] < 0.015 * second["parked_s"] and
           second["parked_cpu_s"] / second["parked_s"] <
               first["cpu_s"] / first["held_s"] / 2)(*r["ghost_busy"])'
    # Without the knob nobody is parked, nor spoken of.
    scaled examples/rma_stall -n 2 -g 2 --knob adapt.interval_ms=20 -- 300 1
    says '"active_ghosts" not in r and "parked_s" not in r["ghost_busy"][0]'
    not_printed 'parked'
}

# Did accumulates for a target go to the ghost that they went to at first, and
# after the point to the one that was active? Status 2: none was parked between,
# and for good, so nothing is known.
owners_changed_at_the_point() {
    python3 - "$record" "$output" <<'PY'
import json, re, sys
r = json.load(open(sys.argv[1]))
made, point, before, after = map(float, re.search(
    r"made (\S+) point (\S+) before (\d+) after (\d+)",
    sys.argv[2]).groups())
changes = r["active_ghosts"]
if (len(changes) != 1 or changes[0]["active"] != 1 or
        not made + 0.1 < changes[0]["t_s"] < point - 0.5):
    print("not parked as wanted:", changes)
    sys.exit(2)
loads = [load["ops"] for load in r["ghost_load"]]
sys.exit(loads != [before + 2 * after, before] and "ops: %s" % loads)
PY
}

@test "accumulates keep their owner until the next legal point" {
    local _
    for _ in 1 2 3 4 5; do # a ghost that has to wait for a CPU looks busy
        # shellcheck disable=SC2086
        recorded tests/adapt_owner -n 2 -g 2 $auto --knob adapt=user \
            --knob adapt.interval_ms=100 --knob ghost.high=90 -- 100 20
        ended_with 0
        printed '^ok owner'
        owners_changed_at_the_point && return
        (($? == 2)) || return 1
    done
    return 1
}

@test "what comes to a parked ghost all the same is carried out" {
    local test shape='-n 4 -g 2 --nodes 2 --knob rma.balance=random'
    for test in active: atomic:2 stories:1; do
        # shellcheck disable=SC2086
        scaled "tests/rma_${test%:*}" $shape $auto --knob adapt.interval_ms=1 \
            -- ${test#*:}
        printed "^ok ${test%:*}"
    done
}

@test "random programs agree with the model while ghosts come and go" {
    local lag=$ASPEN_BUILD/tests/.libs/lag.so
    local often="$auto --knob adapt.interval_ms=1 \
--knob ghost.high=20 --knob ghost.low=15"
    export ASPEN_BUILD
    printf '%s\n' "-n 4 -g 2 $often" "-n 4 -g 2 --nodes 2 $often" \
        "-n 4 -g 2 --nodes 2 $often --knob adapt=user" \
        "-n 5 -g 3 --nodes 2 $often --knob rma.balance=random" \
        "-n 4 -g 2 --nodes 2 $often --knob adapt=ghosts" \
        "-n 4 -g 3 $often --knob adapt=user --ghost-preload $lag" \
        >"$BATS_TEST_TMPDIR/shapes"
    run timeout -k 5 60 "$ASPEN_TOP/tests/rma-random" --seed 7104 \
        --shapes "$BATS_TEST_TMPDIR/shapes" --programs 240 --slice 20 \
        --seconds 5
    ended_with 0
    printed '^[1-9][0-9]+ programs, 0 slices wrong'
}
