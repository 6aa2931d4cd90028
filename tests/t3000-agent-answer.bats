#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen-agent by itself: what it answers to which request. No Slurm, no PMIx.

load helpers

setup() {
    agent=$ASPEN_PREFIX/libexec/aspen/aspen-agent
    run_agent=$ASPEN_TOP/tests/agent_run.py
    request=$BATS_TEST_TMPDIR/request
    write_request
}

teardown() {
    [ -z "$site" ] || rm -rf "$site"
}

# A site policy of these lines, in a folder that only root can write.
write_site() {
    site=$(mktemp -d /run/aspen-t3000.XXXXXX)
    chmod 755 "$site"
    printf '%s\n' 'version: 1' "$@" >"$site/policy.yaml"
}

# A request for one node with 4 users and a ghost; "key=value" replaces.
write_request() {
    declare -A r=([version]=2 [job]=12.0 [uid]=$(id -u) [nnodes]=1 [node]=0
        [nodename]=n1 [ntasks]=5 [local]=5 [ranks]=0,1,2,3,4
        [tasks_per_node]=5 [distribution]=block [nodelist]=n1 [step_cpus]=0-7
        [spec]=ghost:1 [user]=$(id -un) [program]=app)
    local pair key
    for pair in "$@"; do r[${pair%%=*}]=${pair#*=}; done
    for key in "${!r[@]}"; do echo "$key ${r[$key]}"; done >"$request"
    echo end >>"$request"
}

explain() {
    HWLOC_SYNTHETIC="${synthetic:-numa:1 core:8 pu:1}" \
        run timeout -k 2 20 "$agent" --explain "$request"
}

@test "a good request gets roles, ranks and an environment for each task" {
    explain
    ended_with 0
    printed '^status ok$'
    printed '^layout aspen-layout/1 job=12.0 mode=ghost gpn=1 '
    printed '^task 0 user bind '
    printed '^task 4 ghost bind '
    printed '^env 3 ASPEN_LOCAL=3$'
    printed '^env 4 ASPEN_ROLE=ghost$'
    not_printed 'PMIX_'
}

@test "the framed answer is complete and the agent leaves with its pipe" {
    run timeout -k 2 20 "$run_agent" --all --agent-arg=--no-pmix "$agent" \
        "$request" 'echo "$ASPEN_LOCAL $ASPEN_ROLE ${ASPEN_LAYOUT%% *}"'
    ended_with 0
    printed '^status ok tasks 5$'
    printed '^0 user aspen-layout/1$'
    printed '^4 ghost aspen-layout/1$'
    printed '^agent status=0 '
}

@test "ghosts are the last tasks of each node, and all nodes are in the layout" {
    write_request nnodes=3 node=1 nodename=n2 ntasks=10 local=4 \
        ranks=4,5,6,7 'tasks_per_node=4(x2),2' 'nodelist=n[1-3]'
    explain
    ended_with 0
    printed ' nodes=n1:0-3;n2:4-7;n3:8-9 '
    printed '^task 2 user '
    printed '^task 3 ghost '
    printed ' task=6:user:5:7:'
}

@test "more ghosts than tasks is refused with the numbers and advice" {
    write_request spec=ghost:5
    explain
    ended_with 1
    printed 'ghost'
    printed '^status plain$'
    printed '^message .*5'
}

@test "with require, the same is a refusal" {
    write_request spec=ghost:5,require=yes
    explain
    ended_with 1
    printed '^status refuse$'
}

@test "bad requests are answered, never obeyed" {
    local bad
    for bad in version=1 job=../x job= uid=-1 ranks=4,3,2,1,0 local=4 \
        ntasks=3 nnodes=0 node=1 spec=colour:green spec=ghost:99999999999 \
        tasks_per_node=9 step_cpus=abc; do
        write_request "$bad"
        run timeout -k 2 20 "$run_agent" "$agent" "$request"
        echo "$bad"
        printed '^status plain tasks 0$'
        printed '^message .'
        printed '^agent status=0 '
    done
}

@test "a request for another user is not served" {
    write_request uid=$(($(id -u) + 1))
    run timeout -k 2 20 "$run_agent" "$agent" "$request"
    printed '^status plain tasks 0$'
    printed '^message .*uid'
}

@test "a request that never ends costs a bounded time and an answer" {
    printf 'version 2\n' >"$request"
    SECONDS=0
    run timeout -k 2 20 "$run_agent" "$agent" "$request"
    ((SECONDS < 10))
    printed '^status plain tasks 0$'
    printed '^message .*request'
}

@test "a plugin that dies early takes the agent with it" {
    run timeout -k 2 5 sh -c "'$agent' </dev/null | wc -c"
    ended_with 0
    printed '^520$'
    # Nobody reads the answer: no SIGPIPE, no hang.
    run timeout -k 2 5 sh -c "'$agent' <'$request' | true; echo over"
    ended_with 0
    printed '^over$'
}

@test "its user has no way into the process, from its first instruction on" {
    local nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    [ "$(stat -c %a "$agent")" = 711 ]
    run $nobody "$ASPEN_BUILD/tests/exec_stop" "$agent"
    ended_with 0
    printed '^memory closed: '
    printed '^owner 0$'
    run $nobody "$agent" --version
    ended_with 0
    # What it looks like for a program that its user may read.
    run $nobody "$ASPEN_BUILD/tests/exec_stop" /bin/true
    printed '^memory open$'
    printed '^owner 65534$'
}

@test "usage errors and --help" {
    run "$agent" --frob
    ended_with 2
    printed '^usage: aspen-agent'
    run "$agent" --help
    ended_with 0
    run "$agent" --explain /nonexistent
    ended_with 1
    printed 'cannot open /nonexistent'
}

@test "tasks get CPUs of the step: cores as Slurm counts them, ghost last" {
    write_request step_cpus= step_cores=0-1,3-5
    synthetic='numa:2 core:4 pu:2' explain
    ended_with 0
    printed ' bound=no reason=pretended%20CPUs '
    printed ' task=0:user:0:4:numa0:h-1:c0-1 '
    printed ' task=3:user:3:4:numa1:h-1:c10-11 '
    printed ' task=4:ghost:-:-:numa0:h-1:c6-7 '
    printed '^task 4 ghost bind none$'
}

@test "--threads-per-core of the user holds, but for placement.smt=use" {
    write_request step_cpus= step_cores=0-5 threads_per_core=1 \
        cpu_bind=threads
    synthetic='numa:2 core:4 pu:2' explain
    ended_with 0
    printed ' bound=no reason=pretended%20CPUs '
    printed ' task=0:user:0:4:numa0:h-1:c0 '
    printed ' task=4:ghost:-:-:numa.:h-1:c[0-9]+ '
    write_request step_cpus= step_cores=0-5 threads_per_core=1 \
        spec=ghost:1,placement.smt=use
    synthetic='numa:2 core:4 pu:2' explain
    printed ' task=0:user:0:4:numa0:h-1:c0-1 '
}

@test "the machine's own CPUs are bound; too few cores are not, and say so" {
    local all
    all=$(lscpu -p=CPU | grep -v '^#' | paste -sd,)
    (($(nproc) >= 2)) || skip "needs two CPUs"
    write_request ntasks=2 local=2 ranks=0,1 tasks_per_node=2 "step_cpus=$all"
    run timeout -k 2 20 "$agent" --explain "$request"
    ended_with 0
    if (($(lscpu -p=CORE | grep -v '^#' | sort -u | wc -l) >= 2)); then
        printed ' bound=yes reason= '
        printed '^task 1 ghost bind [0-9]'
    else
        printed ' bound=no reason=1%20core%20for%201%20user%20and%201%20ghost'
        printed '^task 1 ghost bind none$'
    fi
    write_request step_cpus=0-3
    explain
    printed ' bound=no reason=4%20cores%20for%204%20users%20and%201%20ghost'
    printed '^status ok$'
    write_request step_cpus= step_cores=0-9
    explain
    printed ' bound=no reason=core%208%20of%20a%20machine%20with%208 '
}

@test "when nobody says which CPUs are the step's, none is bound" {
    write_request ntasks=2 local=2 ranks=0,1 tasks_per_node=2 step_cpus=
    run timeout -k 2 20 "$agent" --explain "$request"
    ended_with 0
    printed ' bound=no reason='
    printed '^task 0 user bind none$'
}

@test "site policy and request make the runtime's knobs, and a digest" {
    write_site 'defaults:' '  idle.spin_us: 77' 'limits:' \
        '  idle.yield_us: {max: 500}'
    write_request site_policy="$site/policy.yaml" \
        spec=ghost:1,ghost.high=90,idle.yield_us=900
    explain
    ended_with 0
    printed ' digest=[0-9a-f]{16} '
    printed ' knob=idle.spin_us:77 '
    printed ' knob=ghost.high:90 '
    printed ' knob=idle.yield_us:500 '
    printed "^message .*idle.yield_us.*$site/policy.yaml:5"
}

@test "rules of the site match what Slurm says of the step" {
    write_site 'rules:' '  - match: {partition: debug}' \
        '    set: {idle.spin_us: 11}'
    write_request site_policy="$site/policy.yaml" partition=debug
    explain
    printed ' knob=idle.spin_us:11 '
    write_request site_policy="$site/policy.yaml" partition=other
    explain
    printed ' knob=idle.spin_us:auto '
}

@test "a site that allows fewer ghosts than were started ends the plan" {
    write_site 'limits:' '  ghosts: {max: 1}'
    write_request site_policy="$site/policy.yaml" spec=ghost:2
    explain
    ended_with 1
    printed '^status plain$'
    printed '^message .*1 ghosts.*started with 2'
    write_request site_policy="$site/policy.yaml" spec=ghost:2,require
    explain
    printed '^status refuse$'
    printed '^message .*policy.yaml:3'
}

@test "a site policy that others can write is not read" {
    write_site 'defaults:' '  idle.spin_us: 77'
    chmod 777 "$site"
    write_request site_policy="$site/policy.yaml"
    explain
    ended_with 1
    printed '^message .*policy.yaml'
}

@test "pmix=off starts no server and is no failure" {
    write_request spec=ghost:1,pmix=off
    run timeout -k 2 20 "$agent" --explain --serve \
        --tmpdir="$BATS_TEST_TMPDIR" "$request" </dev/null
    ended_with 0
    printed '^status ok$'
    not_printed 'PMIX_|ASPEN_PICK|^message'
}

@test "it gives up when the plugin has, not after a time of its own" {
    mkfifo "$BATS_TEST_TMPDIR/topology" # nobody writes: hwloc waits for ever
    write_request timeout_ms=1000
    HWLOC_XMLFILE=$BATS_TEST_TMPDIR/topology \
        run timeout -k 2 8 "$agent" --no-pmix <"$request"
    ended_with 3
}
