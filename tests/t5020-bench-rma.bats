#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench/rma: one experiment, all three rivals, quickly.

load helpers

bench() {
    run timeout -k 5 90 "$ASPEN_TOP/bench/rma" --build "$ASPEN_BUILD" \
        --out "$BATS_TEST_TMPDIR" --quick --limit 40 "$@"
}

# The median of line $1 at x = $2, whole microseconds.
median() {
    awk -F'\t' -v line="$1" -v x="$2" \
        'NR == 2 { for (i = 2; i <= NF; i++) if ($i == x) c = i }
        $1 == line { printf "%d", $c }' \
        "$BATS_TEST_TMPDIR/s-e7.tsv"
}

@test "a table of three rivals, and what it must show" {
    local picture=$ASPEN_BUILD/bench/rma-results/s-e7.svg
    rm -f "$picture"
    bench --plot s-e7
    ended_with 0
    grep -q '</svg>' "$picture" || printed '^no plot s-e7.svg: gnuplot is not'
    printed '^delay us +1000 +50000$'
    printed '^thread +[0-9]+'
    printed '^aspen : plain +[0-9]+'
    [ "$(median thread 50000)" -gt 0 ]
    # Plain waits until the target is back, a ghost does not.
    [ "$(median plain 50000)" -gt 45000 ]
    [ "$(median aspen 50000)" -lt 25000 ]
}

@test "kernels in which the rival says what the target does" {
    bench s-e4
    ended_with 0
    not_printed 'failed'
    awk -F'\t' 'NR > 2 && $2 > 0 { rows++ } END { exit rows < 3 }' \
        "$BATS_TEST_TMPDIR/s-e4.tsv"
}

@test "wrong names, kernels and keys are refused" {
    bench s-e99
    ended_with 2
    printed 'no such experiment: s-e99'
    run timeout 20 "$ASPEN_BUILD/bench/rma_app" flush,op=multiply
    ended_with 2
    printed "make sense of 'op'"
}
