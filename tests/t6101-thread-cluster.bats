#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The sleeping progress thread under Slurm on two nodes.

load helpers

setup() {
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    programs=$ASPEN_BUILD/tests
}

thread() {
    run "$1" srun -N2 -n2 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=thread "${@:2}"
}

@test "every story across nodes, and the record says what the threads did" {
    thread on_cluster --async-report "$programs/progress_habits" funneled
    ended_with 0
    printed '^level kept$'
    not_printed 'wrong'
    [ "$(grep -c '^story .*: ok$' <<<"$output")" -eq 5 ]
    printed 'thread mode, 2 ranks on 2 nodes, a thread each, .*; [1-9][0-9]* '\
'operations watched, [1-9][0-9]* wakes, [1-9][0-9]* polls; '
}

@test "an ordinary user, many threads, settings, the record in a file" {
    run as_user srun -N2 -n3 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=thread,thread.min_kb=0 \
        --async-report=/tmp/thread.json "$programs/offload_stress" 2 1
    ended_with 0
    printed '^[1-9][0-9]* steps, [1-9][0-9]* bytes, 0 wrong$'
    run as_user python3 -c 'import json; r = json.load(open("/tmp/thread.json"))
print(r["mode"], r["users"], r["thread"]["watched"] > 0)'
    printed '^thread 3 True$'
    as_user rm /tmp/thread.json
}

@test "a threshold that nothing reaches: the threads never wake" {
    run on_cluster srun -N2 -n2 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=thread,thread.min_kb=8192 --async-report \
        "$programs/offload_stories" many
    ended_with 0
    printed ' 0 operations watched, 0 wakes, 0 polls;'
}

@test "a program without MPI does not notice" {
    run on_cluster srun -N2 -n2 --async-progress=thread hostname
    ended_with 0
    [ "$(sort <<<"$output")" = $'n1\nn2' ]
}

# refused SPEC MESSAGE: before anything starts.
refused() {
    run on_cluster srun -N2 -n2 "--async-progress=$1" echo started
    [ "$status" -ne 0 ]
    printed "^srun: error: aspen: --async-progress: .*$2"
    not_printed 'started'
}

@test "wrong requests are refused before anything starts" {
    refused thread:2 'mode thread takes no number'
    refused thraed 'did you mean "thread"'
    refused thread,thread.service_cores=0 '0 is out of range; give 1\.\.64'
    refused thread,thread.service_core=1 'did you mean "thread.service_cores"'
    refused thread,thread.min_kb=8k '"8k" is not a number; give 0\.\.1048576 KiB'
}

@test "a rank that is killed ends the step" {
    run on_cluster srun -K -N2 -n2 --async-progress=thread bash -c \
        'if [ "$SLURM_PROCID" = 1 ]; then
             "$0" 2 30 & sleep 1; kill -9 $!; wait $!
         else exec "$0" 2 30; fi' "$programs/offload_stress"
    [ "$status" -ne 0 ]
    printed 'srun: error: .*(Killed|Exited|[Ss]ignal)'
}
