#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The offload thread without Slurm. The world tests (t4010 to t4012) run with it
# too.

load helpers

setup_file() {
    # All stories at once; each test looks at its own.
    ASPEN_BUILD=${ASPEN_BUILD:-$BATS_TEST_DIRNAME/../build}
    timeout -k 5 90 "$BATS_TEST_DIRNAME/ghostrun" -n 2 --nodes 2 --offload \
        "$ASPEN_BUILD/tests/offload_stories" >"$BATS_FILE_TMPDIR/stories" 2>&1 ||
        echo "ended with $?" >>"$BATS_FILE_TMPDIR/stories"
}

outside=${ASPEN_BUILD:-$BATS_TEST_DIRNAME/../build}/tests/offload_outside

story() {
    local plain
    grep -qx "story $1: ok" "$BATS_FILE_TMPDIR/stories" || {
        cat "$BATS_FILE_TMPDIR/stories"
        return 1
    }
    # it must say the same of plain MPICH, which counts what is left in 4.2
    plain=$(ghosts -n 2 -g 0 --nodes 2 "$ASPEN_BUILD/tests/offload_stories" \
        "$1" 2>&1 | grep -v 'has pending . references') || true
    [[ $plain == "story $1: ok" ]] || {
        echo "plain MPICH: $plain"
        return 1
    }
}

@test "messages, an accumulate and small sends move while ranks are outside MPI" {
    run ghosts -n 2 --nodes 2 --offload "$outside"
    ended_with 0
    printed '^all stories: ok$'
}

# Over shared memory the receiver takes a large message by itself.
@test "so does what leaves no request" {
    UCX_TLS=tcp,self run ghosts -n 2 --offload "$outside" bsend freed
    ended_with 0
    printed '^story bsend: ok$'
    printed '^story freed: ok$'
}

@test "the program gets the thread level that it asked for" { story level; }
@test "null, inactive, active and freed requests" { story mixed; }
@test "blocking receives from MPI_PROC_NULL" { story nobody; }
@test "4000 requests at once keep their order" { story many; }
@test "generalized requests" { story grequest; }
@test "a request may end by what another of the same Waitall does" {
    story 'moved together'
}
@test "a small send ends before what answers it" { story answered; }
@test "a generalized request ends when the program looks" { story promised; }
@test "errors come back as codes" { story errors; }
@test "error handlers may call MPI" { story handlers; }
@test "other callbacks too, and wait in it" { story callbacks; }
@test "no caller stalls another" { story 'no stall'; }
@test "who waits in a collective call is not disturbed by its thread" {
    story quiet
}

@test "threads make communicators in another order than those of the next rank" {
    story orders
}

@test "what one thread posted another one completes" { story 'handed over'; }
@test "one wait moves a message and operations on a file" { story beside; }
@test "signals, fork and exit of the child" { story processes; }

@test "with nothing to do the thread uses next to nothing" {
    idle_helpers 125 --offload
}

@test "ranks may ask for different thread levels" {
    run ghosts -n 3 --offload "$ASPEN_BUILD/tests/offload_levels"
    ended_with 0
    printed '^levels: ok$'
}

@test "many threads, every kind of call, every byte checked" {
    local users
    for users in 1 2 3; do
        run ghosts -n "$users" --offload "$ASPEN_BUILD/tests/offload_stress" \
            4 1 "$RANDOM"
        ended_with 0
        printed '^[1-9][0-9]* steps, [1-9][0-9]* bytes, 0 wrong$'
    done
}

# sanitized SOURCE...: build with the thread sanitizer in the test's folder.
sanitized() {
    local cflags
    cflags=$(sed -n 's/^MPI_CPPFLAGS = //p' "$ASPEN_BUILD/runtime/Makefile")
    # shellcheck disable=SC2086
    gcc -g -O1 -fsanitize=thread -o "$BATS_TEST_TMPDIR/test" $cflags \
        -I"$ASPEN_BUILD" -I"$ASPEN_TOP" -I"$ASPEN_BUILD/runtime/mpi" \
        -I"$ASPEN_TOP/runtime/mpi" "$@" -lcmocka -lpthread
}

@test "ring, done flags and pool are clean under the thread sanitizer" {
    local in=$ASPEN_TOP/runtime/offload base=$ASPEN_TOP/runtime/base
    local waits=("$base/event.c" "$base/backoff.c" "$base/wait_table.c"
        "$base/await.c" "$base/log.c")
    sanitized "$in/callback_test.c" "$in/callback.c" "$in/command.c" \
        "$in/pending.c" "$in/raised.c" "$in/state.c" "$in/stubs.c" "${waits[@]}"
    run timeout -k 5 120 setarch -R "$BATS_TEST_TMPDIR/test"
    ended_with 0
    printed 'PASSED.*7 test'
    not_printed 'ThreadSanitizer'
    sanitized "$in/offload_test.c" "$in/command.c" \
        "$in/pending.c" "$in/raised.c" "$in/request_pool.c" "$in/state.c" \
        "${waits[@]}"
    # without address randomization, which the sanitizer's map does not expect
    TSAN_OPTIONS=suppressions=$ASPEN_TOP/tests/offload/tsan.supp \
        run timeout -k 5 120 setarch -R "$BATS_TEST_TMPDIR/test"
    ended_with 0
    printed 'PASSED.*10 test'
    not_printed 'ThreadSanitizer'
}

@test "event counts are clean under the thread sanitizer" {
    local in=$ASPEN_TOP/runtime/base
    sanitized "$in/event_test.c" "$in/event.c"
    run timeout -k 5 120 setarch -R "$BATS_TEST_TMPDIR/test"
    ended_with 0
    printed 'PASSED.*7 test'
    not_printed 'ThreadSanitizer'
}

@test "no wake-up can be lost, and no command" {
    run timeout -k 5 60 python3 "$ASPEN_TOP/tests/offload/sleep_model.py"
    ended_with 0
    printed '^ok: an event wakes a thread that waits: holds'
    printed '^ok: .* without the notifier.s fence: breaks'
    not_printed '^WRONG'
}

@test "exit without MPI_Finalize, and MPI_Abort, end the job" {
    cat >"$BATS_TEST_TMPDIR/leave.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int buf;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody is left in MPI_Init */
    MPI_Irecv(&buf, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    exit(5);
}
END
    mpicc.mpich -o "$BATS_TEST_TMPDIR/leave" "$BATS_TEST_TMPDIR/leave.c"
    # alone: mpiexec tells of the first of several that end
    run ghosts -n 1 --offload "$BATS_TEST_TMPDIR/leave" exit
    ended_with 5
    run ghosts -n 2 --offload "$BATS_TEST_TMPDIR/leave" abort
    ended_with 7
}

@test "handlers of exit that were set before MPI_Init may end MPI" {
    local level
    for level in 0 3; do
        run ghosts -n 2 --offload "$ASPEN_BUILD/tests/offload_late" "$level"
        ended_with 0
        printed '^1 of 2, 1$'
    done
}

@test "calls that are allowed at any time do not wait for one that blocks" {
    local level
    for level in 1 3; do # MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE
        run ghosts -n 2 --offload "$ASPEN_BUILD/tests/offload_anytime" "$level"
        ended_with 0
        [ "$output" = "anytime: ok" ]
    done
}

@test "a library may start MPI when it is loaded, and end it when unloaded" {
    local mode plain
    cd "$BATS_TEST_TMPDIR"
    mpicc.mpich -shared -fPIC -o plugin.so "$ASPEN_TOP/tests/offload/plugin.c"
    gcc -o loader "$ASPEN_TOP/tests/offload/loader.c"
    plain=$(ghosts -n 2 -g 0 ./loader ./plugin.so | sort)
    [ "$(wc -l <<<"$plain")" -eq 6 ]
    # the library that yields has a lookup of its own, at its first poll
    for mode in --offload "-g 1 --knob offload=yes" --thread "-g 1"; do
        # shellcheck disable=SC2086
        run ghosts -n 2 --no-yield $mode ./loader ./plugin.so
        echo "with $mode:"
        ended_with 0
        [ "$(sort <<<"$output")" = "$plain" ]
    done
}

@test "what the program has not waited for ends with MPI" {
    local way plain
    # UCX warns of them, with and without Aspen
    export UCX_LOG_LEVEL=error
    for way in world session; do
        # MPICH 4.2 counts what is left.
        plain=$(ghosts -n 2 -g 0 "$ASPEN_BUILD/tests/offload_left" "$way" |
            grep -v 'has pending . references' | sort)
        run ghosts -n 2 --offload "$ASPEN_BUILD/tests/offload_left" "$way"
        ended_with 0
        [ "$(grep -v 'has pending . references' <<<"$output" | sort)" = \
            "$plain" ]
    done
}

@test "MPI_Abort goes past a call that never ends" {
    local way
    for way in alarm thread; do
        run ghosts -n 2 --offload "$ASPEN_BUILD/tests/offload_give_up" "$way"
        ended_with 7
    done
}

@test "error handlers may wait for and free what is under way" {
    local way plain code=1
    ! mpich_since 4.3 || code=0 # a call whose error a handler took succeeds
    for way in wait free waitall; do
        plain=$(ghosts -n 1 -g 0 "$ASPEN_BUILD/tests/offload_nested" "$way")
        run ghosts -n 1 --offload "$ASPEN_BUILD/tests/offload_nested" "$way"
        ended_with 0
        [ "$output" = "$plain" ]
        printed "^1 times told; $code; null null "
    done
}

@test "error handlers may do so, and post, while all of it is waited for" {
    local way plain place
    for way in first all free; do
        plain=$(ghosts -n 2 -g 0 "$ASPEN_BUILD/tests/offload_handled" "$way")
        [ "$plain" = "10 rounds, 0 wrong, then idle" ]
        for place in "" --bind; do
            run ghosts -n 2 --offload $place \
                "$ASPEN_BUILD/tests/offload_handled" "$way"
            ended_with 0
            [ "$output" = "$plain" ]
        done
    done
}

@test "what MPI has completed the next Test says is complete" {
    local level plain
    plain=$(ghosts -n 2 -g 0 "$ASPEN_BUILD/tests/offload_seen" 0)
    [ "$plain" = $'0 missed\n0 missed' ]
    for level in 0 3; do
        run ghosts -n 2 --offload "$ASPEN_BUILD/tests/offload_seen" "$level"
        ended_with 0
        [ "$output" = "$plain" ]
    done
}

# The same of the thread of mode thread, and of ghosts behind.
@test "MPI calls functions of the program while that is in MPI" {
    local level plain how
    for level in 0 3; do
        plain=$(ghosts -n 2 -g 0 "$ASPEN_BUILD/tests/offload_callbacks" \
            "$level")
        for how in --offload --thread "-g 1 --knob offload=yes"; do
            # shellcheck disable=SC2086
            run ghosts -n 2 $how "$ASPEN_BUILD/tests/offload_callbacks" \
                "$level"
            ended_with 0
            [ "$output" = "$plain" ]
            printed '^beside: 0 wrong, 0 calls elsewhere$'
            printed '^errors: 0 wrong, 0 calls elsewhere$'
            not_printed ' [1-9][0-9]* wrong'
        done
    done
    printed '^attributes: 0 wrong'
}

@test "reductions in Fortran share its static arrays with the program" {
    mpifort.mpich -o "$BATS_TEST_TMPDIR/reduce" -J "$BATS_TEST_TMPDIR" \
        "$ASPEN_TOP/tests/offload/reduce.f90"
    local how
    for how in "-g 0" --offload --thread; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $how "$BATS_TEST_TMPDIR/reduce"
        ended_with 0
        printed '^ *0 wrong$'
    done
}

@test "exceptions leave error handlers, and the thread goes on" {
    mpicxx.mpich -o "$BATS_TEST_TMPDIR/throws" \
        "$ASPEN_TOP/tests/offload/throws.cc"
    local how level
    for level in 0 3; do
        run ghosts -n 2 --offload "$BATS_TEST_TMPDIR/throws" "$level"
        ended_with 0
        printed '^5 caught, 2 together$'
    done
}

@test "exit in a function that MPI calls ends the rank at once" {
    cat >"$BATS_TEST_TMPDIR/leave.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
static void leave(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void) in, (void) out, (void) n, (void) type;
    exit(6);
}
int main(int argc, char **argv)
{
    int one = 1, sum = 0;
    MPI_Request request;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Op_create(leave, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    if (argc > 1)
        exit(6); /* while the thread waits for somebody who runs it */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 0;
}
END
    mpicc.mpich -o "$BATS_TEST_TMPDIR/leave" "$BATS_TEST_TMPDIR/leave.c"
    for early in '' early; do
        run_failing ghosts -n 2 --offload "$BATS_TEST_TMPDIR/leave" $early
        ended_with 6
    done
}

@test "callbacks have the program's stack at least" {
    (
        ulimit -s unlimited
        run ghosts -n 2 --offload "$ASPEN_BUILD/tests/offload_deep"
        ended_with 0
        printed '^sum 2$'
    )
}

@test "started and ended again and again" {
    local i
    printf '%s\n' '#include <mpi.h>' 'int main(void) {' \
        'MPI_Init(0, 0); MPI_Finalize(); return 0; }' >"$BATS_TEST_TMPDIR/i.c"
    mpicc.mpich -o "$BATS_TEST_TMPDIR/i" "$BATS_TEST_TMPDIR/i.c"
    for ((i = 0; i < 10; i++)); do
        run ghosts -n 2 --offload "$BATS_TEST_TMPDIR/i"
        ended_with 0
        [ -z "$output" ]
    done
}

@test "without a CPU for the thread the program runs plain, and says so" {
    export ASPEN_LAYOUT="aspen-layout/1 job=test.0 mode=offload gpn=0 \
bound=yes reason=no%20CPU digest=0 size=1 nnodes=1 node=0 nodes=n0:0 service= \
task=0:user:0:-:numa-1:h-1:c0 end"
    LD_PRELOAD=$ASPEN_BUILD/runtime/.libs/libaspen.so \
        run timeout -k 5 60 mpiexec.mpich -n 1 \
        "$ASPEN_BUILD/tests/offload_stress" 1 0.1
    ended_with 0
    printed 'aspen: no CPU for the offload threads: .*; running without Aspen'
    printed ' 0 wrong$'
}

@test "another world than the step's runs plain, with a thread of neither kind" {
    local mode
    for mode in offload thread; do
        export ASPEN_LAYOUT="aspen-layout/1 job=test.0 mode=$mode gpn=0 \
bound=no reason= digest=0 size=1 nnodes=1 node=0 nodes=n0:0 service= \
task=0:user:0:-:numa-1:h-1:c0 end"
        ASPEN_LOCAL=0 ASPEN_REPORT=1 \
            LD_PRELOAD=$ASPEN_BUILD/runtime/.libs/libaspen.so \
            run timeout -k 5 60 mpiexec.mpich -n 2 \
            "$ASPEN_BUILD/tests/offload_levels"
        ended_with 0
        printed '^levels: ok$'
        printed 'aspen: MPI started 2 ranks where job test.0 has 1 tasks; running w'
        not_printed "$mode mode"
    done
}

@test "a rank without its thread takes part, and is counted in the record" {
    export ASPEN_LAYOUT="aspen-layout/1 job=test.0 mode=offload gpn=0 \
bound=yes reason= digest=0 size=2 nnodes=1 node=0 nodes=n0:0,1 service= \
task=0:user:0:-:numa-1:h1:c0 task=1:user:1:-:numa-1:h-1:c0 end"
    LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so:$ASPEN_BUILD/runtime/.libs/libaspen.so \
        ASPEN_REPORT=1 run timeout -k 5 60 mpiexec.mpich -n 2 \
        "$ASPEN_BUILD/tests/offload_levels"
    ended_with 0
    printed '^levels: ok$'
    printed 'offload mode, 2 ranks on 1 node, a thread in 1 of them, bound; '
}
