#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# adapt=auto, programs that send messages: progress threads on the ghosts' CPUs,
# where a trial shows that they help. Without Slurm.

load helpers
load adapt

setup() {
    record=$BATS_TEST_TMPDIR/record.json
    auto=(-n 2 -g 1 --nodes 2 --knob adapt=auto)
}

# Nothing but large messages that do not block, beside 2 ms of sleep: others on the
# machine may spoil what the trial measures.
@test "threads are taken where they help, within 4 s, and not again given up" {
    local tries
    for tries in 1 2 3 4 5; do
        recorded tests/adapt_auto "${auto[@]}" -- halo 4
        ended_with 0
        printed '^ok auto'
        if says '[d["to"] for d in a["decisions"]] == ["trial", "threads"]' \
            >/dev/null 2>&1; then
            break
        fi
    done
    says '[d["to"] for d in a["decisions"]] == ["trial", "threads"]' \
        'a["decisions"][1]["t_s"] < 4' \
        'r["thread"]["threads"] == 2' \
        'r["thread"]["polls"] > 100'
    printed 'auto, at .*: threads: trial of .*: faster with progress threads'
    printed '^aspen: and progress threads in 2 of 2 ranks, .* [1-9][0-9]* operations watched'
}

@test "nothing is tried where there is nothing to work for, and ghosts sleep" {
    recorded tests/adapt_auto "${auto[@]}" -- messages 5
    ended_with 0
    printed '^ok auto'
    says '[d["to"] for d in a["decisions"]] == ["nothing"]' \
        '"thread" not in r' \
        'all(g["cpu_s"] < 0.15 * g["held_s"] for g in r["ghost_busy"])'
    printed 'nothing: ranks are in MPI for [0-9]+ % of the time, but no operation'
}

@test "adapt.threads=off: none; on: at once" {
    recorded tests/adapt_auto "${auto[@]}" --knob adapt.threads=off -- halo 2.5
    ended_with 0
    says '[d["to"] for d in a["decisions"]] == ["nothing"]' \
        '"thread" not in r'
    recorded tests/adapt_auto "${auto[@]}" --knob adapt.threads=on -- halo 0.5
    ended_with 0
    says 'r["thread"]["threads"] == 2' 'r["thread"]["watched"] > 100'
}

@test "threads stay on the CPUs of their node's ghosts" {
    recorded tests/adapt_auto "${auto[@]}" --planned --knob adapt.threads=on -- \
        halo 0.5
    ended_with 0
    printed "progress threads in 2 of 2 ranks, 2 of them on the ghosts' CPUs;"
}

# So threads come and go all the time, and a program sees nothing of it.
@test "threads that come and go leave the program's data alone" {
    recorded tests/adapt_auto "${auto[@]}" --knob adapt.threads=on -- bursts 3
    ended_with 0
    printed '^ok auto'
    says 'c["put"]["ghost"] + c["put"]["target"] > 100' \
        'r["thread"]["watched"] > 50' 'r["thread"]["polls"] > 10'
}

@test "ghosts that have work have their CPU for themselves" {
    recorded tests/adapt_auto "${auto[@]}" --knob adapt.threads=on -- halo 1
    printed '^progress thread at the end: yes$'
    recorded tests/adapt_auto "${auto[@]}" --knob adapt.threads=on -- pending 2
    ended_with 0
    printed '^ok auto'
    printed '^progress thread at the end: no$'
}

# stories STORY...
stories() {
    local story
    recorded tests/offload_stories "${auto[@]}" --knob adapt.threads=on \
        --knob thread.min_kb=0 -- "$@"
    ended_with 0
    for story in "$@"; do
        printed "^story $story: ok$"
    done
}

@test "what programs do with progress threads they do with these" {
    stories level mixed many errors handlers 'no stall' processes
    says 'r["thread"]["polls"] > 0'
    stories grequest callbacks
    run ghosts -n 3 -g 1 --knob adapt=auto --knob adapt.threads=on \
        --knob thread.min_kb=0 "$ASPEN_BUILD/tests/offload_stress" 4 2 "$RANDOM"
    ended_with 0
    printed '^[1-9][0-9]* steps, [1-9][0-9]* bytes, 0 wrong$'
}

callback() {
    recorded tests/adapt_callback "${auto[@]}" --knob adapt.threads=on -- "$@"
    ended_with 0
    [ "$(grep -c "^ok $1$" <<<"$output")" -eq 2 ]
}

# Below MPI_THREAD_MULTIPLE the thread must never be in MPI beside the program; and
# a program in a callback is there, though its calls are all over.
@test "no thread is started while a callback of the program is under way" {
    callback delete
    says '"thread" not in r'
}

@test "functions of the program are called by its own threads only" {
    callback op
    says 'r["thread"]["threads"] == 2'
    callback type
    says 'r["thread"]["threads"] == 2'
}

@test "calls that fail are told once, to the right handler" {
    callback error 0.3
    says 'r["thread"]["threads"] == 2'
}

@test "persistent requests are worked for, whenever they were made" {
    recorded tests/adapt_auto "${auto[@]}" --knob adapt.threads=on -- \
        persistent 1
    ended_with 0
    printed '^ok auto'
    says 'r["thread"]["watched"] > 100'
}
