#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ghosts that carry messages (p2p=all) and are stopped for a while, or killed, at
# random points, under Slurm: programs are right, or end in time and name the ghost.
#
#   ASPEN_P2P_LOSSES  how many of each (3)

load helpers

setup() { losses=${ASPEN_P2P_LOSSES:-3}; }

teardown() { on_cluster scancel -n p2p-ghosts; }

# Start a step of $2 random programs of seed $1.
begin() {
    on_cluster srun -J p2p-ghosts -N2 -n4 \
        "--export=ALL,LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        "--async-progress=ghost:1,p2p=all" \
        "$ASPEN_BUILD/tests/p2p_random" "$1" "$2" \
        >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    step=$!
}

# signal NODE SECONDS WORDS...: when a ghost of the node has served so long, for each
# word a signal is sent to it, or, for a number, so many seconds are slept.
signal() {
    cluster run --node "n$1" -- timeout 60 bash -c '
        while sleep 0.1; do
            for pid in $(pgrep -x aspen-ghost); do
                grep -qz "^SLURM_NODEID=$(($1 - 1))$" /proc/$pid/environ &&
                    grep -qz "^SLURM_JOB_NAME=p2p-ghosts$" /proc/$pid/environ &&
                    grep -q aspen-arena /proc/$pid/maps || continue
                sleep "$2"
                for word in "${@:3}"; do
                    if [[ $word == [A-Z]* ]]; then
                        kill "-$word" "$pid"
                    else
                        sleep "$word"
                    fi
                done
                exit
            done
        done 2>/dev/null' signal "$@"
}

ended() {
    wait "$step" && status=0 || status=$?
    output=$(cat "$BATS_TEST_TMPDIR/out")
    echo "$output"
}

# draw SECONDS NAME...: for each a time below that.
draw() {
    local name
    for name in "${@:2}"; do
        printf -v "$name" '%d.%03d' $((RANDOM % $1)) $((RANDOM % 1000))
    done
}

@test "stopped for a while: the programs go on and are right" {
    RANDOM=5042
    for ((i = 0; i < losses; i++)); do
        begin "$i" 150
        draw 2 first stop go second
        signal $((1 + i % 2)) "$first" STOP "$stop" CONT \
            "$go" STOP "$second" CONT
        ended
        [ "$status" -eq 0 ]
        printed ': ok$'
    done
}

@test "killed: the step ends in time and names the ghost" {
    RANDOM=5042
    for ((i = 0; i < losses; i++)); do
        begin "$i" 100000
        draw 2 first
        signal $((1 + i % 2)) "$first" KILL
        begun=$SECONDS
        ended
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
        ((SECONDS - begun < 20))
        printed "ghost process [0-9]+ \(world rank [0-9]+, node n$((1 + i % 2))\) died"
        not_printed 'p2p_random: seed'
    done
}
