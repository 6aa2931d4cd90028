#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Who includes whom: the layers of docs/HACKING.md, and the tool that holds the
# tree against them, in a tree made up for it; names, sizes of folders and opening
# comments, by the same tool; and what goes around a layer.

load helpers

setup() {
    tree=$BATS_TEST_TMPDIR/tree
}

# plant FILE HEADER...: a file that says what it does and includes these headers.
plant() {
    local file=$tree/$1
    mkdir -p "$(dirname "$file")"
    shift
    printf '/* SPDX */\n/* Why. */\n' >"$file"
    (($# == 0)) || printf '#include "%s"\n' "$@" >>"$file"
}

# A tree of three layers in which all is well.
plant_tree() {
    mkdir -p "$tree/docs"
    printf '<!-- layers -->\n```\n%s\n%s\n%s\n```\n' base 'left right # both' \
        top >"$tree/docs/HACKING.md"
    plant base/a.h
    plant base/a.c a.h
    plant left/b.h base/a.h
    plant right/c.c base/a.h
    plant top/d.c left/b.h base/a.h
    git -C "$tree" init -q
}

graph() {
    git -C "$tree" add .
    run "$ASPEN_TOP/tests/include-graph" "$tree"
}

# Fail unless the last `run` found just what $1 says.
found() {
    ended_with 1
    [ "$output" = "$1" ] || { echo "not '$1': $output"; return 1; }
}

@test "a tree in order passes" {
    plant_tree
    graph
    ended_with 0
    [ -z "$output" ]
}

@test "an include upward or sideways is found" {
    plant_tree
    plant base/a.c a.h left/b.h
    graph
    printed '^base/a.c includes left/b.h, which is not below it$'
    printed '^folders in a cycle: base, left$'
    ended_with 1
    plant base/a.c a.h
    plant right/c.c left/b.h
    graph
    found 'right/c.c includes left/b.h, which is not below it'
}

@test "a folder without a layer is found" {
    plant_tree
    plant other/e.h
    plant top/d.c other/e.h
    graph
    printed '^other is not among the layers of HACKING.md$'
    ended_with 1
}

@test "of a circle of modules three pass and four do not" {
    plant_tree
    plant left/e.h b.h
    plant left/f.h e.h
    plant left/b.c f.h
    graph
    ended_with 0
    plant left/g.h f.h
    plant left/b.c g.h
    graph
    found '4 modules in a circle: left/b, left/e, left/f, left/g'
}

@test "a folder of 25 modules passes, of 26 it does not" {
    plant_tree
    for i in {1..24}; do plant "left/m$i.c"; done
    plant left/m1.h
    plant left/m1_test.c
    graph
    ended_with 0
    plant left/m25.h
    graph
    found 'left has 26 modules'
}

@test "a tag or an exported name that two files define is found" {
    plant_tree
    echo 'struct one { int a; };' >>"$tree/base/a.h"
    echo 'static struct two { int a; } two;' >>"$tree/base/a.c"
    echo 'static void three(void) {' >>"$tree/base/a.c"
    echo 'struct one *four(struct one *one);' >>"$tree/left/b.h"
    echo 'struct two { int b; }; static void three(void) {' >>"$tree/right/c.c"
    graph
    ended_with 0
    printf 'struct one\n{ int b; };\nint *four(struct one *one)\n{\n' >>"$tree/right/c.c"
    printf 'static inline int *four(void)\n{\nlong five = 5;\n' >>"$tree/top/d.c"
    echo 'const char *five[] = {' >>"$tree/base/a.c"
    graph
    ended_with 1
    [ "$output" = 'tag one is defined in base/a.h, right/c.c
five is defined in base/a.c, top/d.c
four is defined in right/c.c, top/d.c' ] || { echo "$output"; return 1; }
}

@test "a .c that does not begin by what it does is found" {
    plant_tree
    printf '/* SPDX */\n#include "a.h"\n/* Why. */\n' >"$tree/base/a.c"
    printf '/* SPDX */\n' >"$tree/base/a.h"
    printf '/* SPDX */\n' >"$tree/base/a_test.c"
    graph
    found 'base/a.c does not say what it does'
}

@test "tests may include what they test" {
    plant_tree
    plant base/a_test.c top/d.h
    plant tests/t.c top/d.h
    plant top/d.h
    graph
    ended_with 0
}

@test "every file that HACKING and the glossary name is there" {
    local name missing=
    for name in $(grep -ohE '`(common|runtime|tools|spank-plugin|pmix-agent|tests|scripts|bench|docs|etc)/[a-z0-9_./-]*`' \
        "$ASPEN_TOP"/docs/{HACKING,GLOSSARY}.md | tr -d '`' | sort -u); do
        [ -e "$ASPEN_TOP/$name" ] || missing+=" $name"
    done
    [ -z "$missing" ] || { echo "not there:$missing"; return 1; }
}

@test "what the runtime says goes through base/log.h" {
    local bare='fprintf\(stderr|(fputs|fputc|putc)\(.*stderr|perror\(|dprintf\((2|STDERR)'
    # a program of its own, whose usage it is
    run grep -rnE "\b($bare)" "$ASPEN_TOP/runtime" --include='*.c' --include='*.h' \
        --exclude='*_test.c' --exclude=pmix_put.c
    ended_with 1
}

@test "the tree keeps its layers" {
    git -C "$ASPEN_TOP" rev-parse 2>/dev/null || skip "no git checkout"
    run "$ASPEN_TOP/tests/include-graph"
    ended_with 0
}

