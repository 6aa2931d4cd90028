#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# All of it by another compiler: what it warns of, and what only gcc's choices
# made right.

load helpers

# Other releases warn of other things: only that of Debian 12 makes them errors.
setup_file() {
    local developer=--disable-developer
    command -v clang >/dev/null || skip "no clang"
    ! clang --version | grep -q 'version 14\.' || developer=--enable-developer
    export by_clang=$BATS_FILE_TMPDIR/build
    mkdir "$by_clang" && cd "$by_clang" || return
    "$ASPEN_TOP/configure" CC=clang $developer --disable-dependency-tracking \
        >configure.log 2>&1 || { tail -20 configure.log; return 1; }
}

@test "clang builds everything" {
    # Not optimised: warnings do not depend on it, and it takes half the time.
    # One after the other: side by side both would make the same files.
    for target in all check; do
        run make -C "$by_clang" -s -k -j "$(nproc)" CFLAGS='-O0 -g0' TESTS= \
            "$target"
        grep -E '(error|warning):' <<<"$output" || true
        [ "$status" -eq 0 ]
    done
}

@test "programs run with a runtime that clang has built" {
    run env ASPEN_BUILD="$by_clang" timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" \
        -n 2 --offload "$by_clang/tests/offload_stress" 4 1 7
    ended_with 0
    printed '^[1-9][0-9]* steps, [1-9][0-9]* bytes, 0 wrong$'
    run env ASPEN_BUILD="$by_clang" timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" \
        -n 2 -g 1 "$by_clang/tests/rma_atomic" 5
    ended_with 0
}
