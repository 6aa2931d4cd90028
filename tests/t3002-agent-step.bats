#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The agent inside real steps: what a PMIx client of the step sees, and what
# the loss of the agent costs. Needs the cluster.

load helpers

setup() {
    client="$ASPEN_PREFIX/bin/aspen pmix $ASPEN_BUILD/tests/pmix_client"
    probe=$ASPEN_BUILD/tests/layout_fetch_probe
    ghosts="srun -N2 -n4 --async-progress=ghost:1"
}

# Agents of this installation, anywhere on this machine.
agents() {
    ls -l /proc/[0-9]*/exe 2>/dev/null |
        grep -F -- "-> $ASPEN_PREFIX/libexec/aspen/aspen-agent" || true
}

no_agent_left() {
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        [ -z "$(agents)" ] && break
        sleep 0.3
    done
    [ -z "$(agents)" ]
    run on_cluster sh -c 'ls -d /tmp/aspen-[0-9]* 2>/dev/null | wc -l'
    printed '^0$'
}

# Run a script in each user task of a ghost:1 step, as an ordinary user.
in_step() {
    run as_user $ghosts "$@"
}

@test "a PMIx client in the step reads the layout and both process sets" {
    in_step -l $client
    ended_with 0
    printed '^0: client aspen\.[0-9]+\.0\.[0-9a-f]{16}\.0$'
    printed '^0: size 6$'
    printed '^0: layout aspen-layout/1 job=[0-9]+\.0 mode=ghost gpn=1 '
    printed '^0: role user$'
    printed '^0: peer 2 ghost$'
    printed '^0: psets aspen://users,aspen://ghosts$'
    printed '^0: pset aspen://users 0,1,3,4$'
    printed '^0: pset aspen://ghosts 2,5$'
    [ "$(grep -c ': pset aspen://ghosts 2,5$' <<<"$output")" -eq 4 ]
    not_printed 'missing|ERROR'
    no_agent_left
}

@test "the user cannot take the agent over" {
    in_step -l /bin/sh -c 'for exe in /proc/[0-9]*/exe; do
            [ -e "$exe" ] || continue
            case $(readlink "$exe") in *aspen-agent*) echo "open $exe" ;; esac
        done
        for file in /proc/[0-9]*/comm; do
            [ "$(cat "$file" 2>/dev/null)" = aspen-agent ] || continue
            set -- $(stat -c "%U" "${file%/comm}"/fd)
            echo "agent of $1"
        done'
    ended_with 0
    printed '^0: agent of root$'
    not_printed 'agent of aspen-test|open '
}

@test "the namespace is the step's, also with --export=NONE" {
    in_step --export=NONE /bin/sh -c \
        'echo "${ASPEN_PMIX_NAMESPACE%.*} aspen.$SLURM_JOB_ID.$SLURM_STEP_ID"'
    ended_with 0
    [ "$(awk '/^aspen/ && $1 == $2' <<<"$output" | wc -l)" -eq 4 ]
}

@test "every user task picks its own place up" {
    in_step /bin/sh -c "unset LD_PRELOAD; $probe"
    ended_with 0
    printed '^ok user local=0 rank=0 node=0 size=6 '
    printed '^ok user local=1 rank=1 node=0 size=6 '
    printed '^ok user local=0 rank=3 node=1 size=6 '
    printed '^ok user local=1 rank=4 node=1 size=6 '
    not_printed '^aspen: task'
}

# The pid of the node's agent is in the address of its server; which of several
# names has it differs between releases of PMIx.
kill_agent='kill -9 $(env | sed -n "s/^ASPEN_PMIX_SERVER_URI[^;]*\.\([0-9]*\);.*/\1/p" |
    head -n 1); sleep 0.3'

@test "agent killed before the pick-up: the layout is there all the same" {
    in_step /bin/sh -c "unset LD_PRELOAD
        test \$ASPEN_LOCAL = 0 && { $kill_agent; } || sleep 1; $probe"
    ended_with 0
    [ "$(grep -c '^ok user' <<<"$output")" -eq 4 ]
    printed '^aspen: n1: aspen-agent ended before the step'
    no_agent_left
}

@test "agent killed after the pick-up: the step ends as it would" {
    in_step /bin/sh -c "unset LD_PRELOAD; $probe
        test \$ASPEN_LOCAL = 1 && { sleep 1; $kill_agent; }; exit 7"
    [ "$(grep -c '^ok user' <<<"$output")" -eq 4 ]
    ended_with 7
    no_agent_left
}

@test "two steps at once on the same nodes have a server each" {
    run as_user salloc -N2 -n6 -Q --overcommit sh -c "
        for i in 1 2; do
            srun --overlap -N2 -n4 --async-progress=ghost:1 sh -c \
                'unset LD_PRELOAD; $probe; sleep 1; $client' &
        done; wait"
    ended_with 0
    [ "$(grep -c '^ok user local=0 rank=0 node=0 .*\.0$' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^ok user local=0 rank=0 node=0 .*\.1$' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^pset aspen://users ' <<<"$output")" -ge 4 ]
    not_printed '^missing'
    no_agent_left
}

@test "srun --mpi=pmix keeps its own server; the layout is picked up all the same" {
    in_step --mpi=pmix sh -c "unset LD_PRELOAD; echo \$PMIX_NAMESPACE; $probe"
    ended_with 0
    [ "$(grep -c '^slurm.pmix' <<<"$output")" -eq 4 ]
    [ "$(grep -c '^ok user' <<<"$output")" -eq 4 ]
    not_printed '^aspen: task'
    no_agent_left
}
