#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# adapt=auto, without Slurm: do ghosts help this program? tests/adapt/auto.c has
# programs of which that is known.

load helpers
load adapt

# Ghosts are very slow where they are to be in the way: a rank that is left without
# a CPU by others on the machine is slow, too.
setup() {
    record=$BATS_TEST_TMPDIR/record.json
    export ASPEN_LAG_US=30000
    slow="--ghost-preload $ASPEN_BUILD/tests/.libs/lag.so"
}

# The predictor always says so, wrong as it may be: it never looks, or finds that
# nothing is little enough.
always_on='--knob adapt.interval_ms=3600000 --knob adapt.interval_min_ms=3600000'
always_off='--knob adapt.interval_ms=20 --knob adapt.high=0 --knob adapt.low=0'

# auto OPTIONS KIND SECONDS
auto() {
    # shellcheck disable=SC2086
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 -g 1 --nodes 2 $1 \
        --knob adapt=auto --report="$record" \
        "$ASPEN_BUILD/tests/adapt_auto" "$2" "$3"
    ended_with 0
    printed '^ok auto'
}

# finds WHAT OPTIONS KIND: a trial says so within 2 s. What it measures is the
# speed of the program, which others on the machine may spoil.
finds() {
    local tries
    for tries in 1 2 3 4 5; do
        auto "$2" "$3" 1.8
        if says "any('$1' in d['why'] and d['t_s'] < 2
                     for d in a['decisions'])" >/dev/null 2>&1; then
            return
        fi
    done
    cat "$record"
    return 1
}

@test "ghosts that are in the way are off within 2 s" {
    finds 'faster without' "$slow $always_on" pause
    says 'any(d["to"] == "off" and d["t_s"] < 2 for d in a["decisions"])'
    says 'any(s["to"] == "off" and s["why"] == "decided for all"
              for s in a["switches"])'
    says 'c["put"]["target"] > 0 and c["put"]["ghost"] > 0'
    printed 'aspen: auto, at [01]\.[0-9]+ s: off: trial of .*: faster without'
}

@test "accumulates follow at the next fence" {
    finds 'faster without' "$slow $always_on" fence
    says 'any(s["to"] == "off" and s["why"] == "decided for all" and
              s["window"] == 1 for s in a["switches"])'
    says 'c["accumulate"]["target"] > 0'
}

@test "ghosts stay on where targets compute, and come back" {
    finds 'faster with ghosts' '' sleep
    says 'not any(d["to"] == "off" for d in a["decisions"])'
    finds 'faster with ghosts' "$always_off" sleep
    says 'any(d["to"] == "on" for d in a["decisions"])'
    says 'a["switches"][-1]["to"] == "on"'
}

# Without ghosts each of its Puts takes 300 ms, with these 30.
@test "a window that was made while redirection was off is on in its own phase" {
    local late tries
    for tries in 1 2 3; do
        # shellcheck disable=SC2086
        recorded tests/adapt_anew -n 2 -g 1 --nodes 2 $slow $always_on \
            --knob adapt=auto --
        ended_with 0
        printed '^ok anew'
        late=$(sed -n 's/^late //p' <<<"$output")
        if says 'any(d["to"] == "off" and d["t_s"] < 1.2
                     for d in a["decisions"])' >/dev/null 2>&1; then
            break
        fi
    done
    # a trial may be under way at the end
    says '[d["to"] for d in a["decisions"]
           if d["to"] != "trial"][-1] in ("on", "predictor")'
    [ "$late" -ge 20 ]
}

# NaN, and numbers far too large.
@test "nonsense in the arena ends neither rank 0 nor its record" {
    for byte in 0xff 0x7f; do
        recorded tests/adapt_scribble -n 2 -g 1 --knob adapt=auto -- $byte
        ended_with 0
        printed '^ok scribble'
        says 'a["decisions"] == [] and a["switches"] == []'
    done
}
