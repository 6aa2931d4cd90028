# SPDX-License-Identifier: BSD-3-Clause
# libaspen.so preloaded where it has nothing to do: it must cost nothing, change
# nothing and obey nobody.

load helpers

setup_file() {
    export lib=$ASPEN_BUILD/runtime/.libs/libaspen.so
    # A layout that no decoder takes: whoever reads it complains.
    export broken='aspen-layout/1 job=1.0 broken end'
}

setup() {
    # A setuid program and its library must be readable for other users.
    chmod 755 "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
}

# One rank under mpiexec with the words of the environment given first.
one_rank() {
    timeout -k 5 50 mpiexec.mpich -n 1 env "$@"
}

@test "library runs nothing when it is loaded and needs only libc" {
    run readelf -Wd "$lib"
    ended_with 0
    # 8 bytes are the compiler's frame_dummy.
    printed 'INIT_ARRAYSZ\) +8 '
    [ "$(grep -c NEEDED <<<"$output")" -eq 1 ]
    printed 'NEEDED.*libc\.so'
}

@test "at most 20 instructions are added to a call" {
    ASPEN_BUILD=$ASPEN_BUILD run timeout -k 5 100 \
        "$ASPEN_TOP/bench/wrapper_cost" --build "$ASPEN_BUILD" --no-time \
        --no-active
    ended_with 0
    printed 'inert adds at most [0-9.]+ instructions'
}

@test "no thread, descriptor, allocation or system call is added" {
    run one_rank "$ASPEN_BUILD/tests/inert_probe"
    ended_with 0
    plain=$output
    run one_rank LD_PRELOAD="$lib" "$ASPEN_BUILD/tests/inert_probe"
    ended_with 0
    [ "$output" = "$plain" ] || { echo "$plain"; echo "$output"; false; }
    printed 'threads [1-9][0-9]* descriptors [1-9]'
    printed 'allocations 0 no system call'
}

@test "shells and programs without MPI do not look at the layout" {
    plain=$(sh -c 'ls /proc/self/fd | wc -l')
    run env LD_PRELOAD="$lib" ASPEN_LAYOUT="$broken" ASPEN_BOARD_FD=77 \
        sh -c 'echo one; cat /proc/self/maps; ls /proc/self/fd | wc -l'
    ended_with 0
    not_printed 'aspen: '
    not_printed 'libmpich|libpmix'
    [ "${lines[0]}" = one ]
    [ "${lines[-1]}" = "$plain" ]
}

@test "an MPI program with a broken layout ends with one message" {
    run one_rank LD_PRELOAD="$lib" ASPEN_LAYOUT="$broken" \
        "$ASPEN_BUILD/examples/hello"
    [ "$status" -ne 0 ]
    [ "$(grep -c 'aspen: .*ending this task' <<<"$output")" -eq 1 ]
    not_printed '^rank 0'
}

@test "a setuid program obeys no layout, also when it must load us" {
    cp "$lib" "$BATS_TEST_TMPDIR"
    mpicc.mpich -Wl,--no-as-needed -o "$BATS_TEST_TMPDIR/probe" \
        "$ASPEN_TOP/examples/hello.c" \
        "$BATS_TEST_TMPDIR/libaspen.so" -Wl,-rpath,"$BATS_TEST_TMPDIR"
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env
        HOME=/tmp ASPEN_LAYOUT="$broken" "$BATS_TEST_TMPDIR/probe")
    run timeout 30 "${as_nobody[@]}"
    ended_with 1
    printed 'aspen: .*ending this task'
    chmod u+s "$BATS_TEST_TMPDIR/probe"
    run timeout 30 "${as_nobody[@]}"
    ended_with 0
    printed '^rank 0 of 1'
    not_printed 'aspen: '
}

@test "a program of another MPI keeps its own functions" {
    cd "$BATS_TEST_TMPDIR"
    cat >other.c <<'C'
#include <stdio.h>
int PMPI_Comm_rank(long a, void *b, int *rank);
int PMPI_Comm_rank(long a, void *b, int *rank)
{
    *rank = 42;
    return a == 7 && !b;
}
int MPI_Comm_rank(long a, void *b, int *rank)
    __attribute__((weak, alias("PMPI_Comm_rank")));
int MPI_Init(int *c, char ***v) { return (c && v) ? 5 : 6; }
C
    cat >main.c <<'C'
#include <stdio.h>
int MPI_Init(int *c, char ***v);
int MPI_Comm_rank(long a, void *b, int *rank);
int main(int c, char **v)
{
    int rank = 0, rc = MPI_Init(&c, &v), same = MPI_Comm_rank(7, NULL, &rank);
    printf("%d %d %d\n", rc, same, rank);
}
C
    gcc -shared -fPIC -w -o libother.so other.c
    gcc -w -o main main.c ./libother.so
    run env LD_PRELOAD="$lib" ASPEN_LAYOUT="$broken" timeout 10 ./main
    ended_with 0
    printed '^5 1 42$'
}

@test "a library loaded in a scope of its own is found" {
    run one_rank LD_PRELOAD="$lib" python3 -c '
import ctypes, os
# As an extension module: libmpich is not in the global scope, and the
# symbols of the module resolve to the preloaded library.
ctypes.CDLL("libmpich.so.12", os.RTLD_NOW | os.RTLD_LOCAL)
ours = ctypes.CDLL(None)
version, sub = ctypes.c_int(), ctypes.c_int()
rc = ours.MPI_Get_version(ctypes.byref(version), ctypes.byref(sub))
print(rc, version.value)
rc = ours.MPI_Init(None, None)
rank = ctypes.c_int(-1)
ours.MPI_Comm_rank(0x44000000, ctypes.byref(rank))
print(rc, rank.value)
ours.MPI_Finalize()'
    ended_with 0
    [ "${lines[0]}" = "0 4" ]
    [ "${lines[1]}" = "0 0" ]
}

@test "calls before init and after finalize behave as without the library" {
    cd "$BATS_TEST_TMPDIR"
    cat >early.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int c, char **v)
{
    int i, f, a, b, n, p;
    char lib[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&i); MPI_Finalized(&f); MPI_Get_version(&a, &b);
    MPI_Get_library_version(lib, &n); MPI_T_init_thread(0, &p);
    printf("%d %d %d %d %d %d\n", i, f, a, b, n, p);
    MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
    MPI_Initialized(&i); MPI_Finalized(&f); MPI_Query_thread(&n);
    printf("%d %d %d %d\n", i, f, p, n);
    MPI_Finalize();
    MPI_Initialized(&i); MPI_Finalized(&f); MPI_Get_version(&a, &b);
    MPI_T_finalize();
    printf("%d %d %d %d\n", i, f, a, b);
    return 0;
}
C
    mpicc.mpich -o early early.c
    run one_rank ./early
    ended_with 0
    plain=$output
    run one_rank LD_PRELOAD="$lib" ./early
    ended_with 0
    [ "$output" = "$plain" ] || { echo "$plain"; echo "$output"; false; }
}
