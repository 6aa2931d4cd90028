#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Mode thread: each node of a job gets a core more for its progress threads;
# where none is left the step says so, once.

load helpers

setup_file() {
    export work=$ASPEN_BUILD/tests/t2008
    rm -rf "$work"
    mkdir -p "$work"
    chmod 777 "$work"
    cat >"$work/job" <<'END'
#!/bin/sh
PATH=/usr/bin:/bin
export PATH
echo "script on=$SLURM_JOB_CPUS_PER_NODE c=$SLURM_CPUS_PER_TASK"
srun sh -c 'echo "T $SLURM_PROCID/$SLURM_NTASKS on=$SLURM_CPUS_ON_NODE plain"'
srun -c1 sh -c 'echo "T $SLURM_PROCID/$SLURM_NTASKS on=$SLURM_CPUS_ON_NODE c1"'
END
    chmod 755 "$work/job"
}

teardown_file() { rm -rf "$work"; }

none='^aspen: no core for the progress threads: '

# CPUs of a node with two tasks and a core for their threads: from 24.11.1 on
# --mincpus adds none, and the tasks get two each (common/expand/service.c).
setup() {
    three=3
    ! slurm_since 24.11.1 || three=4
}

# n lines that match $2
times() {
    [ "$(grep -cE -- "$2" <<<"$output")" -eq "$1" ] && return
    echo "not $1 times '$2' in:"
    echo "$output"
    return 1
}

# have TASKS NODES CPUS srun-options...: so many of each, CPUs on each node.
have() {
    # shellcheck disable=SC2016
    run on_cluster srun --async-progress=thread "${@:4}" sh -c \
        'echo "T $SLURM_NTASKS N=$SLURM_NNODES $SLURM_CPUS_ON_NODE"'
    ended_with 0
    times "$1" "^T $1 N=$2 $3\$" && return
    echo "srun ${*:4}"
    return 1
}

@test "each node gets a core more" {
    have 2 1 $three -p shared -N1 -n2
    not_printed 'aspen:'
    have 4 2 $three -p shared -N2 -n4
    not_printed 'aspen:'
    have 1 1 2 -p shared
    not_printed 'aspen:'
    have 2 1 4 -p shared -N1 -n2 \
        --async-progress=thread,thread.service_cores=2
    not_printed 'aspen:'
}

@test "without -N there are nodes enough" {
    have 2 1 $three -p shared -n2
    have 4 2 4 -n4
    not_printed 'aspen:'
}

@test "no core left: the first node says so, and the step runs" {
    have 8 2 4 -N2 -n8
    times 1 "$none"'4 cores for 4 users and 1 service core: ask for more CPUs'
    times 1 aspen:
    have 2 1 2 -p shared -n2 -c1
    times 1 "$none"'2 cores for 2 users and 1 service core'
}

@test "with require the step fails" {
    run on_cluster srun -N2 -n8 --async-progress=thread,require hostname
    [ "$status" -ne 0 ]
    printed 'no core for the progress threads.*require, so the step fails'
    not_printed '^n[12]$'
}

@test "sbatch -n: steps have the core, those that count CPUs do not" {
    run as_user sbatch -W -p shared -n2 --async-progress=thread \
        -o "$work/out" "$work/job"
    ended_with 0
    output=$(cat "$work/out")
    printed "^script on=$three c=\$"
    times 2 "^T ./2 on=$three plain\$"
    times 2 '^T ./2 on=2 c1$'
    times 1 "$none"
}

@test "many tasks on a node: a core more, or none if each would take one" {
    have 3 1 $((three == 3 ? 4 : 3)) -p shared -N1 -n3
    times $((three == 3 ? 0 : 1)) "$none"'3 cores for 3 users and 1 service core'
}

@test "sbatch without -n: no step gets tasks that nobody asked for" {
    run as_user sbatch -W -p shared --async-progress=thread \
        -o "$work/out2" "$work/job"
    ended_with 0
    output=$(cat "$work/out2")
    times 1 '^T 0/1 on=1 plain$'
    times 1 '^T 0/1 on=1 c1$'
    times 2 "$none"
}
