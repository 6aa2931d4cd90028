#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench/adapt: one experiment quickly, and how it judges decisions.

load helpers

bench() {
    run timeout -k 5 90 "$ASPEN_TOP/bench/adapt" --build "$ASPEN_BUILD" \
        --out "$BATS_TEST_TMPDIR" --quick --limit 40 "$@"
}

# The median of line $1 at x = $2, whole microseconds.
median() {
    awk -F'\t' -v line="$1" -v x="$2" \
        'NR == 2 { for (i = 2; i <= NF; i++) if ($i == x) c = i }
        $1 == line { printf "%d", $c }' \
        "$BATS_TEST_TMPDIR/u-e2.tsv"
}

@test "a table with and without ghosts, and what it must show" {
    bench u-e2
    ended_with 0
    printed '^us computed +100 +20000$'
    printed '^6 users, 2 ghosts +[0-9]+'
    # Who is asked while it computes answers later, but for ghosts.
    [ "$(median '8 users, plain' 20000)" -gt 30000 ]
    [ "$(median '4 users, 4 ghosts' 20000)" -gt 19000 ]
    [ "$(median '4 users, 4 ghosts' 20000)" -lt \
        "$(median '8 users, plain' 20000)" ]
}

# The share of the time that the status was as the script has it, with
# ghostrun's options and the kernel's keys in $1 and $2.
right() {
    local app="$ASPEN_BUILD/bench/adapt_app"
    # shellcheck disable=SC2086
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 4 -g 1 --nodes 2 \
        --report="$BATS_TEST_TMPDIR/record" $1 "$app" \
        "phases,n=4,computing=6,talking=40,$2"
    ended_with 0
    python3 -B - "$ASPEN_TOP/bench/adapt_bench" "$BATS_TEST_TMPDIR/record" \
        <<PY
import json, sys
sys.path.insert(0, sys.argv[1])
import status
record = json.load(open(sys.argv[2]))
record["rows"] = [row.split("\t") for row in """$output""".splitlines()
                  if row.count("\t") == 5]
print(round(status.right(record, 2, 0)), len(status.latencies(record)))
PY
}

@test "decisions are held against the script" {
    local good late
    # The program says before each phase what is right.
    read -r good late <<<"$(right '--knob adapt=user' hints=phase)"
    [ "$good" -ge 90 ]
    # On, for ever: each of 4 ranks is late in 2 phases, and stays it.
    read -r good late <<<"$(right '--knob adapt=user' op=acc)"
    [ "$good" -lt 90 ]
    [ "$late" -eq 8 ]
}

@test "wrong names, kernels and keys are refused" {
    bench s-e7
    ended_with 2
    printed 'adapt: no such experiment: s-e7'
    run timeout 20 "$ASPEN_BUILD/bench/adapt_app" steady,op=multiply
    ended_with 2
    printed "make sense of 'op'"
}
