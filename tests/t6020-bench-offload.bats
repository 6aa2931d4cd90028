#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench/offload: one experiment, all rivals, quickly.

load helpers

bench() {
    run timeout -k 5 90 "$ASPEN_TOP/bench/offload" --build "$ASPEN_BUILD" \
        --out "$BATS_TEST_TMPDIR" --quick --limit 40 "$@"
}

# The median of line $1 at x = $2, whole percent.
median() {
    awk -F'\t' -v line="$1" -v x="$2" \
        'NR == 2 { for (i = 2; i <= NF; i++) if ($i == x) c = i }
        $1 == line { printf "%d", $c }' \
        "$BATS_TEST_TMPDIR/o-e1.tsv"
}

@test "a table of the rivals, and what it must show" {
    bench o-e1
    ended_with 0
    printed '^bytes +8 +4194304$'
    printed '^async +[0-9]+'
    printed '^thread +[0-9]+'
    # MPICH moves 4 MiB in the wait, the offload thread before it.
    [ "$(median plain 4194304)" -lt 50 ]
    [ "$(median offload 4194304)" -gt 50 ]
}

@test "wrong names, kernels and keys are refused" {
    bench s-e7
    ended_with 2
    printed 'offload: no such experiment: s-e7'
    run timeout 20 "$ASPEN_BUILD/bench/offload_app" post,op=multiply
    ended_with 2
    printed "make sense of 'op'"
    run timeout 20 "$ASPEN_BUILD/bench/offload_app" post,bytes=12
    ended_with 2
}

@test "a rank and its helper share the CPUs that are theirs" {
    [ "$(nproc)" -ge 2 ]
    run timeout 20 "$ASPEN_TOP/tests/ghostrun" -n 1 \
        --offload --share=2 sh -c 'taskset -pc $$; echo "$ASPEN_LAYOUT"'
    ended_with 0
    own=$(sed -n 's/.*affinity list: //p' <<<"$output")
    printed ":h[0-9]+:c$own "
    ! printed ":h$own:" || false
    run timeout 20 "$ASPEN_TOP/tests/ghostrun" -n 100 -g 0 --share=100 true
    ended_with 2
    printed 'too few CPUs for --share=100'
}
