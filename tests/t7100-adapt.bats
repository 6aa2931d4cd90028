#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Redirection switched off and on while windows are in use, without Slurm:
# tests/adapt/switch.c, and random programs that switch wherever they may.

load helpers
load adapt

setup() {
    record=$BATS_TEST_TMPDIR/record.json
}

# switch GHOSTRUN-OPTIONS... -- ARGUMENT...
switch() {
    recorded tests/adapt_switch "$@"
}

@test "the program is right without Aspen, and where nothing is switched" {
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 4 -g 0 \
        "$ASPEN_BUILD/tests/adapt_switch" 10
    ended_with 0
    printed '^ok switch'
    switch -n 4 -g 1 -- 10
    ended_with 0
    printed '^ok switch'
    not_printed 'adapt='
    says 'a is None and not any("target" in c[x] for x in c)' \
        'not any(w["switchable"] for w in r["windows"])' \
        '"asked" in c["put"] and "asked" in c["fetch_and_op"]' # as it was
}

@test "order, sums and locks over switches at every legal point" {
    local shape segment='--knob rma.binding=segment'
    for shape in '-n 4 -g 1' '-n 4 -g 1 --nodes 2' "-n 3 -g 2 $segment" \
        "-n 5 -g 2 --nodes 2 $segment --knob rma.balance=ops" \
        "-n 4 -g 1 --nodes 2 --ghost-preload $ASPEN_BUILD/tests/.libs/lag.so"
    do
        # shellcheck disable=SC2086
        switch $shape --knob adapt=user -- 8
        ended_with 0
        printed '^ok switch'
        says 'all(w["switchable"] for w in r["windows"])' \
            'c["accumulate"]["ghost"] > 0 and c["accumulate"]["target"] > 0' \
            'a["mode"] == "user" and len(a["switches"]) > 10'
    done
}

@test "who is late at a legal point does not take what was told for the next" {
    recorded tests/adapt_banks -n 2 -g 1 --knob adapt=profile \
        --knob adapt.interval_ms=20 --knob adapt.high=50 --knob adapt.low=40 --
    ended_with 0
    printed '^ok banks'
    says 'c["accumulate"] == {"target": 10}'
}

@test "operations go where the last legal point says" {
    local n=4
    switch -n $n -g 1 --nodes 2 --knob adapt=user -- 1 counted
    ended_with 0
    # 10, then 30 while off, then 7 and 3 from each to each.
    says 'c["accumulate"] == {"ghost": 20 * 16, "target": 30 * 16}' \
        '[s["to"] for s in a["switches"]] == ["off"] * 4 + ["on"] * 4' \
        'all(s["why"] == "async_config" and s["window"] == 1
           for s in a["switches"])' \
        '{s["rank"]: s["node"] for s in a["switches"]} == {0: 0, 1: 1, 2: 0,
           3: 1}'
    # Said, but no legal point came; and a window that begins off.
    switch -n $n -g 1 --knob adapt=user -- 1 latched
    ended_with 0
    says 'c["accumulate"] == {"ghost": 32}' \
        'c["fetch_and_op"] == {"target": 16} and a["switches"] == []'
    printed 'by ghosts \(can be switched off\)'
    printed 'aspen:   node 0 \|[#.+-]+\|'
}

@test "rules say how a window begins, and native is for ever" {
    switch -n 2 -g 1 --knob adapt=user --window 'async_config:off' -- 1 counted
    ended_with 0
    # Nothing said by the program before its second phase.
    says 'c["accumulate"] == {"ghost": 10 * 4, "target": 40 * 4}'
    # By name: from the first legal point on, which comes before all operations.
    switch -n 2 -g 1 --knob adapt=user \
        --window 'name:count%2A;async_config:off' -- 1 counted
    ended_with 0
    says 'c["accumulate"] == {"ghost": 10 * 4, "target": 40 * 4}'
    switch -n 2 -g 1 --window 'name:count%2A;async_config:off;from:job.yaml' \
        -- 1 counted
    ended_with 0
    printed 'job.yaml says async_config=off of window "counted", .*adapt=off'
    says 'c["accumulate"] == {"ghost": 50 * 4}'
    switch -n 2 -g 1 --knob adapt=user --window 'async_config:native' -- \
        1 counted
    ended_with 0
    says 'c["accumulate"] == {"asked": 50 * 4} and a["switches"] == []' \
        '[w["switchable"] for w in r["windows"]] == [False]'
}

@test "processes that do not see their node's arena leave the window on" {
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 4 -g 1 \
        --knob adapt=user --report="$record" bash -c \
        '((PMI_RANK != 1)) || ulimit -v 4000000; exec "$0" "$@"' \
        "$ASPEN_BUILD/tests/adapt_switch" 5
    ended_with 0
    printed '^ok switch'
    says 'c["window"] == {"ghost": 4 * 12} and a["switches"] == []' \
        'not any("target" in c[x] for x in c)' \
        'not any(w["switchable"] for w in r["windows"])'
}

@test "what is right through ghosts is right with redirection off, too" {
    local test
    for test in 'active' 'atomic 5' 'errors' 'stories 2'; do
        # shellcheck disable=SC2086
        run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 4 -g 1 --nodes 2 \
            --report --knob adapt=user --window async_config:off \
            "$ASPEN_BUILD/tests/rma_"$test
        ended_with 0
        printed "^ok ${test% *}"
        printed ', by targets while redirection was off \('
        not_printed 'redirected [0-9]+ \([^)]*(accumulate|fetch_and_op)'
    done
}

@test "random programs that switch wherever they may agree with the model" {
    local lag=$ASPEN_BUILD/tests/.libs/lag.so
    local profile="--knob adapt=profile --knob adapt.interval_ms=1 \
--knob adapt.high=60 --knob adapt.low=55"
    export ASPEN_BUILD
    printf '%s\n' '-n 4 -g 1 --knob adapt=user' \
        '-n 4 -g 1 --nodes 2 --knob adapt=user' \
        '-n 4 -g 2 --knob adapt=user --knob rma.binding=segment' \
        '-n 5 -g 2 --nodes 2 --knob adapt=user --knob rma.balance=random' \
        "-n 4 -g 1 --knob adapt=user --ghost-preload $lag" \
        "-n 4 -g 1 --nodes 2 $profile" \
        >"$BATS_TEST_TMPDIR/shapes"
    run timeout -k 5 60 "$ASPEN_TOP/tests/rma-random" --seed 7100 \
        --shapes "$BATS_TEST_TMPDIR/shapes" --programs 240 --slice 20 \
        --seconds 6
    ended_with 0
    printed '^[1-9][0-9]+ programs, 0 slices wrong'
}

# profile GHOSTRUN-OPTIONS... -- ARGUMENT...: phases inside and outside of MPI.
profile() {
    recorded tests/adapt_phases --knob adapt=profile \
        --knob adapt.interval_ms=20 --knob adapt.high=70 --knob adapt.low=45 "$@"
    ended_with 0
    printed '^ok phases'
}

@test "adapt=profile: phases in and out of MPI are told apart" {
    profile -n 4 -g 1 --nodes 2 -- 240 5
    right 1 0.8
    says 'all(s["why"].endswith("% of the time in MPI")
           for s in a["switches"]) and a["mode"] == "profile"' \
        'c["accumulate"]["ghost"] > 0 and c["accumulate"]["target"] > 0'
    # One rank never computes: ghosts need not serve it, in any phase.
    profile -n 3 -g 1 -- 240 3 1
    right 1 0.8 1
    says 'max(s["t_s"] for s in a["switches"]
              if s["rank"] == 1 and s["to"] == "off") > 0'
    # What the program says of a window stands above the profile.
    profile -n 3 -g 1 --window 'async_config:on' -- 120 3
    says 'a["switches"] == [] and "target" not in c["accumulate"]'
}
