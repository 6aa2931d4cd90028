#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# adapt=ghosts, without Slurm: leaders watch their users and tell each other.

load helpers
load adapt

setup() {
    record=$BATS_TEST_TMPDIR/record.json
}

# judged WHAT GHOSTRUN-OPTIONS... -- ARGUMENT...: tests/adapt/WHAT.c
judged() {
    recorded "tests/adapt_$1" --knob adapt=ghosts --knob adapt.interval_ms=20 \
        --knob adapt.high=70 --knob adapt.low=45 "${@:2}"
    ended_with 0
    printed "^ok $1"
}

# judged_right SHARE WINDOW WHAT ... as above: and for how much of the time
# it is judged rightly. Once of three times: on a loaded machine ranks that do
# what the script says are not always where it says.
judged_right() {
    local _
    for _ in 1 2 3; do
        judged "${@:3}"
        right "$2" "$1" && return
    done
    return 1
}

@test "what leaders tell each other comes, in order, along any tree" {
    local n
    for n in 1 2 9 11; do
        run timeout -k 5 60 env LD_PRELOAD="$ASPEN_BUILD/tests/.libs/yield.so" \
            mpiexec.mpich -n "$n" "$ASPEN_BUILD/tests/adapt_status_broadcast" 200
        ended_with 0
        printed '^ok status_broadcast'
    done
    # Each at its own speed: not all that was said is told.
    printed '^heard [1-9]'
}

@test "Puts and Gets follow a phase without a call of MPI and a legal point" {
    judged_right 0.8 -1 moves -n 4 -g 1 --nodes 2 -- 240 5
    says 'a["mode"] == "ghosts" and all(s["window"] == -1
                                        for s in a["switches"])'
    says 'all(c[x]["ghost"] > 0 and c[x]["target"] > 0 for x in ("put", "get"))'
    says 'all(0.2 < sum(t["on"]) / len(t["on"]) < 0.9 for t in a["timeline"])'
    printed 'aspen:   node 1 \|[#+.-]*[.-]{3}[#+.-]*#{3}'
}

@test "accumulates follow at legal points" {
    judged_right 0.75 1 phases -n 3 -g 1 --nodes 3 -- 240 5
    says 'c["accumulate"]["ghost"] > 0 and c["accumulate"]["target"] > 0'
}

@test "a window that is made while its processes are in MPI begins on" {
    judged late -n 3 -g 1 --nodes 2 -- 200
    says 'any(s["to"] == "off" and s["t_s"] < 0.2 for s in a["switches"])'
    says 'c["accumulate"] == {"ghost": 10}'
}

@test "what the program says of a window stands above what ghosts think" {
    judged moves -n 4 -g 1 --nodes 2 --window async_config:on -- 120 3
    says '"target" not in c["put"] and "target" not in c["get"]'
    judged moves -n 4 -g 1 --nodes 2 --window async_config:off -- 120 3
    says '"ghost" not in c["put"] and "ghost" not in c["get"]'
}

@test "a process that does not see the arena neither judges nor is judged" {
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 4 -g 1 --nodes 2 \
        --knob adapt=ghosts --knob adapt.interval_ms=5 --report="$record" \
        bash -c '((PMI_RANK != 1)) || ulimit -v 4000000; exec "$0" "$@"' \
        "$ASPEN_BUILD/tests/adapt_moves" 60 3
    ended_with 0
    printed '^ok moves'
    says 'not any("target" in c[x] for x in ("put", "get"))'
}

@test "an interval that is too short for the program grows" {
    # In and out of MPI within 16 ms: phases for intervals of 4 ms.
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 -g 1 --nodes 2 \
        --knob adapt=ghosts --knob adapt.interval_ms=1000 \
        --knob adapt.interval_min_ms=4 --knob adapt.high=70 \
        --knob adapt.low=45 --report="$record" \
        "$ASPEN_BUILD/tests/adapt_moves" 8 150
    ended_with 0
    says 'a["interval_s"] >= 0.016'
}

@test "random programs agree with the model while ghosts judge every 1 ms" {
    local lag=$ASPEN_BUILD/tests/.libs/lag.so
    local often="--knob adapt=ghosts --knob adapt.interval_ms=1 \
--knob adapt.high=60 --knob adapt.low=55"
    export ASPEN_BUILD
    printf '%s\n' "-n 4 -g 1 $often" "-n 4 -g 1 --nodes 2 $often" \
        "-n 4 -g 2 $often --knob rma.binding=segment" \
        "-n 5 -g 2 --nodes 2 $often --knob rma.balance=random" \
        "-n 4 -g 1 --nodes 2 $often --ghost-preload $lag" \
        >"$BATS_TEST_TMPDIR/shapes"
    run timeout -k 5 60 "$ASPEN_TOP/tests/rma-random" --seed 7102 \
        --shapes "$BATS_TEST_TMPDIR/shapes" --programs 200 --slice 20 \
        --seconds 6
    ended_with 0
    printed '^[1-9][0-9]+ programs, 0 slices wrong'
}

@test "many windows: as many as without Aspen, the first ones with two of MPI" {
    local knob
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 -g 0 --nodes 2 \
        "$ASPEN_BUILD/tests/adapt_many" 1200
    ended_with 0
    printed '^ok many'
    for knob in adapt=off adapt=ghosts rma.direct=yes; do
        recorded tests/adapt_many -n 2 -g 1 --nodes 2 --knob "$knob" -- 1200
        ended_with 0
        printed '^ok many'
        says "r.get('windows_flat_less', 0) == \
                  (0 if '$knob' == 'adapt=off' else 1202 - 256)" \
            'c["window"] == {"ghost": 2 * 1202}'
    done
    printed '^aspen: 946 windows had no flat window of their own'
    # Refused by MPI, not by us.
    recorded tests/adapt_many -n 2 -g 1 --nodes 2 --knob adapt=ghosts -- 100
    ended_with 0
    printed '^ok many'
    says 'r["windows_flat_less"] == 2'
}
