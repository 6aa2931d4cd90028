# SPDX-License-Identifier: BSD-3-Clause
# A tool keeps its place whether it is preloaded before or behind libaspen.so or
# linked, whether it calls PMPI_X or looks up what is behind it, and sees
# MPI_COMM_WORLD always. What is looked up in libmpich itself is Aspen, too.

load helpers

setup_file() {
    export world=$ASPEN_BUILD/tests/world
    export libs=$world/.libs
    mpicc.mpich -I"$ASPEN_TOP/tests/world" "$ASPEN_TOP/tests/world/attr.c" \
        "$libs/next.so" "-Wl,-rpath,$libs" -o "$BATS_FILE_TMPDIR/linked"
}

# Fail unless a program says the same, in any order, without Aspen and in each
# of these ways.
#   $1  the ways, options of ghostrun, with commas; $2  how without Aspen
# then the program and its arguments
same_tool() {
    local plain way ways
    IFS=, read -ra ways <<<"$1"
    # shellcheck disable=SC2086
    plain=$(ghosts -n 3 -g 0 $2 "${@:3}" 2>&1 | sort)
    grep -qE 'tool: [0-9]+ calls, [1-9]' <<<"$plain"
    for way in "${ways[@]}"; do
        # shellcheck disable=SC2086
        diff <(echo "$plain") <(ghosts -n 3 $way "${@:3}" 2>&1 | sort) &&
            continue
        echo "differs with $way"
        return 1
    done
}

# The same for a preloaded tool, $1, in both places.
same_in_any_place() {
    local before="--preload $libs/$1.so" behind="--behind $libs/$1.so"
    same_tool "$before,$behind,--inert $before,--inert $behind" "$before" \
        "${@:2}"
}

@test "a tool counts the same calls in either order" {
    same_in_any_place count "$world/attr"
    same_in_any_place count "$world/errh"
    same_in_any_place next "$world/attr"
}

@test "a tool sees MPI-IO once, not what the library calls inside" {
    same_in_any_place count "$world/file" "$BATS_TEST_TMPDIR/data"
    same_in_any_place next "$world/file" "$BATS_TEST_TMPDIR/data"
}

@test "a tool of a Fortran program" {
    mpifort.mpich "$BATS_TEST_DIRNAME/world/f77.f" -o "$BATS_TEST_TMPDIR/f77"
    same_in_any_place count "$BATS_TEST_TMPDIR/f77"
}

@test "a tool behind offload and progress threads, and two tools" {
    local count="--behind $libs/count.so" next="--behind $libs/next.so" tool
    for tool in "$count" "$next" "$count $next" "$next $count"; do
        same_tool "--offload $tool,--thread $tool,--knob offload=yes $tool" \
            "${tool//behind/preload}" "$world/attr"
    done
    # they are there, and did not step aside
    run ghosts --offload --report $next "$world/attr"
    ended_with 0
    printed 'offload'
}

@test "a tool that the program is linked with" {
    same_tool "--inert,-g 1,--offload,--thread,--knob offload=yes" "" \
        "$BATS_FILE_TMPDIR/linked"
}

@test "functions from libmpich's own handle, and in a plugin bound to it" {
    same_everywhere 2 "$world/handle" "$libs/plugin.so"
}

@test "libmpich that only a plugin brings in" {
    same_everywhere 3 "$world/load" "$libs/plugin.so"
    # Python has an environ of its own, which libucs of UCX 1.18 would not find
    # past it (RTLD_DEEPBIND): plain runs crash.
    same_everywhere 3 python3 -c '
import ctypes, os, sys
plugin = ctypes.CDLL(sys.argv[1], os.RTLD_NOW)
sys.exit(plugin.plugin_run())' "$libs/plugin.so"
}

@test "where symbols cannot be changed, that is said" {
    cat >"$BATS_TEST_TMPDIR/stiff.c" <<'C'
#include <errno.h>
#include <stddef.h>
int mprotect(void *at, size_t bytes, int prot)
{
    (void)at, (void)bytes, (void)prot;
    errno = EACCES;
    return -1;
}
C
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/stiff.so" "$BATS_TEST_TMPDIR/stiff.c"
    run ghosts -n 2 --behind "$BATS_TEST_TMPDIR/stiff.so" "$world/life"
    printed 'aspen: the symbols of libmpich cannot be changed \(Permission'
    [ "$(grep -c 'cannot be changed' <<<"$output")" -eq 1 ]
}
