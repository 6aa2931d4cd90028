# SPDX-License-Identifier: BSD-3-Clause
# The options: known everywhere, checked before anything is launched, and
# without effect when they are off.
load helpers

# Lines of a task's environment that are ours.
ours='^(ASPEN_(ROLE|LAYOUT|LOCAL|BOARD_FD)|SLURM_ASPEN)'

@test "srun, sbatch and salloc list the options" {
    for command in srun sbatch salloc; do
        run on_cluster $command --help
        printed '--async-progress'
        printed '--async-policy=FILE'
        printed '--async-report'
    done
}

@test "--async-progress=help prints the knobs and ends 0" {
    run on_cluster srun --async-progress=help
    ended_with 0
    printed 'ghost'
}

@test "an unknown mode is refused before launch, once, with a suggestion" {
    for command in srun salloc 'sbatch --wrap'; do
        run on_cluster ${command%% *} --async-progress=gost \
            ${command#"${command%% *}"} true
        ended_with 1
        printed 'gost'
        printed 'ghost'
        [ "$(grep -c gost <<<"$output")" -eq 1 ]
        not_printed '(Granted|Submitted|queued)'
    done
}

@test "an unknown key and an absurd count are refused" {
    run on_cluster srun --async-progress=ghost:1,colour=blue true
    ended_with 1
    printed 'colour'
    for count in 0 -1 99999999999 x; do
        run on_cluster srun --async-progress=ghost:$count true
        ended_with 1
        printed 'error: aspen: '
    done
}

@test "a policy that is missing, or a directory, is refused with its name" {
    run on_cluster srun --async-policy=/nowhere.yaml true
    ended_with 1
    printed '/nowhere.yaml'
    run on_cluster srun --async-policy=/etc true
    ended_with 1
    printed '/etc'
}

@test "environment twin: ASPEN_PROGRESS is refused and accepted alike" {
    run on_cluster env ASPEN_PROGRESS=gost srun true
    ended_with 1
    printed 'gost'
    run on_cluster env ASPEN_PROGRESS=ghost:1 srun -n1 env
    ended_with 0
    printed '^ASPEN_ROLE=user$'
}

@test "without the option a step has nothing of ours" {
    run on_cluster srun -N2 -n4 env
    ended_with 0
    not_printed "$ours"
    not_printed 'libaspen'
}

@test "off wins over the environment, and nothing happens" {
    run on_cluster env ASPEN_PROGRESS=ghost:1 srun -n2 \
        --async-progress=off env
    ended_with 0
    not_printed "$ours"
    not_printed 'libaspen'
    [ "$(grep -c '^SLURM_PROCID=' <<<"$output")" -eq 2 ]
}

@test "the request reaches the nodes with --export=NONE" {
    run on_cluster srun -N2 -n4 --export=NONE --async-progress=ghost:1 \
        /usr/bin/env
    ended_with 0
    [ "$(grep -c '^ASPEN_ROLE=user$' <<<"$output")" -eq 4 ]
    run on_cluster srun -n1 --export=FOO=bar --async-progress=ghost:1 \
        /usr/bin/env
    printed '^FOO=bar$'
    printed '^ASPEN_ROLE=user$'
}

@test "an ordinary user gets the same" {
    run as_user srun -N2 -n4 --async-progress=ghost:1 \
        sh -c 'echo "$(id -un) $ASPEN_ROLE"'
    ended_with 0
    [ "$(grep -c '^aspen-test user$' <<<"$output")" -eq 4 ]
}

@test "a user's LD_PRELOAD stays, behind ours" {
    local mine=$ASPEN_BUILD/tests/.libs/yield.so
    run on_cluster env LD_PRELOAD="$mine" \
        srun -n1 --async-progress=ghost:1 sh -c 'echo "P=$LD_PRELOAD"'
    ended_with 0
    printed "^P=$ASPEN_PREFIX/.*/libaspen.so:$mine\$"
}

@test "a TaskProlog runs in each user task, and its export arrives" {
    local prolog=$ASPEN_BUILD/tests/t2001-prolog.sh
    printf '#!/bin/sh\necho export SEEN=$SLURM_PROCID-$ASPEN_ROLE\n' >"$prolog"
    chmod 755 "$prolog"
    run on_cluster srun -N2 -n4 --task-prolog="$prolog" \
        --async-progress=ghost:1 sh -c 'echo $SEEN'
    ended_with 0
    [ "$(sort <<<"$output" | tr '\n' ' ')" = \
        '0-user 1-user 2-user 3-user ' ]
}

@test "srun inside a task starts a step without a layout" {
    run on_cluster srun -n1 --async-progress=ghost:1 \
        sh -c 'srun --overlap -n1 env'
    ended_with 0
    not_printed '^ASPEN_LAYOUT='
    not_printed '^(ASPEN_)?PMIX_'
}
