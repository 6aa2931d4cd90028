#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen explain table: tables of tuned collectives for people, as text and as a
# picture; what is no table gets one message with its line.

load helpers

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    table=$ASPEN_TOP/tests/tables/small.table
    cd "$BATS_TEST_TMPDIR"
}

explain() {
    run timeout -k 2 20 "$aspen" explain table "$@"
}

# Fail unless it is refused with one line matching $1.
refused() {
    local text=$1
    shift
    explain "$@"
    ended_with 2
    printed "$text"
    [ "$(wc -l <<<"$output")" -eq 1 ]
}

@test "a table says for what machine it holds, what was chosen, and the gain" {
    explain "$table"
    ended_with 0
    printed 'MPICH 4\.0\.2 \(build-id:0123456789abcdef\)'
    printed 'UCX 1\.13\.1 over tcp'
    printed '^2 CPUs per node, in jobs of 2 x 4, 4 x 1, 4 x 4 \('
    printed "^21 choices for 3 kinds .*; 17 beat MPI's own, by 1\.48 x .*1\.60 x"
    printed '^16 ranks on 4 nodes, 4 each, node after node$'
    printed '^bcast, root 0, strict$'
    printed '^allreduce, a built-in operation on floating-point numbers, strict$'
    printed ' 8 +4\.010 +5\.614 +1\.40 x +12 measured +2026-11-27 +bcast:tree=knomial,k=4$'
    printed ' 1 KiB +9\.280 +9\.280 +1\.00 x +12 measured +2026-11-27 +default$'
}

@test "the picture is well-formed and has a field for each row" {
    explain "$table" --svg picture.svg
    ended_with 0
    printed '^bcast, root 0, strict$'
    python3 - picture.svg <<'END'
import sys
import xml.etree.ElementTree as tree

top = tree.parse(sys.argv[1]).getroot()
name = '{http://www.w3.org/2000/svg}'
fields = [g.find(name + 'rect') for g in top.iter(name + 'g')]
assert len(fields) == 21, len(fields)
assert sum(f.get('class') == 'd' for f in fields) == 4
# No two fields in the same place, and all of them on the page.
places = {(f.get('x'), f.get('y')) for f in fields}
assert len(places) == 21, places
wide, high = float(top.get('width')), float(top.get('height'))
for f in fields:
    assert float(f.get('x')) + float(f.get('width')) <= wide
    assert float(f.get('y')) + float(f.get('height')) <= high
# The same algorithm has the same colour.
colours = {}
for g in top.iter(name + 'g'):
    algorithm = g.find(name + 'title').text.split(': ')[0]
    colours.setdefault(algorithm, set()).add(g.find(name + 'rect').get('class'))
assert all(len(c) == 1 for c in colours.values()), colours
END
    explain "$table" --svg -
    ended_with 0
    [[ $output == '<svg '* ]]
}

@test "what is no table is refused with a line" {
    refused '^missing: .*No such file' missing
    refused '^/dev/zero: larger than 4194304 bytes$' /dev/zero
    printf 'hello\n' >hello
    refused '^hello:1: no table of collectives' hello
    head -c 900 "$table" >cut
    refused '^cut:[0-9]+: .*cut off' cut
    sed '/^rows/s/21/20/' "$table" >more
    refused '^more:[0-9]+: more rows' more
    sed 's/root=0,/root=7,/' "$table" >root
    refused '^root:[0-9]+: key: root=7 is no value' root
    printf 'aspen-coll-table 1\nmpi \033[2J\n' >escape
    refused '^escape:2: a control character$' escape
    mkfifo pipe
    refused '^pipe:' pipe
}

@test "an algorithm that cannot be is said so, and why" {
    sed 's/allreduce:exchange,k=4 20.016/allreduce:levels,across=ring 20.016/
        s/bcast:tree=knomial,k=4 5.280/5.280/' "$table" |
        sed 's/ 5.280/ bcast:tree=oak 5.280/
            s/allreduce:exchange,k=4 10.016/reduce:tree=knomial,k=2 10.016/' >odd
    explain odd
    ended_with 1
    printed '^ +NOT USABLE: allreduce:levels needs several nodes with several ranks$'
    printed '^ +NOT USABLE: "tree=oak" is no parameter of a configuration$'
    printed '^ +NOT USABLE: a configuration of reduce for allreduce$'
    printed '^3 of 21 choices cannot be used'
    explain "$table"
    [[ $output != *USABLE* ]]
}

@test "usage, and a picture that cannot be written" {
    explain
    ended_with 2
    printed '^usage: aspen explain table'
    explain --help
    ended_with 0
    explain "$table" --svg /nowhere/p.svg
    ended_with 2
    printed '^/nowhere/p.svg: '
}
