#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Binding for real: one node on the machine's own CPUs, in a cluster of its
# own (the others pretend their CPUs, and nothing is bound there).

load helpers

setup_file() {
    (($(nproc) >= 2)) || skip "needs two CPUs"
    export ASPEN_CLUSTER_DIR
    ASPEN_CLUSTER_DIR=$("$ASPEN_TOP/scripts/cluster" dir "bind-$$")
    cluster up --nodes 1 --bind --cpus 2 --prefix "$ASPEN_PREFIX"
}

teardown_file() {
    cluster down
}

# In the user task: its CPUs, its layout, and the CPUs of every ghost beside it.
look='
    sed -n "s/^Cpus_allowed_list:/user/p" /proc/self/status
    echo "$ASPEN_LAYOUT"
    for p in /proc/[0-9]*; do
        case $(readlink "$p/exe") in
        */aspen-ghost) sed -n "s/^Cpus_allowed_list:/ghost/p" "$p/status" ;;
        esac
    done'

@test "user and ghost run on the CPUs of the layout, one each" {
    run on_cluster srun -n1 --async-progress=ghost:1 sh -c "$look"
    ended_with 0
    printed ' bound=yes reason= '
    printed ' task=0:user:0:1:numa0:h-1:c0 task=1:ghost:-:-:numa0:h-1:c1 '
    printed '^user[[:space:]]0$'
    printed '^ghost[[:space:]]1$'
}

@test "the user's CPUs are what nproc and OpenMP see" {
    run on_cluster srun -n1 --async-progress=ghost:1 nproc
    ended_with 0
    printed '^1$'
}

@test "--cpu-bind of the user holds, hints do not count as one" {
    run on_cluster srun -n1 --cpu-bind=none --async-progress=ghost:1 \
        sh -c "$look"
    ended_with 0
    printed ' bound=no reason=--cpu-bind%20was%20given'
    printed '^user[[:space:]]0-1$'
    run on_cluster srun -n1 --cpu-bind=map_cpu:1,0 --async-progress=ghost:1 \
        sh -c "$look"
    ended_with 0
    printed '^user[[:space:]]1$'
    printed '^ghost[[:space:]]0$'
    run on_cluster srun -n1 --hint=nomultithread --async-progress=ghost:1 \
        sh -c "$look"
    ended_with 0
    printed ' bound=yes '
}

@test "one CPU for two tasks: nobody is bound, and the layout says why" {
    run on_cluster srun -p shared -n1 --overcommit --mincpus=1 \
        --async-progress=ghost:1 sh -c "$look"
    ended_with 0
    printed ' bound=no reason=1%20core%20for%201%20user%20and%201%20ghost'
}

@test "an offload thread's CPU is not among those that OpenMP sees" {
    local options
    for options in '-p shared' '-p shared -c1' '-p shared -c2' ''; do
        # shellcheck disable=SC2086
        run on_cluster srun -n1 $options --async-progress=offload \
            sh -c "nproc; $look"
        ended_with 0
        printed '^1$'
        printed ' bound=yes reason= '
        printed ' task=0:user:0:-:numa0:h1:c0 '
        printed '^user[[:space:]]0$'
    done
    run on_cluster srun -p shared -n2 --async-progress=offload \
        sh -c "nproc; $look"
    ended_with 0
    printed ' reason=no%20CPU%20for%20the%20offload%20threads'
}
