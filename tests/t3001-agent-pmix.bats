#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen-agent as a PMIx server, a real PMIx client, and the runtime's pick-up,
# without Slurm: agent dead, killed, stopped, or talking nonsense.

load helpers

setup() {
    agent=$ASPEN_PREFIX/libexec/aspen/aspen-agent
    run_agent=$ASPEN_TOP/tests/agent_run.py
    as_client="$ASPEN_PREFIX/bin/aspen pmix"
    client="$as_client $ASPEN_BUILD/tests/pmix_client"
    probe=$ASPEN_BUILD/tests/layout_fetch_probe
    neighbour=$ASPEN_BUILD/tests/pmix_neighbour
    nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    lib=$ASPEN_PREFIX/lib/aspen/libaspen.so
    request=$BATS_TEST_TMPDIR/request
    tmp=$BATS_TEST_TMPDIR/tmp
    mkdir "$tmp"
    export agent run_agent as_client client probe neighbour nobody lib request tmp
    unset "${!PMIX_@}" "${!ASPEN_PMIX_@}" "${!ASPEN_LAYOUT@}" HWLOC_SYNTHETIC HWLOC_XMLFILE
    cat >"$request" <<END
version 2
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

# To begin such a script: the agent is gone, its port is free.
gone='kill -9 $AGENT_PID
    while kill -0 $AGENT_PID && ! grep -q "^State:.Z" \
        /proc/$AGENT_PID/status; do :; done'

# The port of its server; which of several names has it differs between releases
# of PMIx.
port='port=$(env | sed -n "s/^ASPEN_PMIX_SERVER_URI.*://p" | head -n 1)'

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
    printed '^psets number 2$'
    printed '^psets aspen://users,aspen://ghosts$'
    not_printed '^psets and '
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

@test "a step without ghosts has both sets, one of them empty" {
    sed -i 's/^spec.*/spec offload/' "$request"
    with_agent '$client'
    ended_with 0
    printed '^psets number 2$'
    printed '^pset aspen://users 0,1,2,3,4$'
    printed '^pset aspen://ghosts$'
    not_printed '^message .*PMIx|missing|ERROR'
}

@test "the runtime picks the layout up and leaves no trace" {
    with_agent --all '$probe'
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

@test "agent killed before the pick-up: nothing to notice" {
    with_agent --all "$gone"'; $probe'
    ended_with 0
    [ "$(grep -c '^ok ' <<<"$output")" -eq 5 ]
    not_printed '^aspen: '
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

@test "agent stopped: nothing is asked of it" {
    with_agent 'kill -STOP $AGENT_PID; $probe; kill -CONT $AGENT_PID'
    ended_with 0
    printed '^ok user local=0'
    (($(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output") < 1000))
    not_printed '^aspen: '
    printed '^agent status=0 '
}

@test "a neighbour on the port of an agent that is gone is not believed" {
    sed -i 's/^ntasks.*/ntasks 1/;s/^local.*/local 1/;s/^ranks.*/ranks 0/
        s/^tasks_per.*/tasks_per_node 1/;s/^spec.*/spec offload/' "$request"
    on_agent <<END
$gone
$port
$await
forged=\${ASPEN_LAYOUT/ knob=report:no/ knob=report:\$tmp/overwritten}
mkfifo \$tmp/end
\$nobody \$neighbour serve \$port \$ASPEN_PMIX_NAMESPACE 0 \
    $(id -u) $(id -g) "\$forged" <\$tmp/end >\$tmp/said &
exec 7>\$tmp/end
await \$tmp/said
cat \$tmp/said
# Any client of PMIx is deceived; an MPI program with Aspen is not.
timeout 20 \$as_client \$neighbour ask $(id -u) $(id -g)
LD_PRELOAD=\$lib timeout 20 "$ASPEN_BUILD/tests/inert_probe"
echo "program \$?"
exec 7>&-
wait
END
    ended_with 0
    printed '^ready$'
    printed '^layout .* knob=report:[^ ]*/overwritten '
    printed '^program 0$'
    [ ! -e "$tmp/overwritten" ]
}

@test "another user's process is not served, whatever uid it states" {
    on_agent <<END
$port
$await
\$nobody timeout 20 \$as_client \$neighbour ask $(id -u) $(id -g)
timeout 20 \$as_client \$neighbour ask $(id -u) $(id -g)
# Nor does it hold the server up by connecting and saying nothing.
\$nobody bash -c 'exec 3<>/dev/tcp/127.0.0.1/'\$port'
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
echo "text ${#ASPEN_LAYOUT}"
grep -E '^Max (data size|address space)' /proc/$AGENT_PID/limits
files() { sed -n 's/^RssFile:/files/p' /proc/$AGENT_PID/status; }
files
for _ in {1..100}; do timeout 20 $client put 1 400 >/dev/null 2>&1; done
timeout 20 $client put 4 900
sed -n 's/^VmHWM:/peak/p' /proc/$AGENT_PID/status
files
timeout 20 $client
END
    ended_with 0
    local text data
    text=$(sed -n 's/^text //p' <<<"$output")
    data=$((64 * 1024 * 1024 + 5 * 1024 + 5 * (2 * text + 5 * 384)))
    printed "^Max data size +$data +"
    printed "^Max address space +$((data + 512 * 1024 * 1024)) +"
    not_printed '^put 4$'
    # Beside its data there are pages of libraries (the more, the newer), and stacks.
    awk -v data=$((data / 1024)) '
        /^peak/ { peak = $2 }
        /^files/ && $2 > files { files = $2 }
        END { exit !(files && peak && peak < data + files + 1024) }' <<<"$output"
    printed '^role user$'
}

@test "a child that has said all and does not end is ended" {
    printf '#!/bin/sh\nexec >&-\nexec sleep 20\n' >"$tmp/pick"
    chmod +x "$tmp/pick"
    with_agent 'PMIX_NAMESPACE=slurm.pmix.77.3 ASPEN_PICK=$tmp/pick $probe'
    ended_with 0
    printed '^ok user local=0'
    ms=$(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output")
    ((ms >= 1400 && ms < 4000))
    printed ' threads=1 fds=0 children=no'
}

@test "no layout anywhere: inert, no child, no warning" {
    run env -u PMIX_NAMESPACE "$probe"
    ended_with 1
    printed '^none$'
    printed '^ms=0 threads=1 fds=0 children=no'
    not_printed '^aspen: '
}

@test "another PMIx server is handed the layout, in bounded time" {
    printf '#!/bin/sh\ntest "$1" = put && cat >"%s"\n' "$tmp/put" >"$tmp/pick"
    printf '#!/bin/sh\nexec sleep 60\n' >"$tmp/hang"
    chmod +x "$tmp/pick" "$tmp/hang"
    with_agent 'export PMIX_NAMESPACE=slurm.pmix.77.3
        ASPEN_PICK=$tmp/pick $probe; echo "$ASPEN_LAYOUT" >$tmp/want
        for pick in /nonexistent /bin/false /bin/yes $tmp/hang; do
            ASPEN_PICK=$pick $probe; done'
    ended_with 0
    [ "$(cat "$tmp/put")" = "$(cat "$tmp/want")" ]
    [ "$(grep -c '^ok user local=0' <<<"$output")" -eq 5 ]
    [ "$(grep -c ' threads=1 fds=0 children=no sigchld=0 pmix=no' \
        <<<"$output")" -eq 5 ]
    (($(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output" | tail -1) < 4000))
    not_printed '^aspen: '
}

@test "a task with a role but no layout is an error, not inert" {
    ASPEN_ROLE=user run "$probe"
    ended_with 1
    printed '^error this task is a user of its step, but '
    with_agent 'unset ASPEN_LAYOUT; $probe'
    ended_with 1
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

@test "a large step costs a client milliseconds, and its layout always fits" {
    local n=400 nodes=1000
    cat >"$request" <<END
version 2
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
    not_printed '^message .*PMIx'
    printed "^ok user local=0 rank=0 node=0 size=$((n * nodes)) "
    (($(sed -n 's/^ms=\([0-9]*\) .*/\1/p' <<<"$output") < 1200))
    printed '^peer 399 ghost$'
    printed "^pset aspen://ghosts 398,399,798,.*,$((n * nodes - 1))$"
    not_printed 'missing|^aspen: '
}

@test "hundreds of tasks of a node may connect at once" {
    local n=1024
    sed -i "s/^ntasks.*/ntasks $n/;s/^local.*/local $n/
        s/^ranks.*/ranks $(seq -s, 0 $((n - 1)))/
        s/^nodename.*/nodename $(printf 'n%.0s' {1..63})/
        s/^tasks_per.*/tasks_per_node $n/" "$request"
    run timeout -k 2 80 "$run_agent" --agent-arg=--tmpdir="$tmp" \
        "$agent" "$request" 'timeout 55 $client all 300 2>&1'
    ended_with 0
    printed '^served 300$'
    printed '^agent status=0 '
}

@test "a node's name may have as many letters as Slurm allows" {
    sed -i "s/^nodename.*/nodename $(printf 'n%.0s' {1..63})/" "$request"
    with_agent '$client'
    ended_with 0
    printed '^role user$'
    printed '^peer 4 ghost$'
    printed '^agent status=0 '
}

@test "slurmd's limit for stacks does not keep the server from its threads" {
    local kib
    for kib in 32768 1048576; do
        printf '#!/bin/sh\nulimit -s %d\nexec "%s" "$@"\n' $kib "$agent" \
            >"$tmp/agent"
        chmod +x "$tmp/agent"
        run timeout -k 2 30 "$run_agent" --agent-arg=--tmpdir="$tmp" \
            "$tmp/agent" "$request" 'timeout 10 $client'
        ended_with 0
        not_printed '^message .*PMIx'
        printed '^role user$'
    done
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
    printed '^message no PMIx keys on this node: .*/nonexistent'
    printed '^ok user local=0'
    not_printed 'PMIX_|^aspen: '
}

@test "no descriptors for the server: layout by environment, and a word" {
    printf '#!/bin/sh\nulimit -n 8\nexec "%s" "$@"\n' "$agent" >"$tmp/agent"
    chmod +x "$tmp/agent"
    run timeout -k 2 20 "$run_agent" --agent-arg=--tmpdir="$tmp" "$tmp/agent" \
        "$request" '$probe'
    ended_with 0
    printed '^status ok tasks 5$'
    printed '^message no PMIx keys on this node: '
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
