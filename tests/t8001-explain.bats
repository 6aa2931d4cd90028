#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen explain: pictures of planned steps and of layouts.

load helpers

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
}

explain() {
    run timeout -k 2 20 "$aspen" explain "$@"
}

narrow() {
    awk 'length > 80 { print "wide: " $0; bad = 1 } END { exit bad }' \
        <<<"$output"
}

@test "two sockets, two ghosts: the picture is the expected one" {
    explain --topology "pack:2 numa:1 core:4 pu:2" --tasks 6 --ghosts 2
    ended_with 0
    diff -u "$BATS_TEST_DIRNAME/expected/explain-two-sockets.txt" - \
        < <(sed -n '/^node/,$p' <<<"$output")
}

@test "every knob is shown with its value and where it comes from" {
    local job=$BATS_TEST_TMPDIR/job.yaml
    printf 'mode: ghost\nghosts: 2\nplacement:\n  spread: pack\n' >"$job"
    explain --topology "numa:2 core:4 pu:1" --policy "$job"
    ended_with 0
    printed "^  ghosts +2 +job policy$"
    printed "job.yaml:2:"
    printed "^  placement.spread +pack +job policy$"
    printed "job.yaml:4:"
    printed "^  require +no +built-in$"
    printed '^ +u4 u5 g0 g1$'
    ASPEN_PROGRESS=ghost:1 explain --topology "core:4 pu:1" --policy "$job"
    printed "^  ghosts +1 +.*ASPEN_PROGRESS"
    explain --topology "core:4 pu:1" --progress ghost:3,colour=blue
    ended_with 2
    printed 'colour'
}

@test "nodes differ by ranks; cyclic ranks are the true ones" {
    explain --topology "pack:1 core:4 pu:1" --nodes 2 --tasks 5 \
        --progress ghost:1 --distribution cyclic
    ended_with 0
    printed '^node 2 of 2: '
    printed '^ +u0 u2 u4 g0$'
    printed '^ +u1 u3 \. +g0$'
    printed 'g0 \(world rank 6\) on core 3 serves u0,u2,u4'
    printed 'g0 \(world rank 5\) on core 3 serves u1,u3'
}

@test "ghosts and offload threads in one picture" {
    explain --topology "core:8 pu:1" --progress ghost:1,offload
    ended_with 0
    printed '^node 1 of 1: mode ghost, 3 users, 1 ghost'
    printed '^  3 tasks, 2 CPUs each: 1 \+ 1 for the offload thread$'
    printed '^ +u0 h0 u1 h1 u2 h2 \. g0$'
}

@test "messages by ghosts: which, matched by whom, and what stays MPI's" {
    explain --topology "core:4 pu:1" --progress ghost:1,p2p=all
    ended_with 0
    narrow
    printed '^  messages: carried by ghosts \(p2p=all\); g0 matches those to ranks of'
    printed "intercommunicators and"
    explain --topology "core:4 pu:1" --progress ghost:1,p2p=large,p2p.large_kb=64
    printed '\(p2p=large: with'
    printed 'more than 64 KiB, else all\)'
    printf 'mode: ghost\ncommunicators: [{size: 4-, p2p: all}]\n' \
        >"$BATS_TEST_TMPDIR/job.yaml"
    explain --topology "core:4 pu:1" --policy "$BATS_TEST_TMPDIR/job.yaml"
    printed 'carried by ghosts \(on communicators whose rule says so\)'
    printed 'rules for communicators'
    explain --topology "core:4 pu:1" --progress ghost:1
    not_printed 'messages: '
    explain --topology "core:4 pu:1" --progress thread,p2p=all
    not_printed 'messages: '
    printed 'p2p \(command line\) is left out: mode thread has no ghosts'
}

@test "offload threads are drawn, and what they cost is said" {
    explain --topology "core:4 pu:2" --progress offload
    ended_with 0
    printed '^node 1 of 1: mode offload, 2 users, 0 ghosts'
    printed '^  2 tasks, 4 CPUs each: 2 \+ 2 for the offload thread$'
    printed '^ +u0 +h0 +u1 +h1$'
    printed 'h offload thread'
    explain --topology "core:4 pu:2" --tasks 4 \
        --progress offload,placement.smt=use
    printed '^  4 tasks, 2 CPUs each: 1 \+ 1 for the offload thread$'
    printed '^ +u0\+h0 u1\+h1 u2\+h2 u3\+h3$'
    explain --topology "core:4 pu:1" --tasks 4 --progress offload
    printed '^  4 tasks, 1 CPU each: none for the offload thread$'
}

@test "of many nodes those that differ are drawn, and any one on demand" {
    explain --topology "core:4 pu:1" --nodes 1000 --tasks 2500
    ended_with 0
    [ "$(grep -c '^node ' <<<"$output")" -eq 2 ]
    printed '^node 1 of 1000: mode ghost, 3 users'
    printed '^nodes 2 to 500: the same'
    printed '^nodes 502 to 1000: the same'
    explain --topology "core:4 pu:1" --nodes 1000 --tasks 2500 --node 1000
    printed '^ +u2498 u2499 \. +g0$'
    explain --nodes 2 --node 3 --tasks 2
    ended_with 2
}

@test "CPUs outside the step are marked; holes leave partial cores idle" {
    explain --topology "numa:2 core:4 pu:2" --cpus 1,2-7,10-15 --tasks 5
    ended_with 0
    printed '^ +\.\* +u0 '
    printed '^ +x '
}

@test "few cores: the reason is there, and sharing is shown" {
    explain --topology "core:2 pu:1" --tasks 2
    ended_with 0
    printed 'bound: no, 2 cores for 2 users and 1 ghost: ask for more CPUs'
    explain --topology "core:2 pu:1" --tasks 2 --progress ghost:1,placement.share=yes
    printed 'u1\+g0'
    printed 'cores ran out: on the CPU of'
    explain --topology "core:2 pu:2" --tasks 2 --progress ghost:1,placement.smt=use
    printed '^ +u0\+u1 g0$'
}

@test "no line of a big machine is wider than 80 columns" {
    explain --topology "pack:2 numa:4 core:16 pu:2" --tasks 100 --ghosts 8
    ended_with 0
    narrow
    printed 'u99'
}

@test "this machine is drawn when no topology is given" {
    explain
    ended_with 0
    printed "^node 1 of 1: .* of $(lscpu -p=CPU | grep -vc '^#') CPUs"
}

@test "a layout from a file or a pipe, with and without a topology" {
    local layout="aspen-layout/1 job=7.0 mode=ghost gpn=1 bound=yes reason= \
digest=none size=3 nnodes=1 node=0 nodes=n1:0-2 service= \
task=0:user:0:2:numa0:h-1:c0 task=1:user:1:2:numa0:h-1:c1 \
task=2:ghost:-:-:numa0:h-1:c3 end"
    echo "$layout" >"$BATS_TEST_TMPDIR/layout"
    explain --layout "$BATS_TEST_TMPDIR/layout"
    ended_with 0
    printed 'u1 \(world rank 1\) on CPUs 1, NUMA domain 0, served by g0'
    explain --layout - --topology "core:4 pu:1" <<<"$layout"
    ended_with 0
    printed '^ +u0 u1 \. +g0$'
}

@test "what is wrong is named, with status 2" {
    explain --topology banana
    ended_with 2
    printed '"banana" describes no machine'
    explain --layout /nonexistent
    ended_with 2
    printed 'cannot open /nonexistent: No such file'
    explain --layout - <<<"rubbish"
    ended_with 2
    explain --nodes 4 --tasks 2 --topology "core:4 pu:1"
    ended_with 2
    printed 'ask for fewer nodes'
    explain --cpus 9 --topology "core:4 pu:1"
    ended_with 2
    printed 'none of the CPUs 9'
    explain --nodes 0
    ended_with 2
    explain --frob
    ended_with 2
    run "$aspen" frobnicate
    ended_with 2
    run "$aspen" --help
    ended_with 0
    printed ' explain '
}

@test "explain --waits prints how everything waits" {
    explain --waits
    ended_with 0
    narrow
    printed '^ghost with a CPU of its own +[0-9]+ +0 +1000000 +1000000$'
    printed '^ghost that nothing wakes +[0-9]+ +[0-9]+ +20 +1000$'
    printed '^      .*knob idle\.spin_us$'
}

@test "explain --extra answers cli_filter.lua" {
    explain --extra spec=ghost:1 ntasks=6 nodes=2
    ended_with 0
    printed '^set ntasks 8$'
    explain --extra spec=ghost:1 nonsense=1
    ended_with 2
    explain --extra spec=ghost:1 --ntasks=6 --nodes=2 --nonsense=1
    ended_with 0
    printed '^set ntasks 8$'
}

@test "cli_filter.lua hands the options on, and sets what is answered" {
    cat >"$BATS_TEST_TMPDIR/slurm.lua" <<'EOF'
local set = { ntasks = "6", nodes = "2", export = 'ALL,"nodes":"3"',
              comment = string.rep("x", 60000), wckey = string.rep("y", 60000),
              constraint = string.rep("z", 60000),
              spank = {} } -- of plugins: a table
slurm = { SUCCESS = 0, json_cli_options = function()
    local list = {}
    for name, value in pairs(set) do
        table.insert(list, string.format('"%s":"%s"', name,
            (tostring(value):gsub('"', '\\"'))))
    end
    return "{" .. table.concat(list, ",") .. "}"
end }
dofile(arg[1])
slurm_cli_pre_submit(setmetatable({}, {
    __index = function(_, name)
        return set[name] or ({ type = "sbatch", clusters = "other" })[name]
    end,
    __newindex = function(_, name, value) print("set " .. name, value) end,
}), 0)
EOF
    ASPEN_FILTER_COMMAND=$aspen ASPEN_FILTER=$BATS_TEST_TMPDIR/answer \
        ASPEN_FILTER_PROGRESS=ghost:1 \
        run lua5.3 "$BATS_TEST_TMPDIR/slurm.lua" "$ASPEN_TOP/etc/cli_filter.lua"
    ended_with 0
    [ "$output" = $'set ntasks\t8\nset nodes\t2\nset ntasks-per-node\t4\nset mincpus\t4' ]
    grep -q '^grown users=6 ghosts=1 nodes=2 ' "$BATS_TEST_TMPDIR/answer"
}

@test "explain coll: a choice with its reasons, tree and rounds" {
    explain coll bcast --ranks 16 --nodes 4 --bytes 65536 --draw
    ended_with 0
    narrow
    printed '^bcast of 65536 bytes, 16 ranks on 4 nodes; machine infiniband$'
    printed '^chosen: +bcast:'
    printed "by MPICH's rules it takes .* times as long:"
    printed '^rounds '
    printed '^ +1 .*0=>'
}

@test "explain coll: one way has the messages that it must have" {
    explain coll allgather --ranks 16 --nodes 4 \
        --way allgather:levels,across=exchange,k=2 --draw
    ended_with 0
    narrow
    printed '^ +[0-9.]+ +8 +24 +6$'
    printed '^ +allgather:levels,k=2,across=exchange,inner=2$'
    printed '^ +3  0=>4 4=>0 8=>12 12=>8$'
    explain coll bcast --ranks 5 --root 2 --way bcast:tree=kary,k=2 --draw
    printed '^  2$'
    printed '^  `- 3$'
    printed '^     `- 4$'
}

@test "explain coll draws a Bine tree" {
    explain coll bcast --ranks 8 --way bcast:tree=bine --draw
    ended_with 0
    printed '^  \|- 3$'
    printed '^  \|  \|- 2$'
    printed '^  \|  `- 4$'
    printed '^  \|     `- 5$'
    printed '^   1  0>3 0>7 0>1$'
    explain coll reduce --ranks 8 --ordered --way reduce:tree=bine
    ended_with 2
    printed 'needs a commutative operation for tree=bine'
}

@test "explain coll --goal: sends, receives and needs of all ranks" {
    explain coll barrier --ranks 2 --way barrier:dissemination,k=2 --goal
    ended_with 0
    [ "${lines[0]}" = "num_ranks 2" ]
    printed '^l1: send 0b to 1 tag 0$'
    explain coll allreduce --ranks 4 --bytes 800 \
        --way allreduce:exchange,k=2 --goal
    [ "$(grep -c '^l[0-9]*: send 800b' <<<"$output")" -eq 8 ]
    [ "$(grep -c '^l[0-9]*: recv 800b' <<<"$output")" -eq 8 ]
    printed '^l3: calc 100000$'
    printed '^l3 requires l2$'
    printed '^// picoseconds: calc, and the whole: [0-9]+$'
    # Four ranks in two rounds: each o + L + 8 G + o, and 8 bytes reduced.
    explain coll allreduce --ranks 4 --machine 1000,100,0,1 \
        --way allreduce:exchange,k=2 --goal
    printed '^// picoseconds: calc, and the whole: 4416$'
    explain coll bcast --ranks 4 --machine 1,2,3
    ended_with 2
    printed 'is not L,o,g,G in picoseconds'
}

@test "explain coll says what it cannot do" {
    explain coll hug --ranks 2
    ended_with 2
    printed '"hug" is no collective: take one of barrier, bcast'
    explain coll bcast
    ended_with 2
    printed 'needs --ranks'
    explain coll bcast --ranks 4 --root 4
    ended_with 2
    explain coll bcast --ranks 4 --machine abacus
    ended_with 2
    printed 'take sun, infiniband, tcp, the file of a table, or L,o,g,G'
    explain coll allreduce --ranks 4 --ordered --way allreduce:ring
    ended_with 2
    printed 'needs a commutative operation'
    explain coll bcast --ranks 4 --way bcast:tree=oak
    ended_with 2
}
