#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The gate, the watch and the helper of mode thread under the thread sanitizer;
# and what the tests make of faults that are planted there.

load helpers

# A copy of the sources, to be changed.
setup() {
    sources=$BATS_TEST_TMPDIR/progress
    cp -r "$ASPEN_TOP/runtime/progress" "$sources"
}

# sanitized PROGRAM TESTS: build a test program of the copy with the sanitizer and
# run its tests that are like this, without the randomization of addresses, which
# the sanitizer's map does not expect.
sanitized() {
    local cflags parts=("$1.c" watch.c) others=()
    [[ $1 == watch_test ]] || {
        parts+=(gate.c thread.c)
        others=("$ASPEN_TOP/runtime/net/moves.c")
    }
    cflags=$(sed -n 's/^MPI_CPPFLAGS = //p' "$ASPEN_BUILD/runtime/Makefile")
    # shellcheck disable=SC2086
    gcc -g -O1 -fsanitize=thread -o "$BATS_TEST_TMPDIR/test" $cflags \
        -I"$ASPEN_BUILD" -I"$ASPEN_TOP" -I"$ASPEN_BUILD/runtime/mpi" \
        -I"$ASPEN_TOP/runtime/mpi" "${parts[@]/#/$sources/}" "${others[@]}" \
        "$ASPEN_TOP"/runtime/base/{await,event,backoff,wait_table}.c \
        -lcmocka -lpthread
    run timeout -k 5 120 setarch -R "$BATS_TEST_TMPDIR/test" "$2"
}

# planted FILE OLD NEW TESTS FOUND [PROGRAM]: with these lines changed the tests
# like this fail, and say so.
planted() {
    sed -i "s/$2/$3/" "$sources/$1"
    ! cmp -s "$sources/$1" "$ASPEN_TOP/runtime/progress/$1" || {
        echo "no line of $1 is like '$2'"
        return 1
    }
    for _ in 1 2 3 4 5; do # a race shows by chance
        TSAN_OPTIONS=halt_on_error=1 sanitized "${6-progress_test}" "$4"
        [ "$status" -eq 0 ] || break
    done
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        echo "with '$3' in $1: $status"
        return 1
    fi
    printed "$5"
    cp "$ASPEN_TOP/runtime/progress/$1" "$sources/$1"
}

failed='FAILED  '
race='ThreadSanitizer: data race'

@test "clean under the thread sanitizer" {
    sanitized progress_test '*'
    ended_with 0
    printed 'PASSED.*9 test'
    not_printed 'ThreadSanitizer'
    sanitized watch_test '*'
    ended_with 0
    printed 'PASSED.*5 test'
    not_printed 'ThreadSanitizer'
}

@test "found: a helper that goes in beside a caller" {
    planted gate.c 'return atomic_compare' 'return true | atomic_compare' \
        '*never_inside*' "$race"
}

@test "found: a caller that goes in beside the helper" {
    planted gate.h '^        ASPX_GATE_HELPER)' '        0)' '*one_poll*' "$race"
}

@test "found: memory accesses that a weak order lets out of the gate" {
    planted gate.h memory_order_release memory_order_relaxed \
        '*never_inside*' "$race"
    planted gate.c memory_order_release memory_order_relaxed \
        '*never_inside*' "$race"
}

@test "found: a caller that spins, and a helper that is not polite" {
    planted gate.c '\.event = event_of' '.quick_looks = 400000000' '*spins*' "$failed"
    planted thread.c ' && !aspx_gate_calls()' '' '*one_poll*' "$failed"
}

@test "found: a helper that nobody wakes, and one that goes on polling" {
    planted thread.c 'aspx_event_notify(&posted);' ';' '*wakes*' "$failed"
    planted watch.c 'add(&aspx_watch_outstanding, -1u);' ';' '*wakes*' "$failed"
}

@test "found: a helper that is woken in vain" {
    planted thread.c 'IN_VAIN_MAX = 8' 'IN_VAIN_MAX = 1000000' '*in_vain*' "$failed"
}

@test "found: a callback in the helper beside a caller in the table" {
    planted gate.h '^        ASPX_GATE_HELPER)' '        ASPX_GATE_HELPER \&\& 0)' \
        '*wakes*' "$race"
}

@test "found: holes in the table, and a table without its lock" {
    planted watch.c '(at - home(table\[at\].request)) % SLOTS <' '0 <' \
        '*under_way*' "$failed" watch_test
    planted watch.c 'if (many)' 'if (false)' '*many_threads*' "$race" \
        watch_test
}
