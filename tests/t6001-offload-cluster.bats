#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The offload thread under Slurm on two nodes.

load helpers

setup() {
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    programs=$ASPEN_BUILD/tests
}

offload() {
    run "$1" srun -N2 -n2 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=offload "${@:2}"
}

@test "every story, and the record says what the threads did" {
    offload on_cluster --async-report "$programs/offload_stories"
    ended_with 0
    not_printed 'wrong'
    printed '^all stories: ok$'
    printed 'offload mode, 2 ranks on 2 nodes.* [1-9][0-9]* of them posted'
    offload on_cluster "$programs/offload_outside"
    ended_with 0
    printed '^all stories: ok$'
}

@test "ghosts too: operations are redirected, messages are posted" {
    run on_cluster srun -N2 -n2 -c2 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=ghost:1,offload --async-report \
        "$programs/offload_stories"
    ended_with 0
    not_printed 'wrong'
    printed '^all stories: ok$'
    printed 'ghost mode, 2 user ranks and 2 ghosts on 2 nodes.* \(put 8000, '
    printed 'and an offload thread in 2 of 2 ranks; .* [1-9][0-9]* of them posted'
}

@test "an ordinary user, many threads, the record in a file" {
    offload as_user --async-report=/tmp/offload.json \
        "$programs/offload_stress" 2 1
    ended_with 0
    printed ' 0 wrong$'
    run as_user python3 -c \
        'import json; r = json.load(open("/tmp/offload.json"))
print(r["mode"], r["users"], r["offload"]["posted"] > 0)'
    printed '^offload 2 True$'
    as_user rm /tmp/offload.json
}

@test "a program without MPI does not notice" {
    run on_cluster srun -N2 -n2 --async-progress=offload hostname
    ended_with 0
    [ "$(grep -c '^n[12]$' <<<"$output")" -eq 2 ]
    printed '^aspen: 2 tasks, 4 CPUs each: 3 \+ 1 for the offload thread$'
    [ "$(wc -l <<<"$output")" -eq 3 ]
}

@test "a wrong request is refused before anything starts" {
    run on_cluster srun -N2 -n2 --async-progress=offload:2 true
    printed 'mode offload takes no number'
    [ "$status" -ne 0 ]
    run on_cluster srun -N2 -n2 --async-progress=offlod true
    printed 'did you mean "offload"'
    [ "$status" -ne 0 ]
}

@test "a rank that is killed ends the step" {
    run on_cluster srun -K -N2 -n2 --async-progress=offload bash -c \
        'if [ "$SLURM_PROCID" = 1 ]; then
             "$0" 2 30 & sleep 1; kill -9 $!; wait $!
         else exec "$0" 2 30; fi' "$programs/offload_stress"
    [ "$status" -ne 0 ]
    printed 'srun: error: .*(Killed|Exited|[Ss]ignal)'
}
