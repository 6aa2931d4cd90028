# SPDX-License-Identifier: BSD-3-Clause
# Ways in which a step ends, with ghosts and plain, on the cluster: the same
# status, about as soon, and no helper left. -K because Slurm by itself leaves
# the other tasks waiting when one has failed.

load helpers

setup_file() {
    export app=$ASPEN_BUILD/tests/lifetime_app
    export LD_PRELOAD_YIELD=$ASPEN_BUILD/tests/.libs/yield.so
    export ASPEN_GHOST_PRELOAD=$LD_PRELOAD_YIELD
}

# A step of two users on each of two nodes.
step() {
    on_cluster env LD_PRELOAD="$LD_PRELOAD_YIELD" \
        srun -J lifetimes -K -N2 --ntasks-per-node=2 "$@"
}

# A step that hung must not keep the nodes from the tests that follow.
teardown() {
    on_cluster scancel -n lifetimes
}

# Nothing of a step is left on the nodes a few seconds later.
gone() {
    local left i
    for ((i = 0; i < 20; i++)); do
        left=$(on_cluster sh -c \
            'ps -e -o args | grep -E "aspen-(ghost|agent)|lifetime_ap[p]" |
             grep -v grep') || return 0
        sleep 0.5
    done
    echo "left behind: $left"
    return 1
}

# Run mode $1 plain and with ghosts; sets plain, status, output.
both() {
    local begin
    begin=$SECONDS
    run step "$app" "$1"
    plain=$status plain_s=$((SECONDS - begin))
    begin=$SECONDS
    run step --async-progress=ghost:1 "$app" "$1"
    echo "$1: plain $plain in $plain_s s, ghosts $status in" \
        "$((SECONDS - begin)) s"
    [ $((SECONDS - begin)) -le $((plain_s + 12)) ]
    # MPI_Abort of MPICH 4.2 returns, and the plain program may crash then.
    [[ $plain != 139 || $status == 0 || $status == 124 ]] || plain=$status
    # Which of SIGTERM and SIGKILL a task of an ending step dies of is chance.
    [[ $plain/$status =~ ^(137|143)/(137|143)$ ]] || ended_with "$plain"
    not_printed 'aspen: '
    gone
}

@test "programs that never call MPI keep their status and leave no ghost" {
    run step --async-progress=ghost:1 hostname
    ended_with 0
    [ "$(grep -c '^n[12]$' <<<"$output")" -eq 4 ]
    run step --async-progress=ghost:1 sh -c 'exit 5'
    ended_with 5
    gone
}

@test "normal end" {
    both normal
    ended_with 0
    printed '^rank 3 of 4 done, level as wanted$'
}

@test "late MPI_Init" {
    both late
    ended_with 0
}

@test "children that exit or run a shell" {
    both fork
    ended_with 0
}

@test "MPI_Abort" {
    both abort
    printed 'application called MPI_Abort\(MPI_COMM_WORLD, 7\)'
}

@test "fatal MPI error" {
    both fatal
    printed 'Fatal error in .*Send: Invalid rank'
}

@test "crash of one rank" {
    both crash
}

@test "all exit without MPI_Finalize" {
    both exit
    ended_with 3
}

@test "one exits without MPI_Finalize" {
    both exit-one
}

@test "scancel ends the step and its helpers" {
    for extra in '' --async-progress=ghost:1; do
        begin=$SECONDS
        run on_cluster env LD_PRELOAD="$LD_PRELOAD_YIELD" sh -c "
            srun -J lifetimes -N2 --ntasks-per-node=2 $extra $app wait &
            sleep 3
            scancel -n lifetimes
            wait \$!"
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
        [ $((SECONDS - begin)) -le 20 ]
        gone
    done
}

@test "standard input, a script and a Python program around the program" {
    run step --async-progress=ghost:1 "$app" stdin <<<"some words"
    ended_with 0
    printed '^rank 3 of 4 read some words$'
    run step --async-progress=ghost:1 \
        sh -c "echo before; $app normal && echo after"
    ended_with 0
    [ "$(grep -c '^before$' <<<"$output")" -eq 4 ]
    [ "$(grep -c '^after$' <<<"$output")" -eq 4 ]
    run step --async-progress=ghost:1 python3 -c '
import subprocess, sys
sys.exit(subprocess.call([sys.argv[1], "normal"], close_fds=False))' "$app"
    ended_with 0
    [ "$(grep -c 'of 4 done' <<<"$output")" -eq 4 ]
    gone
}

@test "code before MPI_Init runs once per user and never in a ghost" {
    rm -f "$ASPEN_BUILD/once.$$"
    run step --async-progress=ghost:1 "$app" once "$ASPEN_BUILD/once.$$"
    ended_with 0
    [ "$(wc -l <"$ASPEN_BUILD/once.$$")" -eq 4 ]
    rm -f "$ASPEN_BUILD/once.$$"
}
