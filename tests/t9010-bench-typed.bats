#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench/typed: two kernels, quickly.

load helpers

bench() {
    run timeout -k 5 150 "$ASPEN_TOP/bench/typed" --quick --limit 60 \
        --out "$BATS_TEST_TMPDIR/out" "$@"
}

@test "a table, a picture, and the instructions that packing otherwise saves" {
    bench --build "$ASPEN_BUILD" halo-z
    ended_with 0
    printed '^kernel +plain: in MPI, us +Aspen'
    # Single numbers, far apart: plain MPICH takes seven times as many.
    awk -F'\t' '$1 == "halo-z" { found = $NF } END { exit !(found < 0.4) }' \
        "$BATS_TEST_TMPDIR/out/typed.tsv"
    if command -v gnuplot; then
        grep -q '</svg>' "$BATS_TEST_TMPDIR/out/typed.svg"
    else
        printed '^no plot typed.svg: gnuplot is not installed'
    fi
}

@test "every kernel runs, and comes to the same result" {
    bench --build "$ASPEN_BUILD" --no-counts
    ended_with 0
    [ "$(grep -cE '^(pack|send|halo|multigrid)' <<<"$output")" -eq 11 ]
}

@test "results that differ are a failure" {
    local build=$BATS_TEST_TMPDIR/build
    mkdir -p "$build/bench"
    ln -s "$ASPEN_BUILD/tests" "$ASPEN_BUILD/runtime" "$build"
    cat >"$build/bench/typed_app" <<'END'
#!/bin/sh
[ "$PMI_RANK" != 0 ] || echo "1 2 $LD_PRELOAD"
END
    chmod +x "$build/bench/typed_app"
    bench --build "$build" halo-z
    ended_with 1
    printed '^typed: halo-z: results differ: '
}

@test "wrong names are refused" {
    bench --build "$ASPEN_BUILD" halo-w
    ended_with 2
    printed 'typed: no such kernel: halo-w'
    run timeout 20 "$ASPEN_BUILD/bench/typed_app" 1 16 halo-z
    ended_with 2
}
