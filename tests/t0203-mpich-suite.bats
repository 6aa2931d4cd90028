#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tests/mpich-suite and mpich-table, on a suite of shell scripts.

load helpers

# One process speaks for the test, as in MPICH's suite.
program() {
    { echo '#!/bin/bash'; echo '((PMI_RANK == 0)) || exit 0'; cat; } \
        >"$suite/$1"
    chmod +x "$suite/$1"
}

setup() {
    suite=$BATS_TEST_TMPDIR/suite
    mkdir -p "$suite/attr/sub"
    program attr/good <<<'echo " No Errors"'
    program attr/chatty <<<'echo " No Errors"; echo more'
    program attr/status <<<'echo " No Errors"; exit 1'
    program attr/slow <<<'exec sleep 30'
    program attr/sub/aborts <<<'exit 3'
    program attr/sub/word <<<'[[ $1$SUITE_WORD == ab ]] && echo " No Errors"'
    cat >"$suite/attr/testlist" <<'END'
# comment
good 2
chatty 2
status 2
slow 2 timeLimit=1
good 64
sub
END
    cat >"$suite/attr/sub/testlist" <<'END'
aborts 1 resultTest=TestStatus
word 1 arg=a env=SUITE_WORD=b
word 1 arg=c xfail=ticket1
absent 1
END
}

suite() { run timeout -k 5 60 "$ASPEN_TOP/tests/mpich-suite" "$@"; }

@test "verdicts are those of MPICH's runtests" {
    suite --only plain --out "$BATS_TEST_TMPDIR/out" "$suite" attr
    ended_with 0
    printed '^plain: 2 fail 3 pass 1 timeout$'
    run cut -f1,2 "$BATS_TEST_TMPDIR/out/plain.tsv"
    [ "$output" = "attr/good 2	pass
attr/chatty 2	fail
attr/status 2	fail
attr/slow 2	timeout
attr/sub/aborts 1	pass
attr/sub/word 1 a SUITE_WORD=b	pass" ]
}

@test "a test that only fails under one way is told and tabled" {
    program attr/differs <<<'[[ $LD_PRELOAD == *libaspen* ]] ||
        echo " No Errors"'
    # Fails when it runs for the first time.
    program attr/warm <<<'[[ ! -e '"$BATS_TEST_TMPDIR"'/warm ]] ||
        echo " No Errors"; touch '"$BATS_TEST_TMPDIR"'/warm'
    printf '%s 1\n' good differs warm >"$suite/attr/testlist"
    # Of a test that ran in one way only nothing can be said.
    mkdir "$BATS_TEST_TMPDIR/out"
    printf 'attr/once 1\tpass\t1/1\t0.1\n' >"$BATS_TEST_TMPDIR/out/plain.tsv"
    suite --only 'plain inert' --retry 1 --out "$BATS_TEST_TMPDIR/out" \
        --table "$BATS_TEST_TMPDIR/table.md" "$suite" attr
    ended_with 1
    printed '^> attr/differs 1	fail$'
    not_printed 'good|once'
    run cat "$BATS_TEST_TMPDIR/table.md"
    printed '^\| attr \| 4 / 0 / 0 \| 2 / 1 / 0 \|$'
    printed '^\| attr/differs 1 \| pass \| fail \(0 of 2\) \|  \|$'
    printed '^\| attr/warm 1 \| pass \(1 of 2\) \| pass \|  \|$'
}

@test "a test that Aspen leaves alone is counted as such" {
    program attr/left <<<'echo " No Errors"
        echo "aspen: mode thread knows no sessions; running without Aspen" >&2'
    program attr/warned <<<'echo " No Errors"
        echo "aspen: something else; running without offload threads" >&2'
    printf '%s 1\n' good left warned >"$suite/attr/testlist"
    suite --only plain --out "$BATS_TEST_TMPDIR/out" "$suite" attr
    printed '^plain: 1 fail 2 pass, 1 of them without Aspen, as it said$'
    grep -qx 'attr/left 1	pass	1/1	[0-9.]*	alone' \
        "$BATS_TEST_TMPDIR/out/plain.tsv"
}

@test "ghosts get the words of the policy" {
    program attr/layout <<<'"$ASPEN_BUILD/tests/mpi_nodes" >/dev/null &&
        [[ $ASPEN_LAYOUT == *" gpn=2 "*heap:shared* ]] &&
        echo " No Errors"'
    echo 'layout 1' >"$suite/attr/testlist"
    suite --only 'plain ghosts' -g 2 --spec heap=shared --tests 'attr/lay*' \
        --out "$BATS_TEST_TMPDIR/out" "$suite" attr
    ended_with 1
    printed '^ghost:2,heap=shared: 1 pass$'
}

@test "a run that was cut off goes on where it was" {
    printf 'good 1\ngood 2\n' >"$suite/attr/testlist"
    mkdir "$BATS_TEST_TMPDIR/out"
    printf 'attr/good 1\tfail\t0/1\t0.1\n' >"$BATS_TEST_TMPDIR/out/plain.tsv"
    suite --only plain --resume --out "$BATS_TEST_TMPDIR/out" "$suite" attr
    printed '^plain: 1 fail 1 pass$'
    suite --only plain --out "$BATS_TEST_TMPDIR/out" "$suite" attr
    printed '^plain: 2 pass$'
}

@test "what cannot be is refused" {
    suite --only hosts "$suite" attr
    ended_with 2
    printed 'no way called hosts'
    suite "$suite" absent
    ended_with 2
    printed 'no list in .*/absent'
}
