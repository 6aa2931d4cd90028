# SPDX-License-Identifier: BSD-3-Clause
# An agent that is absent, dies, hangs, lies or floods: the program runs, the
# user is told once per node, nothing is left, and the node stays in service.
load helpers

setup_file() {
    export conf agents=$ASPEN_BUILD/tests/t2004
    make -s -C "$ASPEN_BUILD/spank-plugin" fake_agent
    conf=$(on_cluster sh -c 'dirname "$SLURM_CONF"')
    cp "$conf/plugstack.conf" "$conf/plugstack.saved"
    rm -rf "$agents"
    mkdir -p "$agents"
    cp "$ASPEN_BUILD/spank-plugin/fake_agent" "$agents/"
    chmod 755 "$agents" "$agents/fake_agent"
}

teardown_file() { rm -rf "$agents"; }

# Load the plugin with arguments of its own.
plugin_with() {
    local line
    line=$(sed -n 's/^\(optional .*aspen_spank.so\).*/\1/p' \
        "$ASPEN_PREFIX"/etc/aspen/plugstack.conf.d/aspen.conf)
    echo "$line $*" >"$conf/plugstack.conf"
}

fake() {
    ln -sf fake_agent "$agents/fake_agent-$1"
    plugin_with "agent=$agents/fake_agent-$1" agent_timeout=1
}

teardown() { cp "$conf/plugstack.saved" "$conf/plugstack.conf"; }

processes() {
    local node
    for node in n1 n2; do
        "$ASPEN_TOP/scripts/cluster" run \
            ${ASPEN_CLUSTER_DIR:+--dir "$ASPEN_CLUSTER_DIR"} --node $node \
            -- ps -eo pid,args | grep -E 'aspen-(agent|ghost)|fake_agent' |
            grep -v grep
    done
    return 0
}

# Nothing of ours runs after at most 5 s, and both nodes take jobs.
clean_after() {
    local i
    for i in {1..50}; do
        [ -z "$(processes)" ] && break
        sleep 0.1
    done
    [ -z "$(processes)" ] || { processes; return 1; }
    run on_cluster sinfo -h -o '%T' -N
    not_printed 'drain|down'
}

step() {
    run on_cluster srun -N2 -n4 --async-progress="${1-ghost:1}" \
        sh -c 'echo "$SLURM_PROCID $ASPEN_ROLE"'
}

check_degraded() {
    ended_with 0
    [ "$(grep -cE '^[0-3] user$' <<<"$output")" -eq 4 ]
    printed "aspen: n1: lost aspen-agent: $1"
    printed "aspen: n2: lost aspen-agent: $1"
    [ "$(grep -c 'aspen: ' <<<"$output")" -eq 2 ]
}

@test "no agent installed" {
    plugin_with "agent=/nowhere/aspen-agent"
    step
    check_degraded 'it ended without an answer'
    clean_after
}

# In a batch script SLURMD_NODENAME is the script's node, for all its steps.
@test "a step of a batch script names the nodes that it means" {
    plugin_with "agent=/nowhere/aspen-agent"
    run on_cluster sbatch -W -N2 -n4 -o "$agents/out" --wrap \
        'export SLURMD_NODENAME="n9
forged"; srun -N2 --async-progress=ghost:1 true'
    ended_with 0
    output=$(cat "$agents/out")
    printed 'aspen: n1: lost aspen-agent'
    printed 'aspen: n2: lost aspen-agent'
    not_printed 'n9|forged'
}

@test "agents that die, answer too little, too much, or garbage" {
    while read -r mode says; do
        fake "$mode"
        step
        check_degraded "$says"
    done <<'END'
die it ended without an answer
short its answer is incomplete
garbage its answer is garbage
oversize its answer has an absurd length
lying its answer for local task 0 lies
preload its answer for local task 0 sets a variable
END
    clean_after
}

@test "agents that hang cost one second and are killed" {
    for mode in hang deaf; do
        fake $mode
        local begin=$SECONDS
        step
        check_degraded 'it did not answer in time'
        [ $((SECONDS - begin)) -le 8 ]
    done
    clean_after
}

@test "an agent that does not leave is killed at the end" {
    fake stay
    step
    ended_with 0
    not_printed 'aspen: '
    clean_after
}

@test "require: the step fails, the node does not" {
    fake die
    step ghost:1,require=yes
    [ "$status" -ne 0 ]
    printed 'aspen: n1: lost aspen-agent'
    not_printed '^[0-3] user$'
    clean_after
    fake refuse
    step
    [ "$status" -ne 0 ]
    printed 'free core'
    clean_after
    teardown
    step
    ended_with 0
}

# Put the real agent behind a script that kills it $1 s after its start; with
# $2 its request never arrives.
killed_after() {
    cat >"$agents/killed" <<END
#!/bin/bash
(sleep $1; kill -9 \$\$) </dev/null >/dev/null 2>&1 &
exec "$ASPEN_PREFIX/libexec/aspen/aspen-agent" ${2:+< <(sleep $2)}
END
    chmod 755 "$agents/killed"
    plugin_with "agent=$agents/killed" agent_timeout=3
}

# An MPI program on it: ends well, and its updates go through the ghosts.
mpi_step() {
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 --async-report \
        --task-prolog="$agents/prolog" \
        --export="ALL,LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        "$ASPEN_BUILD/examples/rma_stall" 20
    ended_with 0
    printed 'updates took'
    not_printed 'WRONG'
    printed 'redirected [1-9]'
}

@test "kill -9 of the real agent before the tasks start: MPI completes" {
    printf '#!/bin/sh\nsleep 1\n' >"$agents/prolog"
    chmod 755 "$agents/prolog"
    killed_after 0.3 1 # before it answers
    mpi_step
    printed 'aspen: n1: lost aspen-agent: it ended without an answer'
    printed 'aspen: n2: lost aspen-agent: it ended without an answer'
    clean_after
    killed_after 0.5 # after its answer; the tasks are in their prolog
    mpi_step
    printed 'aspen: n1: aspen-agent ended before the step'
    clean_after
}

@test "kill -9 of the real agent while the step runs" {
    on_cluster srun -N2 -n4 --async-progress=ghost:1 sleep 3 \
        >"$agents/out" 2>&1 &
    local srun=$!
    for _ in {1..50}; do
        [ "$(processes | grep -c aspen-agent)" -ge 2 ] && break
        sleep 0.1
    done
    "$ASPEN_TOP/scripts/cluster" run \
        ${ASPEN_CLUSTER_DIR:+--dir "$ASPEN_CLUSTER_DIR"} --node n1 -- \
        sh -c 'for p in /proc/[0-9]*; do
            [ "$(cat $p/comm)" = aspen-agent ] && kill -9 ${p#/proc/}
        done; true'
    wait "$srun" && status=0 || status=$?
    output=$(cat "$agents/out")
    ended_with 0
    printed 'aspen: n1: aspen-agent ended before the step'
    [ "$(grep -c 'ended before the step' <<<"$output")" -le 2 ]
    clean_after
}

@test "two steps at once on a node" {
    run on_cluster salloc -N1 -n4 -O --async-progress=off sh -c '
        for i in 1 2; do
            srun --overlap -O -n2 --async-progress=ghost:1 \
                sh -c "sleep 1; echo \$SLURM_STEPID \$SLURM_NTASKS" &
        done
        wait'
    ended_with 0
    [ "$(grep -cE '^[01] 2$' <<<"$output")" -eq 4 ]
    clean_after
}

@test "a step that is cancelled takes agent and ghosts along" {
    on_cluster srun -N2 -n4 -J t2004 --async-progress=ghost:1 sleep 60 \
        >"$agents/out" 2>&1 &
    local srun=$!
    for _ in {1..50}; do
        [ "$(processes | grep -c aspen-agent)" -ge 2 ] && break
        sleep 0.1
    done
    on_cluster scancel -n t2004
    wait "$srun" && status=0 || status=$?
    [ "$status" -ne 0 ]
    output=$(cat "$agents/out")
    not_printed 'ended before'
    clean_after
}

@test "an installation without the ghost program fails the step, and says so" {
    plugin_with "ghost=/nowhere/aspen-ghost"
    step
    [ "$status" -ne 0 ]
    printed '/nowhere/aspen-ghost'
    clean_after
}
