#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Policy heap=shared: memory from malloc is in reach of the ghosts, and malloc
# stays malloc. Without Slurm, but for the last tests.

load helpers

setup() {
    heap=$ASPEN_BUILD/tests/rma_heap
    stress=$ASPEN_BUILD/tests/rma_heap_stress
    lib=$ASPEN_BUILD/runtime/.libs/libaspenheap.so
    yield=$ASPEN_BUILD/tests/.libs/yield.so
}

# Run with the record; ARGUMENTS-OF-ghostrun...
recorded() {
    run ghosts --report "$@"
    ended_with 0
    printed '^ok heap'
}

on_slurm() {
    run on_cluster srun -N2 -n4 "--export=ALL,LD_PRELOAD=$yield" \
        --async-report "$@"
}

@test "windows on memory of malloc and its kin go to ghosts" {
    recorded -n 3 -g 0 "$heap" windows
    recorded -n 3 -g 1 "$heap" windows
    printed 'redirected 0 .*window on private memory .*window 24\)'
    recorded -n 3 -g 1 --heap "$heap" windows
    printed 'redirected [0-9]+ .*accumulate 144, .*window 24\)'
    not_printed native
    recorded -n 4 -g 1 --nodes 2 --heap "$heap" windows
    printed 'redirected [0-9]+ .*window 32\)'
    not_printed native
}

@test "a Fortran allocatable too" {
    recorded -n 3 -g 1 --heap "$ASPEN_BUILD/tests/rma_heap_fortran"
    printed 'redirected [0-9]+ .*window 3\)'
    not_printed native
}

@test "below the threshold, and from before MPI_Init, memory is private" {
    recorded -n 2 -g 1 --heap "$heap" small
    printed 'redirected 0 .*window 16\)'
    recorded -n 2 -g 1 --heap=4 "$heap" small
    printed 'redirected [1-9].*window 16\)'
    recorded -n 2 -g 1 --heap "$heap" early
    printed 'redirected 0 .*from before MPI_Init'
}

@test "an origin does not wait for a target that sleeps" {
    recorded -n 2 -g 0 "$heap" sleep 1000
    plain=$(sed -n 's/^origin took \([0-9]*\) .*/\1/p' <<<"$output")
    recorded -n 2 -g 1 --heap "$heap" sleep 1000
    took=$(sed -n 's/^origin took \([0-9]*\) .*/\1/p' <<<"$output")
    echo "plain $plain ms, shared $took ms"
    ((plain > 900 && took < 600))
}

@test "threads: contents, alignment, zeroes, realloc across the threshold" {
    recorded -n 2 -g 0 "$stress" threads 80
    recorded -n 2 -g 1 "$stress" threads 80
    recorded -n 2 -g 1 --heap "$stress" threads 80
    recorded -n 2 -g 1 --heap=4 "$stress" threads 80
}

@test "memory outlives MPI_Finalize, and is freed after it" {
    recorded -n 2 -g 1 --heap "$stress" end
    [ "$(grep -c '^shared 1$' <<<"$output")" -eq 2 ]
    recorded -n 2 -g 1 "$stress" end
    [ "$(grep -c '^shared 0$' <<<"$output")" -eq 2 ]
}

@test "a child leaves the shared blocks alone; system() works" {
    recorded -n 2 -g 1 --heap "$stress" fork
    [ "$(grep -c '^shared 1$' <<<"$output")" -eq 2 ]
}

@test "where the arena ends the ordinary heap goes on" {
    run bash -c "ulimit -f 200000 && exec timeout -k 5 60 \
        '$ASPEN_TOP/tests/ghostrun' -n 2 -g 1 --heap '$stress' full 110"
    ended_with 0
    printed '^ok heap'
    for shared in $(sed -n 's/^of 110 blocks \([0-9]*\) shared/\1/p' \
        <<<"$output"); do
        ((shared > 40 && shared < 110))
    done
    [ -n "$shared" ]
}

@test "MPI's own allocations may lie there too" {
    run ghosts -n 3 -g 1 --heap=4 "$ASPEN_BUILD/tests/rma_windows" 100
    ended_with 0
    printed '^ok windows'
    run ghosts -n 2 -g 1 --heap=4 "$ASPEN_BUILD/tests/rma_derived" 20
    ended_with 0
    printed '^ok derived'
}

@test "without an offer the library changes nothing" {
    run env LD_PRELOAD="$lib" python3 -c '
import subprocess, threading
blocks = [bytearray(n << 16) for n in range(1, 40)]
workers = [threading.Thread(target=bytearray, args=[1 << 22])
           for _ in range(4)]
[w.start() for w in workers]
[w.join() for w in workers]
print(sum(map(len, blocks)), subprocess.check_output(["echo", "child"]))'
    ended_with 0
    printed "51118080 b'child"
    recorded -n 2 --inert --heap "$stress" end
    [ "$(grep -c '^shared 0$' <<<"$output")" -eq 2 ]
    run env LD_PRELOAD="$lib" bash -c 'ulimit -v 500000; python3 -c "
bytearray(1 << 30)"'
    ended_with 1
    printed MemoryError
}

@test "the policy without the library is said once, and is private" {
    recorded -n 2 -g 1 --knob heap=shared "$heap" windows
    [ "$(grep -c 'libaspenheap.so is not preloaded' <<<"$output")" -eq 1 ]
    printed 'redirected 0'
}

@test "an allocator of the program's own keeps everything" {
    cat >"$BATS_TEST_TMPDIR/own.c" <<'END'
#include <stddef.h>
extern void *__libc_malloc(size_t);
void *malloc(size_t bytes) { return __libc_malloc(bytes); }
END
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/own.so" "$BATS_TEST_TMPDIR/own.c"
    recorded -n 2 -g 1 --heap --behind "$BATS_TEST_TMPDIR/own.so" "$heap" small
    [ "$(grep -c 'brings an allocator of its own' <<<"$output")" -eq 1 ]
    recorded -n 2 -g 1 --heap --behind "$BATS_TEST_TMPDIR/own.so" "$stress" end
    [ "$(grep -c '^shared 0$' <<<"$output")" -eq 2 ]
}

@test "free() of what malloc() did not give ends the program" {
    cat >"$BATS_TEST_TMPDIR/wrong.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    char *volatile block = malloc(1 << 20);
    char *volatile inside = block + (argc > 1 ? 4096 : 0);
    free(inside);
    free(argc > 2 ? NULL : block);
    MPI_Finalize();
}
END
    mpicc.mpich -w -o "$BATS_TEST_TMPDIR/wrong" "$BATS_TEST_TMPDIR/wrong.c"
    for words in '' inside; do
        # shellcheck disable=SC2086
        run ghosts -n 1 -g 1 --heap "$BATS_TEST_TMPDIR/wrong" $words
        [ "$status" -ne 0 ]
        [ "$status" -ne 124 ]
        printed 'an address that malloc\(\) did not give'
    done
}

@test "the library exports malloc's kin and the two ends of the offer" {
    nm -D --defined-only "$lib" | awk '{print $3}' | sort | diff - <(
        sed -n '/global:/,/local:/{//d;p}' \
            "$ASPEN_TOP/runtime/heap/heap_export.map" |
            tr -s ' ;' '\n\n' | sed '/^$/d' | sort)
}

@test "srun --async-progress=ghost:1,heap=shared redirects MPI_Win_create" {
    on_slurm --async-progress=ghost:1,heap=shared "$heap" windows
    ended_with 0
    printed '^ok heap'
    printed 'redirected [0-9]+ .*window 32\)'
    not_printed native
    on_slurm --async-progress=ghost:1 "$heap" windows
    printed '^ok heap'
    printed 'redirected 0 .*native [0-9]+, window on private memory'
}

@test "only jobs that ask for it preload the library, behind libaspen.so" {
    local print='echo "P=$LD_PRELOAD"'
    on_slurm --async-progress=ghost:1,heap=shared sh -c "$print"
    ended_with 0
    [ "$(grep -c "^P=$ASPEN_PREFIX/.*/libaspen.so:$ASPEN_PREFIX/.*/\
libaspenheap.so:$yield\$" <<<"$output")" -eq 4 ]
    on_slurm --async-progress=ghost:1 sh -c "$print"
    ended_with 0
    not_printed libaspenheap
    on_slurm --async-progress=ghost:1,heap=private sh -c "$print"
    not_printed libaspenheap
}

@test "an unknown heap and an absurd threshold are refused in srun" {
    run on_cluster srun --async-progress=ghost:1,heap=share true
    ended_with 1
    printed 'did you mean "shared"'
    run on_cluster srun --async-progress=ghost:1,heap.threshold_kb=1 true
    ended_with 1
    printed '4\.\.1048576'
}
