# SPDX-License-Identifier: BSD-3-Clause
# Which MPI a program has is told by what its library is. Here: the installed
# MPICH under the name that MPICH's own build gives it, and an MPI that is not
# MPICH.

load helpers

setup_file() {
    export other=$BATS_FILE_TMPDIR/other
    mkdir "$other"
    for file in "$ASPEN_BUILD"/tests/world/{comm,attr} \
        "$ASPEN_BUILD/examples/rma_stall" \
        "$(ldd "$ASPEN_BUILD/tests/world/comm" |
            awk '$1 == "libmpich.so.12" {print $3}')"; do
        called_libmpi "$file" "$other/${file##*/}"
    done
    mv "$other"/libmpich.so.12 "$other/libmpi.so.12"
    # its device; elsewhere there may be none
    export ucx
    ucx=$(ldd "$other/libmpi.so.12" | awk '$1 == "libucp.so.0" {print $3}')
}

# Copy a program or library, with libmpi.so.12 wherever it says libmpich.so.12.
called_libmpi() {
    python3 - "$1" "$2" <<'PY'
import os, sys
data = open(sys.argv[1], "rb").read()
name = b"libmpich.so.12\0"
assert name in data
open(sys.argv[2], "wb").write(data.replace(name, b"libmpi.so.12\0\0\0"))
os.chmod(sys.argv[2], 0o755)
PY
}

# Run with that library.
elsewhere() { LD_LIBRARY_PATH=$other ghosts "$@"; }

@test "a library called libmpi.so.12 is MPICH's in all modes" {
    diff <(ghosts -n 3 -g 0 "$ASPEN_BUILD/tests/world/comm" 2>&1 | sort) \
        <(elsewhere -n 3 "$other/comm" 2>&1 | sort)
    for mode in --off --offload --thread '--knob offload=yes'; do
        # shellcheck disable=SC2086
        run elsewhere -n 3 $mode --report="$BATS_TEST_TMPDIR/record" "$other/attr"
        ended_with 0
        not_printed 'the MPI of'
        grep -q '"MPICH Version' "$BATS_TEST_TMPDIR/record"
    done
}

@test "ghosts load the library of their ranks, and serve" {
    run elsewhere -n 2 "$other/rma_stall"
    ended_with 0
    printed 'updates took: [0-4]?[0-9]?[0-9]\.' # plain: 500
    # it is not where another would be found
    run env -u LD_LIBRARY_PATH "$ASPEN_TOP/tests/ghostrun" -n 2 env \
        LD_LIBRARY_PATH="$other" "$other/rma_stall"
    ended_with 0
    printed 'updates took: [0-4]?[0-9]?[0-9]\.' # plain: 500
}

# Set lost to a copy of $other, and replace to a command that runs another with
# the libraries there. In a process that preloads replace.so a file of it ($2,
# libmpi.so.12) is removed, or replaced by $1, as soon as the process has loaded
# it.
replacing() {
    cp -r "$other" "$BATS_TEST_TMPDIR/lost"
    cp -L "${ucx%/*}"/libuc[mpst].so.0 "$BATS_TEST_TMPDIR/lost"
    cat >"$BATS_TEST_TMPDIR/replace.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void replace(void)
{
    const char *lost = getenv("LOST"), *by = getenv("LOST_BY");
    if (lost && by)
        rename(by, lost);
    else if (lost)
        unlink(lost);
}
C
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/replace.so" \
        "$BATS_TEST_TMPDIR/replace.c"
    lost=$BATS_TEST_TMPDIR/lost
    replace=(env "LOST=$lost/${2-libmpi.so.12}" "LD_LIBRARY_PATH=$lost"
        ${1:+"LOST_BY=$1"})
}

# Copy library $1 to $2, with another build id.
another_build() {
    objcopy -O binary --only-section=.note.gnu.build-id "$1" \
        "$BATS_TEST_TMPDIR/note"
    python3 - "$1" "$BATS_TEST_TMPDIR/note" "$2" <<'PY'
import sys
data, note = (open(name, "rb").read() for name in sys.argv[1:3])
assert data.count(note) == 1
new = note[:16] + bytes(4) + note[20:]  # behind the header and "GNU"
open(sys.argv[3], "wb").write(data.replace(note, new))
PY
}

@test "nodes whose LD_LIBRARY_PATH leads to different builds are told, once" {
    mkdir "$BATS_TEST_TMPDIR/second"
    another_build "$other/libmpi.so.12" "$BATS_TEST_TMPDIR/second/libmpi.so.12"
    # shellcheck disable=SC2016
    run ghosts -n 4 --nodes 2 bash -c '
        export LD_LIBRARY_PATH=$0
        ((PMI_RANK % 2)) || LD_LIBRARY_PATH=$1
        exec "${@:2}"' "$BATS_TEST_TMPDIR/second" "$other" "$other/rma_stall"
    ended_with 0
    printed "aspen: the ranks have two builds of MPI, $other/libmpi.so.12 \\(build-id:[0-9a-f]+\\.\\.\\.\\) in rank 0 on n0, and .*/second/libmpi.so.12 \\(build-id:00000000[0-9a-f]+\\.\\.\\.\\) in rank 1 on n1: does LD_LIBRARY_PATH"
    [ "$(grep -c 'two builds' <<<"$output")" -eq 1 ]
    run ghosts -n 2 --nodes 2 env LD_LIBRARY_PATH="$other" "$other/rma_stall"
    ended_with 0
    not_printed 'two builds'
}

@test "a ghost whose library cannot be loaded ends the job with the reason" {
    replacing
    run_failing "${replace[@]}" timeout 60 "$ASPEN_TOP/tests/ghostrun" -n 1 \
        --preload "$BATS_TEST_TMPDIR/replace.so" "$other/rma_stall"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed "aspen-ghost: the MPI library of the ranks cannot be loaded into the ghost: $lost/libmpi.so.12"
}

@test "a ghost that finds another build than its ranks ends the job with both" {
    another_build "$other/libmpi.so.12" "$BATS_TEST_TMPDIR/new"
    replacing "$BATS_TEST_TMPDIR/new"
    run_failing "${replace[@]}" timeout 60 "$ASPEN_TOP/tests/ghostrun" -n 1 \
        --preload "$BATS_TEST_TMPDIR/replace.so" "$other/rma_stall"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed "aspen-ghost: $lost/libmpi.so.12 is another build of MPI here \\(build-id:00000000[0-9a-f]+\\.\\.\\.\\) than in the ranks of this node \\(build-id:[0-9a-f]+"
}

# Which files of UCX a ghost has, it says at its end.
@test "ghosts load the files of their ranks' UCX, too, or a line says why not" {
    [ -n "$ucx" ] || skip "this MPICH has no UCX"
    cat >"$BATS_TEST_TMPDIR/tell.c" <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
static int tell(struct dl_phdr_info *object, size_t size, void *arg)
{
    if (strstr(object->dlpi_name, "/libuc"))
        fprintf(stderr, "ghost: %s\n", object->dlpi_name);
    return 0;
}
__attribute__((destructor)) static void end(void)
{
    dl_iterate_phdr(tell, NULL);
}
C
    gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/tell.so" "$BATS_TEST_TMPDIR/tell.c"
    another_build "$ucx" "$BATS_TEST_TMPDIR/new"
    for how in kept gone new; do
        rm -rf "$BATS_TEST_TMPDIR/lost"
        file=libucp.so.0 by=
        [ $how != kept ] || file=none
        [ $how != new ] || by=$BATS_TEST_TMPDIR/new
        replacing "$by" $file
        run ghosts -n 1 --preload "$BATS_TEST_TMPDIR/replace.so" \
            --ghost-preload "$BATS_TEST_TMPDIR/tell.so" \
            "${replace[@]}" "$other/rma_stall"
        ended_with 0
        for part in m s t; do printed "ghost: $lost/libuc$part.so.0"; done
        case $how in
            kept)
                printed "ghost: $lost/libucp.so.0"
                not_printed '^aspen-ghost:'
                ;;
            gone) printed "^aspen-ghost: a library of the ranks cannot be loaded into the ghost, which takes what it finds: $lost/libucp.so.0" ;;
            new) printed "^aspen-ghost: $lost/libucp.so.0 is another build here \\(build-id:[0-9a-f]+\\.\\.\\.\\) than in the ranks of this node \\(build-id:" ;;
        esac
    done
}

# The only rank of the second node has no libaspen.so.
@test "a rank without Aspen is seen when its library was replaced or is gone" {
    for by in '' "$BATS_TEST_TMPDIR/new"; do
        rm -rf "$BATS_TEST_TMPDIR/lost"
        cp "$other/libmpi.so.12" "$BATS_TEST_TMPDIR/new"
        replacing "$by"
        # shellcheck disable=SC2016
        run_telling timeout 60 "$ASPEN_TOP/tests/ghostrun" -n 2 --nodes 2 \
            --knob init.timeout_s=2 bash -c '
            case $PMI_RANK in
                0) export LD_LIBRARY_PATH=$0; exec "${@: -1}" ;;
                1) unset ASPEN_LAYOUT; exec env LD_PRELOAD="$1" "${@:2}" ;;
            esac' "$other" "$BATS_TEST_TMPDIR/replace.so" "${replace[@]}" \
            "$other/rma_stall"
        [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
        printed "the program is in MPI without Aspen's library on n1, .* so the job ends"
    done
}

# Each process has a folder of its own for Open MPI's sessions: two that are on
# their own fail now and then when they make one.
@test "a program of Open MPI runs plain in all modes, and that is said" {
    cat >"$BATS_TEST_TMPDIR/hello.py" <<'PY'
import os, tempfile
with tempfile.TemporaryDirectory() as os.environ["TMPDIR"]:
    from mpi4py import MPI
    print("sum %d of %d" % (MPI.COMM_WORLD.allreduce(1), MPI.COMM_WORLD.size))
    MPI.Finalize()
PY
    plain='aspen: the MPI of this program is Open MPI v.*, and Aspen works with MPICH: running without Aspen'
    for mode in '' --offload --thread --off; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $mode /usr/bin/python3 "$BATS_TEST_TMPDIR/hello.py"
        ended_with 0
        # mpiexec may put both on one line
        [ "$(grep -o 'sum 1 of 1' <<<"$output" | wc -l)" -eq 2 ]
        [ "$(grep -o "$plain" <<<"$output" | wc -l)" -eq 1 ]
    done
}

@test "with require such a program does not run, and that is said" {
    echo 'from mpi4py import MPI; print("went on")' >"$BATS_TEST_TMPDIR/hello.py"
    for mode in '' --offload --thread; do
        # shellcheck disable=SC2086
        run timeout 60 "$ASPEN_TOP/tests/ghostrun" -n 2 $mode --knob require=yes \
            /usr/bin/python3 "$BATS_TEST_TMPDIR/hello.py"
        [ "$status" -ne 0 ]
        [ "$status" -ne 124 ]
        not_printed 'went on'
        printed 'aspen: the MPI of this program is Open MPI v.*, so the job ends'
    done
    printed 'the request says require, so the job ends'
}

# As MPICH 5.0.1 builds libmpi_abi.so.1: no PMPI_ names.
@test "a library that defines MPI_ names alone runs plain, and that is said" {
    cd "$BATS_TEST_TMPDIR"
    cat >abi.c <<'C'
#include <stdio.h>
int MPI_Init(int *argc, char ***argv) { return 0; }
int MPI_Finalize(void) { return puts("ran") < 0; }
int MPI_Comm_size(void *comm, int *size) { return 1; }
int MPI_Type_commit(void **type) { return 1; }
double MPI_Wtime(void) { return 0; }
int MPI_Get_library_version(char *text, int *len)
{
    return (*len = sprintf(text, "Somebody's MPI 1.0")) < 0;
}
C
    echo 'int MPI_Init(int *, char ***), MPI_Finalize(void);
int main(void) { return MPI_Init(0, 0) + MPI_Finalize(); }' >program.c
    gcc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 -o libmpi_abi.so.1 abi.c
    gcc -o program program.c -L. -l:libmpi_abi.so.1 -Wl,-rpath,"$PWD"
    is="aspen: the MPI of this program is Somebody's MPI 1.0 \\(libmpi_abi.so.1\\), and Aspen works with MPICH by its PMPI_ names"
    for mode in --offload --thread --off; do
        run ghosts -n 2 $mode ./program
        ended_with 0
        [ "$(grep -o ran <<<"$output" | wc -l)" -eq 2 ]
        [ "$(grep -oE "$is: running without Aspen" <<<"$output" | wc -l)" -eq 1 ]
    done
    run_failing timeout 60 "$ASPEN_TOP/tests/ghostrun" -n 2 ./program
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
    printed "$is: Aspen cannot give it a world without ghosts, so the job ends"
}

@test "a rank that comes late is waited for, and each node says which MPI it has" {
    # shellcheck disable=SC2016
    run ghosts -n 3 --nodes 2 --knob init.timeout_s=2 sh -c \
        '[ "$PMI_RANK" -ne 0 ] || sleep 5; exec "$0" off' \
        "$ASPEN_BUILD/tests/world/comm"
    ended_with 0
    [ "$(grep -cE 'MPI_Init has lasted 2 s: .* MPI is /.*/libmp' <<<"$output")" -ge 1 ]
}

@test "a second MPI in one process is named, and MPICH's is the one that works" {
    cat >"$BATS_TEST_TMPDIR/two.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int one = 1, sum;
    MPI_Init(NULL, NULL);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
C
    mpicc.mpich -o "$BATS_TEST_TMPDIR/two" "$BATS_TEST_TMPDIR/two.c" \
        -Wl,--no-as-needed -lmpich -l:libmpi.so.40
    for mode in '' --offload --thread --off; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $mode "$BATS_TEST_TMPDIR/two"
        ended_with 0
        [ "$(grep -o 'sum 2' <<<"$output" | wc -l)" -eq 2 ]
        [ "$(grep -oE 'two MPI libraries, MPICH .* and Open MPI .*: all of its calls go to the first' <<<"$output" | wc -l)" -eq 1 ]
    done
}

@test "where the second is MPICH the program's calls go to the first, as without Aspen" {
    cat >"$BATS_TEST_TMPDIR/first.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    MPI_Init(NULL, NULL);
    MPI_Get_library_version(text, &n);
    printf("%.8s\n", text);
    MPI_Finalize();
    return 0;
}
C
    gcc $(mpicc.mpich -compile_info | tr ' ' '\n' | grep '^-I') \
        -o "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/first.c" \
        -Wl,--no-as-needed -l:libmpi.so.40 -lmpich
    for mode in '' --offload --thread --off; do
        # shellcheck disable=SC2086
        run ghosts -n 1 $mode "$BATS_TEST_TMPDIR/first"
        ended_with 0
        printed 'Open MPI'
        printed 'the MPI of this program is Open MPI .*: running without Aspen'
    done
}
