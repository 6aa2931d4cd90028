#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Random RMA programs against a sequential model (tests/random/README.md): a
# bounded slice. tests/rma-random --programs 10000 runs many.

load helpers

app() { echo "$ASPEN_BUILD/tests/rma_random_app"; }

# random GHOSTRUN-OPTIONS... -- OPTIONS...
random() {
    local shape=()
    while [ "$1" != -- ]; do
        shape+=("$1")
        shift
    done
    shift
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" "${shape[@]}" "$(app)" "$@"
}

@test "the model agrees with plain MPICH" {
    random -n 3 -g 0 -- --plain-safe --programs 20
    ended_with 0
    printed '^20 programs, 0 wrong'
}

@test "random programs through ghosts, over shapes, bindings and balances" {
    export ASPEN_BUILD
    run timeout -k 5 100 "$ASPEN_TOP/tests/rma-random" --seed 11 \
        --programs 420 --slice 15 --seconds 9
    ended_with 0
    printed '^[1-9][0-9]+ programs, 0 slices wrong'
}

# What ranks said of wrong things in the last `run`: its words, sorted.
words() {
    sed -n '/^random:/,$p' <<<"$output" | grep -v ' programs, ' |
        grep -oE 'program [0-9]+ phase [0-9]+|rank [0-9]+|expected 0x[0-9a-f]+' |
        sort
}

@test "a wrong byte, value or order is noticed, and its seed repeats it" {
    local what first again
    for what in memory value order; do
        random -n 2 -g 1 -- --seed 5 --break "$what:2" --programs 10
        ended_with 1
        printed '^random: seed 5 program 2 phase'
        printed '^3 programs, 1 wrong'
        # mpiexec of MPICH 4.2 may cut the lines of two ranks into pieces: what is
        # said in both runs is compared character by character.
        first=$(words)
        random -n 2 -g 1 -- --seed 5 --break "$what:2" --program 2
        ended_with 1
        again=$(words)
        [ -n "$again" ]
        diff <(echo "$first") <(echo "$again")
    done
}
