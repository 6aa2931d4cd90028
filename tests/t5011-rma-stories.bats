#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The papers' correctness stories (tests/rma/stories.c), each with one and two
# ghosts per node on one and two pretended nodes. All stories run once per
# shape; each test looks at its own.

load helpers

setup_file() {
    local shape i=0 build=${ASPEN_BUILD:-$BATS_TEST_DIRNAME/../build}
    export ASPEN_BUILD=$build
    for shape in '-g 1' '-g 2' '-g 1 --nodes 2' '-g 2 --nodes 2' \
        '-g 2 --knob rma.binding=segment --knob rma.balance=random'; do
        i=$((i + 1)) # not where output is redirected: that is a subshell
        # shellcheck disable=SC2086
        timeout -k 5 60 "$BATS_TEST_DIRNAME/ghostrun" --report -n 4 $shape \
            "$build/tests/rma_stories" 20 \
            >"$BATS_FILE_TMPDIR/shape$i" 2>&1 ||
            echo "ended with $?" >>"$BATS_FILE_TMPDIR/shape$i"
    done
}

# story NAME: every shape printed that it went well.
story() {
    local file
    [ -e "$BATS_FILE_TMPDIR/shape5" ]
    for file in "$BATS_FILE_TMPDIR"/shape*; do
        grep -qx "story $1: ok" "$file" || {
            echo "in $file:"
            cat "$file"
            return 1
        }
    done
}

@test "one holds an exclusive lock, whichever ghosts serve it (F4.5)" {
    story 'exclusive locks'
}

@test "accumulates of one origin keep their order" {
    story 'ordered accumulates'
}

@test "accumulates of many origins are atomic" {
    story 'atomic accumulates'
}

@test "fences of disjoint groups that share ghosts (F4.8)" {
    story 'disjoint fences'
}

@test "put, flush, get through two ghosts (F4.10)" {
    story 'put, flush, get'
}

@test "self lock with load and store against remote updates" {
    story 'self lock'
}

@test "a writer gets in among readers" {
    story 'fair locks'
}

@test "the stories ran through ghosts, and to their end" {
    local file
    for file in "$BATS_FILE_TMPDIR"/shape*; do
        grep -q '^ok stories' "$file"
        grep -q 'redirected [1-9]' "$file"
        if grep -E 'native|ended with' "$file"; then return 1; fi
    done
}

@test "lock_all beside writers of single targets" {
    story 'lock_all and writers'
}

@test "readers of two targets, or of two windows, with writers between" {
    story 'readers of two'
}
