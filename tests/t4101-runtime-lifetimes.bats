# SPDX-License-Identifier: BSD-3-Clause
# Ways in which programs start and end, with ghosts under plain mpiexec. Where
# mpiexec's status depends on whom it killed first, only failure is asked for.

load helpers

setup_file() {
    export ASPEN_BUILD
    export app=$ASPEN_BUILD/tests/lifetime_app
}

# Three users and a ghost; at most 20 s.
ghosts() {
    timeout -k 5 20 "$ASPEN_TOP/tests/ghostrun" -n 3 "$@"
}

# Nothing that this test started is left behind.
teardown() {
    local pid
    for pid in $(pgrep -f "^$app|aspen-ghost" || true); do
        if grep -qz "^BATS_TEST_TMPDIR=$BATS_TEST_TMPDIR$" \
            "/proc/$pid/environ" 2>/dev/null; then
            echo "left behind: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
            return 1
        fi
    done
}

@test "a program runs to its end and sees only users" {
    run ghosts "$app" normal
    ended_with 0
    [ "${#lines[@]}" -eq 3 ]
    printed '^rank 2 of 3 done, level as wanted$'
}

@test "a hundred starts and ends" {
    for ((i = 0; i < 100; i++)); do
        run ghosts -n 2 "$app" normal
        ended_with 0
        [ "${#lines[@]}" -eq 2 ] || { echo "run $i: $output"; false; }
    done
}

@test "code before MPI_Init runs once per user and never in a ghost" {
    run ghosts -g 2 "$app" once "$BATS_TEST_TMPDIR/once"
    ended_with 0
    [ "$(sort -u "$BATS_TEST_TMPDIR/once" | wc -l)" -eq 3 ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/once")" -eq 3 ]
}

@test "standard input reaches rank 0" {
    run ghosts "$app" stdin <<<"some words"
    ended_with 0
    printed '^rank 0 of 3 read some words$'
    printed '^rank 2 of 3 read some words$'
}

# Later than any limit: none runs before a rank is in MPI_Init.
@test "MPI_Init may come late" {
    run ghosts --knob init.timeout_s=1 --knob ghost.timeout_s=2 "$app" late
    ended_with 0
    printed '^rank 2 of 3 done'
}

@test "programs that never call MPI_Init keep their status, leave no ghost" {
    local mode
    for mode in '-g 1' --offload --thread '-g 1 --knob offload=yes' --off; do
        # shellcheck disable=SC2086
        run ghosts $mode hostname # has no MPI
        ended_with 0
        [ "${#lines[@]}" -eq 3 ]
        not_printed aspen
    done
    run ghosts -g 2 --nodes 2 sh -c 'exit $PMI_RANK'
    ended_with 3 # mpiexec takes all together
    [ -z "$output" ]
    # it ends in MPI_Init's place, by an exec of another program
    run ghosts sh -c 'sleep 0.5; exec sh -c "exit 6"'
    ended_with 6
    [ -z "$output" ]
}

# mpiexec kills the others when one exits so, and takes the status of one that it
# killed for that of the job when those are slow to die. Of ranks it does so
# seldom, also without ghosts, so here they all exit.
@test "exits without MPI_Finalize keep their status" {
    local users
    for users in 1 1 2 2; do
        for _ in 1 2 3 4 5; do
            run_failing ghosts -n $users "$app" exit
            ((status != 3)) || break
        done
        ended_with 3
        not_printed 'aspen'
    done
}

# The watchdogs look once a second; what they did to a file would show.
@test "files under the numbers of descriptors that were closed are left alone" {
    local shape ms=2200
    for shape in '-g 1' '-g 1 --knob adapt=profile' \
        '-g 1 --knob offload=yes' --offload --thread; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $shape "$ASPEN_BUILD/tests/closefrom_app" "$ms"
        ended_with 0
        [ "$(grep -c 'files kept$' <<<"$output")" -eq 2 ]
        not_printed 'aspen:'
        ms=0
    done
}

# UCX wakes a ghost that blocks by a byte from a socket of its own.
@test "nothing is sent into connections under the numbers of descriptors" {
    run ghosts -n 2 "$ASPEN_BUILD/tests/closefrom_sockets_app"
    ended_with 0
    [ "$(grep -c 'connections kept$' <<<"$output")" -eq 2 ]
    not_printed 'aspen:|wakeup signal'
}

@test "MPI_Abort ends the job with its status, at once" {
    begin=$SECONDS
    run_telling ghosts "$app" abort
    ended_with 7
    printed 'MPI_Abort\(MPI_COMM_WORLD, 7\)'
    not_printed 'aspen|BAD TERMINATION'
    [ $((SECONDS - begin)) -lt 10 ]
}

@test "a fatal error ends the job as without ghosts" {
    local command=(with_orphans_ended timeout 20 "$ASPEN_TOP/tests/ghostrun" -n 3)
    run_failing "${command[@]}" -g 0 "$app" fatal
    plain=$status
    [ "$plain" -ne 0 ]
    run_telling "${command[@]}" "$app" fatal
    [ "$status" -eq "$plain" ] || { [ "$(mpich_release)" = 4.2 ] && [ "$status" -ne 0 ]; }
    printed 'Fatal error in .*Send: Invalid rank'
    not_printed 'aspen'
}

@test "a crash, an abort of a part and exits without finalize end the job" {
    for mode in crash abort-self exit exit-one; do
        begin=$SECONDS
        run ghosts "$app" "$mode"
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ] ||
            { echo "$mode ended with $status: $output"; false; }
        not_printed 'aspen'
        [ $((SECONDS - begin)) -lt 10 ]
    done
}

@test "children of a rank may exit and run other programs" {
    run ghosts "$app" fork
    ended_with 0
    [ "$(grep -c 'children good' <<<"$output")" -eq 3 ]
}

@test "four threads talk at once under MPI_THREAD_MULTIPLE" {
    run ghosts -n 4 --nodes 2 "$app" threads
    ended_with 0
    [ "$(grep -c 'threads good' <<<"$output")" -eq 4 ]
    [ "$(grep -c 'level as wanted' <<<"$output")" -eq 4 ]
}

@test "each thread level is granted as without ghosts" {
    cat >"$BATS_TEST_TMPDIR/level.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int provided, queried, is_main, rank;

    MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        printf("%d %d %d\n", provided, queried, is_main);
    MPI_Finalize();
    return 0;
}
C
    mpicc.mpich -o "$BATS_TEST_TMPDIR/level" "$BATS_TEST_TMPDIR/level.c"
    for level in 0 1 2 3; do
        run ghosts -g 0 "$BATS_TEST_TMPDIR/level" $level
        ended_with 0
        plain=$output
        run ghosts "$BATS_TEST_TMPDIR/level" $level
        ended_with 0
        [ "$output" = "$plain" ]
        [ "${output% 1}" = "$level $level" ]
    done
}

@test "a shell script around the program works" {
    run ghosts sh -c "echo before; $app normal && echo after"
    ended_with 0
    [ "$(grep -c '^before$' <<<"$output")" -eq 3 ]
    [ "$(grep -c 'of 3 done' <<<"$output")" -eq 3 ]
    [ "$(grep -c '^after$' <<<"$output")" -eq 3 ]
}

@test "a Python program that starts the MPI program works" {
    run ghosts python3 -c '
import os, subprocess, sys
os.write(1, b"before\n")
sys.exit(subprocess.call([sys.argv[1], "normal"], close_fds=False))' "$app"
    ended_with 0
    [ "$(grep -c '^before$' <<<"$output")" -eq 3 ]
    [ "$(grep -c 'of 3 done' <<<"$output")" -eq 3 ]
}

@test "a Python program that calls MPI itself sees only users" {
    # by way of the program, and of libmpich's own handle
    for handle in 'ctypes.CDLL(None)' libmpich; do
        run ghosts python3 -c "
import ctypes, os
libmpich = ctypes.CDLL('libmpich.so.12', os.RTLD_NOW | os.RTLD_LOCAL)
mpi, world, n = $handle, 0x44000000, ctypes.c_int(-1)
mpi.MPI_Init(None, None)
mpi.MPI_Comm_size(world, ctypes.byref(n))
mpi.MPI_Barrier(world)
os.write(1, b'size %d\\n' % n.value)
mpi.MPI_Finalize()"
        ended_with 0
        [ "$(grep -c '^size 3$' <<<"$output")" -eq 3 ]
    done
}

@test "a program with libmpich.a in it says why Aspen does nothing, at once" {
    gcc "$(mpicc.mpich -show -c | grep -o -- '-I[^ ]*')" \
        -o "$BATS_TEST_TMPDIR/static" "$BATS_TEST_DIRNAME/lifetime_app.c" \
        -pthread "$(mpicc.mpich -show | grep -o -- '-L[^ ]*' || echo -L/)" \
        -Wl,-Bstatic -lmpich -Wl,-Bdynamic -lhwloc -lucp -lucs
    begin=$SECONDS
    for mode in --offload --thread; do
        run ghosts $mode "$BATS_TEST_TMPDIR/static" normal
        ended_with 0
        printed '^rank 2 of 3 done'
        [ "$(grep -c 'libmpich.a): running without' <<<"$output")" -eq 1 ]
    done
    for offload in no yes; do
        run ghosts --knob offload=$offload "$BATS_TEST_TMPDIR/static" normal
        ended_with 1 # asked for: srun would not end the other tasks
        [ "$(grep -c 'libmpich.a): Aspen cannot' <<<"$output")" -eq 1 ]
        not_printed ' done'
    done
    [ $((SECONDS - begin)) -lt 25 ]
    # the program of rank 0 is not concerned
    run ghosts bash -c '
        [ "$PMI_RANK" = 0 ] || exec "$1" normal
        exec "$0" normal' "$app" "$BATS_TEST_TMPDIR/static"
    ended_with 1
    printed 'libmpich.a\): Aspen cannot'
    not_printed ' done'
    run ghosts --inert "$BATS_TEST_TMPDIR/static" normal
    ended_with 0
    not_printed aspen
}

# As far as its device, MPICH's static library over libfabric: Debian has none.
@test "a program with an MPI of its own over libfabric is seen at its device" {
    cat >"$BATS_TEST_TMPDIR/own.c" <<'C'
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
extern const char *const settings[100];
int main(void)
{
    struct fi_fabric_attr attr = {.prov_name = (char *) "none such"};
    struct fid_fabric *fabric;
    printf("%s %d\n", settings[0], fi_fabric(&attr, &fabric, NULL) == 0);
    return 0;
}
C
    { echo 'const char *const settings[100] = {'
      printf '"MPIR_CVAR_%d",\n' {1..100}
      echo '};'; } >"$BATS_TEST_TMPDIR/settings.c"
    gcc -o "$BATS_TEST_TMPDIR/own" "$BATS_TEST_TMPDIR/own.c" \
        "$BATS_TEST_TMPDIR/settings.c" -lfabric
    run ghosts --offload "$BATS_TEST_TMPDIR/own"
    ended_with 0
    printed '^MPIR_CVAR_1 0$' # libfabric has had its word
    [ "$(grep -c 'libmpich.a): running without' <<<"$output")" -eq 1 ]
    run ghosts --inert "$BATS_TEST_TMPDIR/own"
    ended_with 0
    not_printed aspen
}

@test "programs with the address sanitizer run, and it finds what it finds" {
    cat >"$BATS_TEST_TMPDIR/overrun.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile int *box = malloc(4 * sizeof(int));
    int rank, size;
    double *base, one = 1;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE,
                   MPI_SUM, win);
    MPI_Win_fence(0, win);
    printf("rank %d of %d has %g\n", rank, size, *base);
    fflush(stdout);
    box[argc + 2] = 1; /* with an argument one too many */
    free((void *)box);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
C
    mpicc.mpich -g -fsanitize=address \
        -o "$BATS_TEST_TMPDIR/overrun" "$BATS_TEST_TMPDIR/overrun.c"
    # MPICH itself leaks, with Aspen and without
    export ASAN_OPTIONS=detect_leaks=0
    for mode in '-g 1' --offload --thread '-g 1 --knob offload=yes'; do
        # shellcheck disable=SC2086
        run ghosts $mode "$BATS_TEST_TMPDIR/overrun"
        ended_with 0
        printed '^rank 2 of 3 has 1$'
        not_printed ASan
    done
    run ghosts -n 1 "$BATS_TEST_TMPDIR/overrun" too-far
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed 'AddressSanitizer: heap-buffer-overflow'
}

@test "a rank that never joins is named and the job ends" {
    run_telling ghosts --no-board --nodes 2 --knob init.timeout_s=2 bash -c '
        [ "$PMI_RANK" != 2 ] || unset LD_PRELOAD ASPEN_LAYOUT
        exec "$0" "$1"' "$app" late
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed 'aspen: .*1 of 5 ranks of job test.0 did not join within 2 s'
    printed 'rank 2 on n0'
    [ "$(grep -c 'did not join' <<<"$output")" -eq 1 ]
    # with a board the ghost of its node knows at once
    local rank
    for rank in 1 2; do
        run_telling ghosts --nodes 2 bash -c '
            [ "$PMI_RANK" != '$rank' ] || unset LD_PRELOAD ASPEN_LAYOUT
            exec "$0" "$1"' "$app" late
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
        if ((rank == 1)); then # the only one of its node
            printed "the program is in MPI without Aspen's library on n1, .* so the job ends"
        else
            printed "local rank 1 is in MPI without Aspen's library on n0, .* so the job ends"
        fi
    done
}

@test "a world that is not the step's runs without Aspen and says so once" {
    layout='aspen-layout/1 job=9.1 mode=ghost gpn=1 bound=no reason=test'
    layout+=' digest=0 size=4 nnodes=1 node=0 nodes=n0:0-3 service='
    layout+=' task=0:user:0:3:numa-1:h-1:c task=1:user:1:3:numa-1:h-1:c'
    layout+=' task=2:user:2:3:numa-1:h-1:c task=3:ghost:-:-:numa-1:h-1:c end'
    run timeout 20 mpiexec.mpich -n 2 env ASPEN_LAYOUT="$layout" \
        LD_PRELOAD="$ASPEN_BUILD/runtime/.libs/libaspen.so" "$app" normal
    ended_with 0
    [ "$(grep -c 'aspen: MPI started 2 ranks' <<<"$output")" -eq 1 ]
    printed '^rank 1 of 2 done'
}
