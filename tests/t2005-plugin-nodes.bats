# SPDX-License-Identifier: BSD-3-Clause
# Four nodes, and one with a TaskProlog: clusters of their own.
load helpers

teardown() {
    [ -z "${dir-}" ] || "$ASPEN_TOP/scripts/cluster" down --dir "$dir"
}

# up NAME options...
up() {
    dir=$("$ASPEN_TOP/scripts/cluster" dir "$1-$$")
    timeout 60 "$ASPEN_TOP/scripts/cluster" up --dir "$dir" \
        --prefix "$ASPEN_PREFIX" "${@:2}"
}

in_it() {
    timeout -k 5 60 "$ASPEN_TOP/scripts/cluster" run --dir "$dir" "$@"
}

lines_of() { grep -cE "$1" <<<"$output"; }

@test "-N4 -n8 ghost:1 on four nodes, as root and as a user" {
    up p4 --nodes 4
    for user in root aspen-test; do
        run in_it --user $user -- srun -N4 -n8 --async-progress=ghost:1 hostname
        ended_with 0
        [ "${#lines[@]}" -eq 8 ]
        for node in n1 n2 n3 n4; do
            [ "$(lines_of "^$node\$")" -eq 2 ]
        done
    done
    run in_it -- srun -N3 -n7 --async-progress=ghost:1 \
        sh -c 'echo "$SLURM_PROCID $SLURM_NTASKS"'
    ended_with 0
    for rank in {0..6}; do
        [ "$(lines_of "^$rank 7\$")" -eq 1 ]
    done
    run in_it -- sinfo -h -o '%T' -N
    not_printed 'drain|down'
}

@test "-N2 -n6 ghost:2 needs five CPUs per node" {
    up p6 --nodes 2 --cpus 5
    run in_it -- srun -N2 -n6 --async-progress=ghost:2 hostname
    ended_with 0
    [ "$(lines_of '^n1$')" -eq 3 ]
    [ "$(lines_of '^n2$')" -eq 3 ]
}

@test "one node, with the site's TaskProlog" {
    local prolog=$ASPEN_BUILD/tests/t2005-prolog
    printf '#!/bin/sh\necho export SITE=$(uname -s)\necho print from prolog\n' \
        >"$prolog"
    chmod 755 "$prolog"
    up p1 --nodes 1 --cpus 3 --conf "TaskProlog=$prolog"
    run in_it -- srun -n2 --async-progress=ghost:1 sh -c 'echo "S $SITE"'
    ended_with 0
    [ "$(lines_of '^S Linux$')" -eq 2 ]
    [ "$(lines_of '^from prolog$')" -eq 2 ]
    run in_it -- srun -n3 --async-progress=ghost:1 hostname
    [ "$status" -ne 0 ]
}

@test "real CPUs: user and ghost are bound apart" {
    up p1b --nodes 1 --cpus 2 --bind
    run in_it -- srun -n1 --async-progress=ghost:1 sh -c '
        for i in $(seq 100); do
            pgrep -x aspen-ghost >/dev/null && break
            sleep 0.1
        done
        for p in /proc/[0-9]*; do
            [ "$(cat $p/comm 2>/dev/null)" = aspen-ghost ] || continue
            echo "ghost $(sed -n "s/^Cpus_allowed_list:.//p" $p/status)"
        done
        echo "user $(sed -n "s/^Cpus_allowed_list:.//p" /proc/$$/status)"
        echo "nproc $(nproc)"'
    ended_with 0
    printed '^user [01]$'
    printed '^ghost [01]$'
    printed '^nproc 1$'
    [ "$(sed -n 's/^user //p' <<<"$output")" != \
        "$(sed -n 's/^ghost //p' <<<"$output")" ]
}

@test "the shell that salloc starts on a node sees and gets user tasks" {
    up pint --conf LaunchParameters=use_interactive_step
    # salloc starts $SHELL there; a login has it, a container may not.
    export SHELL=/bin/bash
    run timeout -k 5 60 script -qec "'$ASPEN_TOP/scripts/cluster' run \
        --dir '$dir' -- salloc -N2 -n6 --async-progress=ghost:1" /dev/null \
        <<<'echo "shell=$SLURM_NTASKS role=$ASPEN_ROLE."
srun sh -c "echo task=\$SLURM_PROCID/\$SLURM_NTASKS" </dev/null
exit'
    ended_with 0
    printed 'shell=6 role=\.'
    printed 'task=0/6'
    printed 'task=5/6'
    not_printed 'rror'
}
