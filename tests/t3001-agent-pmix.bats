#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen-agent as a PMIx server, a real PMIx client, and the runtime's pick-up,
# without Slurm: agent dead, killed, stopped, or talking nonsense.

load helpers

setup() {
    agent=$ASPEN_PREFIX/libexec/aspen/aspen-agent
    run_agent=$ASPEN_TOP/tests/agent_run.py
    client=$ASPEN_BUILD/tests/pmix_client
    probe=$ASPEN_BUILD/tests/pickup_probe
    neighbour=$ASPEN_BUILD/tests/pmix_neighbour
    nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    request=$BATS_TEST_TMPDIR/request
    tmp=$BATS_TEST_TMPDIR/tmp
    mkdir "$tmp"
    export agent run_agent client probe neighbour nobody request tmp
    unset "${!PMIX_@}" "${!ASPEN_LAYOUT@}" HWLOC_SYNTHETIC HWLOC_XMLFILE
    cat >"$request" <<END
version 1
job 77.3
uid $(id -u)
nnodes 1
node 0
nodename n1
ntasks 5
local 5
ranks 0,1,2,3,4
tasks_per_node 5
distribution block
nodelist n1
step_cpus
spec ghost:2
end
END
}

# with_agent [options] COMMAND: run COMMAND in a task's place.
with_agent() {
    run timeout -k 2 40 "$run_agent" --agent-arg=--tmpdir="$tmp" "${@:1:$#-1}" \
        "$agent" "$request" "${@: -1}"
}

# on_agent: run the script on standard input in a task's place.
on_agent() {
    cat >"$BATS_TEST_TMPDIR/script"
    with_agent "bash '$BATS_TEST_TMPDIR/script'"
}

# To end one: wait, 10 s at most, for a line in a file.
await='await() {
    for _ in {1..200}; do [ -s "$1" ] && return; sleep 0.05; done; return 1
}'

nothing_left() {
    [ -z "$(ls -A "$tmp")" ]
}

@test "a PMIx client reads layout, role, version and both process sets" {
    with_agent '$client'
    ended_with 0
    printed '^client aspen\.77\.3\.[0-9a-f]{16}\.0$'
    printed '^size 5$'
    printed '^layout aspen-layout/1 job=77.3 mode=ghost gpn=2 '
    printed '^version [0-9]'
    printed '^role user$'
    printed '^peer 2 user$'
    printed '^peer 4 ghost$'
    printed '^psets aspen://users,aspen://ghosts$'
    printed '^pset aspen://users 0,1,2$'
    printed '^pset aspen://ghosts 3,4$'
    not_printed 'missing|ERROR'
    printed '^agent status=0 '
    nothing_left
}

@test "a ghost sees itself as a ghost" {
    with_agent --task 4 '$client'
    ended_with 0
    printed '^client aspen\.77\.3\.[0-9a-f]{16}\.4$'
    printed '^role ghost$'
}

@test "the runtime picks the layout up and leaves no trace" {
    # The environment's copy names another job: only PMIx can be the source.
    with_agent --all 'unset ASPEN_LAYOUT; $probe'
    ended_with 0
    printed '^ok user local=0 rank=0 node=0 size=5 job=77.3$'
    printed '^ok ghost local=4 rank=4 node=0 size=5 job=77.3$'
    [ "$(grep -c ' threads=1 fds=0 children=no sigchld=0 pmix=no' \
        <<<"$output")" -eq 5 ]
    not_printed '^aspen: '
}

@test "pick-up before and after a program's own use of PMIx" {
    with_agent '$probe && $client >/dev/null && $probe && $client'
    ended_with 0
    printed '^pset aspen://ghosts 3,4$'
    not_printed '^aspen: |missing'
}

@test "agent killed before the pick-up: environment, one warning, no delay" {
    with_agent --all 'test $ASPEN_LOCAL = 0 && kill -9 $AGENT_PID
        while kill -0 $AGENT_PID && ! grep -q "^State:.Z" \
            /proc/$AGENT_PID/status; do :; done; $probe'
    ended_with 0
    [ "$(grep -c '^ok ' <<<"$output")" -eq 5 ]
    [ "$(grep -c '^aspen: .*PMIx.*environment$' <<<"$output")" -eq 1 ]
    for ms in $(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output"); do
        ((ms < 1400))
    done
    nothing_left
}

@test "agent killed while a client is connected: the client lives" {
    with_agent 'mkfifo $tmp/go; $client wait <$tmp/go & exec 8>$tmp/go
        sleep 0.5; kill -9 $AGENT_PID; sleep 0.3; echo >&8; wait $!
        echo "client $?"; rm $tmp/go'
    ended_with 0
    printed '^connected$'
    printed '^role user$'
    printed '^missing process set names: '
    printed '^client 1$'
    nothing_left
}

@test "agent killed after the pick-up: nothing to notice" {
    with_agent '$probe; kill -9 $AGENT_PID; sleep 0.1; true'
    ended_with 0
    printed '^ok user local=0'
    not_printed '^aspen: '
    nothing_left
}

@test "agent stopped: bounded delay, one warning, environment" {
    with_agent --all 'kill -STOP $AGENT_PID; sleep 0.2; $probe
        test $ASPEN_LOCAL != 0 || { sleep 2.5; kill -CONT $AGENT_PID; }'
    ended_with 0
    [ "$(grep -c '^ok ' <<<"$output")" -eq 5 ]
    [ "$(grep -c '^aspen: .*no answer within' <<<"$output")" -eq 1 ]
    for ms in $(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output"); do
        ((ms >= 1400 && ms < 4000))
    done
    [ "$(grep -c ' threads=1 fds=0 children=no' <<<"$output")" -eq 5 ]
    printed '^agent status=0 '
}

@test "a server that talks nonsense, or of another job, is not believed" {
    printf '#!/bin/sh\necho aspen-layout/1 job=\n' >"$tmp/pick"
    chmod +x "$tmp/pick"
    with_agent 'ASPEN_PICK=$tmp/pick $probe; ASPEN_PICK=/nonexistent $probe
        ASPEN_PICK=/bin/false $probe; ASPEN_PICK=/bin/yes $probe
        ASPEN_LAYOUT=$(echo "$ASPEN_LAYOUT" | sed s/job=77.3/job=8.0/) $probe'
    ended_with 0
    [ "$(grep -c '^ok user' <<<"$output")" -eq 5 ]
    [ "$(grep -c '^aspen: ' <<<"$output")" -eq 5 ]
    printed '^aspen: .*layout of job 77.3, this is 8.0'
    printed '^ok user .*job=8.0$'
}

@test "another user's process is not served, whatever uid it states" {
    on_agent <<END
$await
\$nobody timeout 20 \$neighbour ask $(id -u) $(id -g)
timeout 20 \$neighbour ask $(id -u) $(id -g)
# Nor does it hold the server up by connecting and saying nothing.
\$nobody bash -c 'exec 3<>/dev/tcp/127.0.0.1/'\${PMIX_SERVER_URI2##*:}'
    echo connected; read -r -t 20 <&3' >\$tmp/silent &
await \$tmp/silent
timeout 10 \$client
echo "client \$?"
wait
rm \$tmp/silent
END
    ended_with 0
    printed '^refused '
    [ "$(grep -c '^layout aspen-layout/1 ' <<<"$output")" -eq 2 ]
    printed '^role user$'
    printed '^client 0$'
    nothing_left
}

@test "what clients put costs the agent a bounded memory, and it serves on" {
    on_agent <<'END'
grep -E '^Max (data size|address space)' /proc/$AGENT_PID/limits
for _ in {1..100}; do timeout 20 $client put 1 400 >/dev/null 2>&1; done
timeout 20 $client put 4 900
sed -n 's/^VmHWM:/peak/p' /proc/$AGENT_PID/status
timeout 20 $client
END
    ended_with 0
    printed "^Max data size +$((64 * 1024 * 1024 + 5 * 1024)) +"
    printed "^Max address space +$((576 * 1024 * 1024 + 5 * 1024)) +"
    not_printed '^put 4$'
    (($(awk '/^peak/ { print $2 }' <<<"$output") < 72 * 1024))
    printed '^role user$'
}

@test "no layout anywhere: inert, no child, no warning" {
    run env -u PMIX_NAMESPACE "$probe"
    ended_with 1
    printed '^none$'
    printed '^ms=0 threads=1 fds=0 children=no'
    not_printed '^aspen: '
}

@test "another PMIx server: environment, and no question to it" {
    with_agent 'PMIX_NAMESPACE=slurm.pmix.77.3 ASPEN_PICK= $probe'
    ended_with 0
    printed '^ok user local=0'
    not_printed '^aspen: '
}

@test "a task with a role but no layout anywhere is an error, not inert" {
    ASPEN_ROLE=user run "$probe"
    ended_with 1
    printed '^error this task is a user of its step, but '
    with_agent 'unset ASPEN_LAYOUT; ASPEN_PICK=/bin/false $probe'
    ended_with 1
    printed '^aspen: .*there is no layout$'
    printed '^error this task is a user'
}

@test "without Slurm a task finds itself by its rank, on any node" {
    local nodes='nodes=n1:0-2;n2:3-5'
    export ASPEN_LAYOUT="aspen-layout/1 job=1.0 mode=ghost gpn=1 bound=no \
reason= digest=x size=6 nnodes=2 node=0 $nodes service= \
task=0:user:0:2:numa-1:h-1:c task=1:user:1:2:numa-1:h-1:c \
task=2:ghost:-:-:numa-1:h-1:c end"
    PMI_RANK=1 run "$probe"
    printed '^ok user local=1 rank=1 node=0 '
    PMI_RANK=4 run "$probe"
    printed '^ok user local=1 rank=4 node=1 '
    PMI_RANK=5 run "$probe"
    printed '^ok ghost local=2 rank=5 node=1 '
    PMI_RANK=6 run "$probe"
    printed '^error rank 6 is not in the layout$'
    run "$probe"
    printed '^error .*ASPEN_LOCAL'
    ASPEN_LOCAL=3 run "$probe"
    printed '^error .*ASPEN_LOCAL is "3"'
}

@test "a large step costs a client milliseconds, and too large an answer is cut" {
    local n=400 nodes=1000
    cat >"$request" <<END
version 1
job 77.3
uid $(id -u)
nnodes $nodes
node 0
nodename n1
ntasks $((n * nodes))
local $n
ranks $(seq -s, 0 $((n - 1)))
tasks_per_node $n(x$nodes)
spec ghost:2
end
END
    with_agent '$probe; $client'
    ended_with 0
    printed "^status ok tasks $n$"
    printed '^message the layout goes by PMIx only'
    printed "^ok user local=0 rank=0 node=0 size=$((n * nodes)) "
    (($(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output") < 1200))
    printed '^peer 399 ghost$'
    printed "^pset aspen://ghosts 398,399,798,.*,$((n * nodes - 1))$"
    not_printed 'missing|^aspen: '
}

@test "a CPU mask that is not the layout's is told with both" {
    cpus=$(taskset -pc $$ | sed 's/.*: //')
    export ASPEN_LOCAL=0 ASPEN_LAYOUT="aspen-layout/1 job=1.0 mode=ghost \
gpn=1 bound=yes reason= digest=x size=2 nnodes=1 node=0 nodes=n1:0-1 service= \
task=0:user:0:1:numa-1:h-1:c${cpus%%[,-]*} \
task=1:ghost:-:-:numa-1:h-1:c900 end"
    run taskset -c "${cpus%%[,-]*}" "$probe"
    printed '^ok user'
    not_printed '^aspen: '
    ASPEN_LOCAL=1 run taskset -c "${cpus%%[,-]*}" "$probe"
    printed '^ok ghost'
    printed "^aspen: task 1 \(ghost\) runs on CPUs ${cpus%%[,-]*}, .* 900"
}

@test "directories of dead agents are removed, others are not" {
    local me old
    me=$(id -u)
    sh -c 'exit' & old=$!
    wait "$old"
    mkdir "$tmp/aspen-$me-1.0.0.$old" "$tmp/aspen-$me-1.0.0.$$" \
        "$tmp/aspen-$me-mine" "$tmp/other.$old"
    touch "$tmp/aspen-$me-1.0.0.$old/file" "$tmp/aspen-$me-2.0.0.$old"
    ln -s "$tmp/other.$old" "$tmp/aspen-$me-3.0.0.$old"
    with_agent true
    [ ! -e "$tmp/aspen-$me-1.0.0.$old" ]
    [ -d "$tmp/aspen-$me-1.0.0.$$" ]
    [ -d "$tmp/aspen-$me-mine" ]
    [ -d "$tmp/other.$old" ]
    [ -L "$tmp/aspen-$me-3.0.0.$old" ]
    [ "$(ls "$tmp" | wc -l)" -eq 5 ]
}

@test "names that others took do not keep the server from its directory" {
    mkdir $(seq -f "$tmp/aspen-$(id -u)-77.3.0.%.0f" $BASHPID $((BASHPID + 2000)))
    chown 65534 "$tmp"/*
    with_agent '$client'
    ended_with 0
    printed '^role user$'
    not_printed '^message no PMIx'
    [ "$(ls "$tmp" | wc -l)" -eq 2001 ]
}

@test "no directory for the server: layout by environment, and a word" {
    run timeout -k 2 20 "$run_agent" --agent-arg=--tmpdir=/nonexistent \
        "$agent" "$request" '$probe; env'
    ended_with 0
    printed '^status ok tasks 5$'
    printed '^message no PMIx keys.*environment only: .*/nonexistent'
    printed '^ok user local=0'
    not_printed '^PMIX_|^aspen: '
}

@test "no descriptors for the server: layout by environment, and a word" {
    printf '#!/bin/sh\nulimit -n 8\nexec "%s" "$@"\n' "$agent" >"$tmp/agent"
    chmod +x "$tmp/agent"
    run timeout -k 2 20 "$run_agent" --agent-arg=--tmpdir="$tmp" "$tmp/agent" \
        "$request" '$probe'
    ended_with 0
    printed '^status ok tasks 5$'
    printed '^message no PMIx keys.*environment only: '
    printed '^ok user local=0'
    not_printed '^aspen: '
    printed '^agent status=0 '
    [ "$(ls "$tmp")" = agent ]
}

@test "signals that end jobs do not end the agent, its pipe does" {
    with_agent 'for s in TERM INT HUP USR1 USR2 QUIT PIPE; do
        kill -$s $AGENT_PID; done; sleep 0.2; $probe; $client >/dev/null'
    ended_with 0
    printed '^ok user'
    not_printed '^aspen: '
    printed '^agent status=0 '
    nothing_left
}
