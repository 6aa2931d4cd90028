#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP threads of the program that wait pack and unpack (docs/design/pack.md).

load helpers

# How many threads take part, of 4 with the caller. gcc's runtime ends the threads
# that a smaller region does not need, LLVM's keeps them.
expected() {
    cat <<EOF
outside, no region before: 1
single: 4
master, barrier: 4
master, one computes: 3
master, all compute: 1
master, all compute again: 1
single nowait: 4
dynamic loop: 4
sections: 4
critical, first: 1
critical, 0 before: 1
critical, 1 before: 2
critical, 2 before: 3
critical, 3 before: 4
single, two tasks run: 2
single, tasks wait: 1
final task: 1
explicit task: 4
outside, after regions: 4
outside, after a smaller region: $1
nested region: 1
region of one: 1
EOF
}

# Run the situations, and fail where a thread took part that must not. Sets
# parts[SITUATION] to the most threads that did.
try_situations() {
    local line name
    run timeout -k 5 120 env OMP_WAIT_POLICY=passive "$1" 4 24 4000
    ended_with 0
    printed '^0 tasks of the program ran inside$'
    not_printed 'miscounted'
    for line in "${lines[@]}"; do
        [[ $line =~ ^(.*):\ [0-9]+\ by\ ([0-9]+)\ threads,\ ([0-9]+)\ by\ computing\ ones,\ (-?[0-9]+)\ new ]] ||
            continue
        name=${BASH_REMATCH[1]}
        if ((BASH_REMATCH[3] > 0 || BASH_REMATCH[4] > 0)); then
            echo "$line"
            return 1
        fi
        ((BASH_REMATCH[2] <= ${parts[$name]:-0})) ||
            parts[$name]=${BASH_REMATCH[2]}
    done
}

# On a busy machine a thread may come too late for its share: the most of sixteen.
situations() {
    local compiler=$1 want=$2
    local -A parts=()
    ASPEN_BUILD=$ASPEN_BUILD "$ASPEN_TOP/tests/pack/openmp-build" "$compiler" \
        "$BATS_TEST_TMPDIR/openmp"
    for _ in {1..16}; do
        try_situations "$BATS_TEST_TMPDIR/openmp"
        for name in "${!parts[@]}"; do
            printf '%s: %s\n' "$name" "${parts[$name]}"
        done | sort >"$BATS_TEST_TMPDIR/parts"
        ! diff <(expected "$want" | sort) "$BATS_TEST_TMPDIR/parts" || return 0
    done
    return 1
}

@test "those threads take part that wait, and no others: gcc's OpenMP" {
    situations gcc 1
}

@test "the same with LLVM's" {
    situations clang 4
}

# The number $1 of the object typed of a record.
typed() {
    python3 -c 'import json, sys
print(json.load(open(sys.argv[1])).get("typed", {}).get(sys.argv[2], 0))' \
        "$BATS_TEST_TMPDIR/record" "$1"
}

@test "lengths, errors, order, communicators, packing: as in plain MPI" {
    same_everywhere 3 "$ASPEN_BUILD/tests/pack_helped"
}

# How often depends on how busy the machine is: once in five runs will do.
took_part() {
    local shape=$1
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        run ghosts -n 3 $shape --report="$BATS_TEST_TMPDIR/record" \
            "$ASPEN_BUILD/tests/pack_helped"
        ended_with 0
        [ "$(typed threaded)" -eq 0 ] || return 0
    done
    return 1
}

@test "and threads did take part in that, in all modes" {
    local shape
    for shape in '--off --knob pack=auto' '-g 1' '-g 1 --nodes 2' --offload \
        --thread '-g 1 --knob offload=yes'; do
        took_part "$shape"
        printed '^aspen: OpenMP threads helped with [0-9]+ buffers'
        [ "$(typed threaded_helpers)" -ge "$(typed threaded)" ]
        [ "$(typed threaded_chunks)" -gt "$(typed threaded)" ]
    done
    "$ASPEN_BUILD/tools/aspen" report --text "$BATS_TEST_TMPDIR/record" |
        grep -q 'buffers that OpenMP threads'
}

@test "pack.threads=off, pack=off, and programs without OpenMP: none does" {
    ghosts -n 3 --off --report="$BATS_TEST_TMPDIR/record" --knob pack=auto \
        --knob pack.threads=off "$ASPEN_BUILD/tests/pack_helped"
    [ "$(typed threaded)" -eq 0 ]
    [ "$(typed described)" -gt 30 ]
    ghosts -n 3 -g 1 --report="$BATS_TEST_TMPDIR/record" --knob pack=off \
        "$ASPEN_BUILD/tests/pack_helped"
    [ "$(typed threaded)" -eq 0 ]
    ghosts -n 3 -g 1 --report="$BATS_TEST_TMPDIR/record" \
        "$ASPEN_BUILD/tests/pack_stories"
    [ "$(typed threaded)" -eq 0 ]
}

# MPICH's own unpacking wants whole numbers in each piece of a message. That rank
# is the receiver of one half and the sender of the other.
@test "a rank of the job that has no Aspen gets what plain MPICH sends" {
    local layout="aspen-layout/1 job=test.0 mode=off gpn=0 bound=no reason=test"
    layout+=" digest=0 size=2 nnodes=1 node=0 nodes=n0:0,1 service="
    layout+=" task=0:user:0:-:numa-1:h-1:c task=1:user:1:-:numa-1:h-1:c"
    layout+=" knob=pack:auto end"
    local yield=$ASPEN_BUILD/tests/.libs/yield.so
    local aspen=$ASPEN_BUILD/runtime/.libs/libaspen.so
    local program=$ASPEN_BUILD/tests/pack_mixed
    run timeout -k 5 60 mpiexec.mpich \
        -n 1 env LD_PRELOAD="$yield:$aspen" ASPEN_LAYOUT="$layout" "$program" : \
        -n 1 env LD_PRELOAD="$yield" "$program"
    ended_with 0
    printed '^rank 0: 0 wrong$'
    printed '^rank 1: 0 wrong$'
}
