#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Ghosts that are stopped or stuck, at any time of a job: they are named, with
# their state, and the job ends within a bound; one that is at work is left
# alone. Several jobs at once, because they mostly wait. Under Slurm: t5041.

load helpers

bats_require_minimum_version 1.5.0

declare -gA is=(
    [stopped]='stopped \(SIGSTOP\)'
    [blocked]='blocked in the kernel'
    [held]='held by a debugger'
    [asleep]='asleep inside MPI or the kernel'
    [busy]='busy inside MPI'
    [starved]='runnable but not scheduled'
)

setup() {
    cd "$BATS_TEST_TMPDIR"
    mpi=("$ASPEN_TOP/tests/ghostrun" -n 3 -g 1)
    app=$ASPEN_BUILD/tests/fault_app
    fault=$ASPEN_BUILD/tests/.libs/fault.so
}

# Nothing that this test started is left behind.
teardown() {
    local pid left=0
    for pid in $(marked); do
        echo "left behind: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
        kill -9 "$pid" && left=1
    done
    return $left
}

# Processes of job $1, or of all jobs of this test.
marked() {
    local file
    for file in $(grep -lsz "^ASPEN_TEST_MARK=$BATS_TEST_TMPDIR/${1-}" \
        /proc/[0-9]*/environ); do
        file=${file%/environ}
        echo "${file#/proc/}"
    done
}

# Start job $1 with the given options and program: output in $1.out, status in
# $1.status.
job() {
    local name=$1
    shift
    {
        ASPEN_TEST_MARK=$BATS_TEST_TMPDIR/$name timeout -k 5 40 \
            "${mpi[@]}" "$@" >"$name.out" 2>&1 && echo 0 >"$name.status" ||
            echo $? >"$name.status"
    } 3>&- &
}

# Wait up to 20 s until job $1 has printed $2.
until_printed() {
    local i
    for ((i = 0; i < 200; i++)); do
        grep -q "$2" "$1.out" 2>/dev/null && return
        sleep 0.1
    done
    echo "$1 never printed $2:"
    cat "$1.out"
    return 1
}

# Start job $1, whose ghost enters the state $2 of tests/fault_state.h while the
# file $1.now exists.
stuck() {
    ASPEN_FAULT=progress:$2 ASPEN_FAULT_FILE=$PWD/$1.now \
        job "$1" --ghost-preload "$fault" "${@:3}"
}

ghost_of() {
    local pid
    for pid in $(marked "$1"); do
        [[ $(cat "/proc/$pid/comm") != aspen-ghost ]] || echo "$pid"
    done
}

# What became of job $1: sets status and output.
result() {
    status=$(cat "$1.status")
    output=$(cat "$1.out")
}

# Job $1 failed in time and told of a ghost ($2: its pid), with the words $3 for
# its state. The warning is enough: mpiexec ends everybody at once and may lose
# the last words, which can be seen under Slurm (t5041).
named() {
    result "$1"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && [ "$status" -ne 137 ] ||
        { echo "$1 ended with $status"; return 1; }
    printed "ghost process ${2:-[0-9]+} \(world rank 3, node n0\) has not\
 moved for [0-9]+ s while it .*: it is ${3:-${is[stopped]}}; the job ends"
    [ "$(grep -c 'the job ends\.' <<<"$output")" -le 1 ]
}

@test "a ghost stopped while idle, asked for a lock or flooded is named" {
    local mode
    declare -A ghost
    for mode in idle lock flood; do
        job $mode --knob ghost.timeout_s=4 "$app" $mode
    done
    for mode in idle lock flood; do until_printed $mode ready; done
    sleep 0.5 # waiters queue up
    for mode in idle lock flood; do
        ghost[$mode]=$(ghost_of $mode)
        kill -STOP "${ghost[$mode]}"
    done
    begin=$SECONDS
    wait
    ((SECONDS - begin < 15))
    for mode in idle lock flood; do named $mode "${ghost[$mode]}"; done
}

@test "a ghost that is blocked, held or asleep is named as that" {
    local state states=(blocked held asleep)
    for state in "${states[@]}"; do
        stuck "$state" "$state" --knob ghost.timeout_s=3 "$app" idle
    done
    for state in "${states[@]}"; do until_printed "$state" ready; done
    for state in "${states[@]}"; do touch "$state.now"; done
    begin=$SECONDS
    wait
    ((SECONDS - begin < 15))
    for state in "${states[@]}"; do named "$state" '' "${is[$state]}"; done
}

# Ghosts that are stopped end a job after 2 s. The first line comes then, and each
# after twice the time of the last; of MPI_Finalize after 4 s.
@test "a ghost that works for long and a long MPI_Finalize end no job" {
    stuck busy busy --knob ghost.timeout_s=2 "$app" idle busy.end
    job finish --knob ghost.timeout_s=2 "$app" finish 6
    until_printed busy ready
    touch busy.now
    until_printed busy "for [3-9] s while .*: it is ${is[busy]}; .* waits for it"
    rm busy.now
    until_printed busy 'moves again'
    touch busy.end
    wait
    result busy
    ended_with 0
    printed 'moves again'
    not_printed 'the job ends\.'
    result finish
    ended_with 0
    printed '^done$'
    printed 'MPI_Finalize has lasted 4 s; .*; the job waits for it'
}

# Job $1, whose ghost is in that state, has told of it: let it go on, and the job
# end. How long the job would still have waited depends on when the ghost last
# used its CPU.
let_go() {
    until_printed "$1" "has not moved .* is ${is[$1]}; the job ends in [1-7] s"
    rm "$1.now"
    until_printed "$1" 'moves again'
    touch "$1.end"
}

# Another process of the highest priority has the CPU of one that is starved.
@test "a ghost that was blocked, held or without a CPU is left alone" {
    local state states=(blocked held)
    if ((EUID == 0 && $(nproc) > 1)); then
        states+=(starved)
        stuck lost starved --knob ghost.timeout_s=3 "$app" idle
    fi
    for state in "${states[@]}"; do
        stuck "$state" "$state" --knob ghost.timeout_s=8 "$app" idle "$state.end"
    done
    for state in "${states[@]}"; do
        until_printed "$state" ready
        touch "$state.now"
        let_go "$state" >"$state.told" 3>&- &
    done
    if [[ " ${states[*]} " == *' starved '* ]]; then
        until_printed lost ready
        touch lost.now
    fi
    wait
    for state in "${states[@]}"; do
        cat "$state.told"
        result "$state"
        ended_with 0
        printed "is ${is[$state]}; the job ends in"
        printed 'moves again'
    done
    [[ ! -e lost.now ]] || named lost '' "${is[starved]}"
}

@test "a ghost that goes on in time, and a job that sleeps, are left alone" {
    local name
    job asleep --knob ghost.timeout_s=2 "$app" idle asleep.end
    job never --knob ghost.timeout_s=0 "$app" idle never.end
    for name in asleep never; do until_printed $name ready; done
    never=$(ghost_of never) asleep=$(marked asleep)
    # shellcheck disable=SC2086
    kill -STOP "$never" $asleep
    # This one goes on when it was told of, and not after some seconds, which
    # may be too many on a loaded machine.
    job late --knob ghost.timeout_s=8 "$app" idle late.end
    until_printed late ready
    late=$(ghost_of late)
    kill -STOP "$late"
    until_printed late \
        "ghost process $late .* is stopped.* the job ends in [1-7] s"
    kill -CONT "$late"
    # The others have been stopped for longer than the 2 s of the first: the line
    # above comes after four looks, a second apart.
    # shellcheck disable=SC2086
    kill -CONT "$never" $asleep
    until_printed late "ghost process $late .* moves again"
    touch asleep.end never.end late.end
    wait
    result late
    ended_with 0
    result asleep
    ended_with 0
    not_printed aspen
    result never
    ended_with 0
    not_printed aspen
}

@test "a ghost lost at the start or the end, or killed, is named" {
    local mode signal
    for signal in 9 19; do
        export ASPEN_FAULT=arena:$signal
        job arena$signal --knob init.timeout_s=1 --ghost-preload "$fault" \
            "$app" idle 0
        export ASPEN_FAULT=finalize:$signal
        job finalize$signal --knob ghost.timeout_s=4 --ghost-preload "$fault" \
            "$app" idle 0
    done
    export ASPEN_FAULT=exit:19
    job exit --knob ghost.timeout_s=2 --ghost-preload "$fault" "$app" idle 0
    for mode in lock flood; do job $mode "$app" $mode; done
    for mode in lock flood; do
        until_printed $mode ready
        kill -9 "$(ghost_of $mode)"
    done
    begin=$SECONDS
    wait
    ((SECONDS - begin < 20))
    if mpich_since 4.2; then
        # It disconnects after the barrier: nobody needs the ghost any more.
        result finalize19
        printed 'ghost process [0-9]+ .* the program has finished, so the ghost'
    else
        named finalize19
    fi
    result exit
    # mpiexec takes the killed ghost for a reason to end the others too.
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed 'ghost process [0-9]+ .* the program has finished, so the ghost is'
    result arena19
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed 'node n0: ghosts and ranks did not start MPI together within 8 s'
    for mode in lock flood arena9 finalize9; do
        result $mode
        # mpiexec ends everybody at once and may lose what they said; that the
        # ghost is named can be seen under Slurm (t5041).
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    done
}

@test "ghosts that can open no pidfd know who lives all the same" {
    local errno errnos=(1 24 38) # EPERM, EMFILE, ENOSYS
    for errno in "${errnos[@]}"; do
        export ASPEN_FAULT=pidfd:$errno
        job "idle$errno" --ghost-preload "$fault" "$app" idle 2
        job "never$errno" --ghost-preload "$fault" sh -c 'exit 5'
    done
    wait
    for errno in "${errnos[@]}"; do
        result "idle$errno"
        ended_with 0
        printed '^done$'
        result "never$errno"
        ended_with 5
        [ -z "$output" ]
    done
}
