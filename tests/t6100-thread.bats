#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The sleeping progress thread without Slurm. The world tests (t4010 to t4012)
# run with it too.

load helpers

habits() {
    run ghosts -n 2 "$@" --report "$ASPEN_BUILD/tests/progress_habits" "$level"
    ended_with 0
    printed '^level kept$'
    for story in asleep patient persistent collective endings; do
        printed "^story $story: ok$"
    done
    printed '^aspen: thread mode, 2 ranks .* [1-9][0-9]* operations watched'
}

@test "it sleeps, and wakes for what is large; MPI's thread level stays" {
    for level in single funneled multiple; do habits --nodes 2 --thread; done
}

@test "with nothing to do it uses next to nothing" {
    idle_helpers 2 --thread
}

@test "so it does on service CPUs, and within a node" {
    local cpu
    cpu=$(taskset -pc $$ | sed 's/.*[:,-] *//')
    level=serialized
    habits "--thread=$cpu"
    printed 'a thread each, on the service CPUs; '
}

@test "service CPUs out of reach: it stays where it is, and the record says so" {
    level=funneled
    habits --thread=1023
    printed '0 of them on the service CPUs, which are out of reach'
}

@test "what programs do with offload threads they do with this one" {
    local story
    run ghosts -n 2 --nodes 2 --thread "$ASPEN_BUILD/tests/offload_stories" \
        level mixed many grequest answered errors handlers callbacks \
        'no stall' processes
    ended_with 0
    for story in level mixed many grequest answered errors handlers \
        callbacks 'no stall' processes; do
        printed "^story $story: ok$"
    done
    run ghosts -n 2 --nodes 2 --thread "$ASPEN_BUILD/tests/offload_outside" \
        outside
    ended_with 0
    printed '^story outside: ok$'
}

@test "smaller messages than thread.min_kb are left alone" {
    run ghosts -n 2 --nodes 2 --thread --knob thread.min_kb=8192 --report \
        "$ASPEN_BUILD/tests/offload_stories" mixed many
    ended_with 0
    printed ' 0 operations watched, 0 wakes, 0 polls;'
}

@test "many threads, every kind of call, every byte checked" {
    local users
    for users in 1 2 3; do
        run ghosts -n "$users" --thread --knob thread.min_kb=0 \
            "$ASPEN_BUILD/tests/offload_stress" 4 1 "$RANDOM"
        ended_with 0
        printed '^[1-9][0-9]* steps, [1-9][0-9]* bytes, 0 wrong$'
    done
}

@test "never beside MPICH's own progress thread" {
    MPIR_CVAR_ASYNC_PROGRESS=yes run ghosts -n 2 --thread --report \
        "$ASPEN_BUILD/tests/offload_stress" 1 0.1
    ended_with 0
    printed "^aspen: MPICH's own progress thread is asked for"
    printed ' 0 wrong$'
    not_printed 'thread mode'
}

@test "sessions without MPI_Init run plain, and a line says so" {
    cat >"$BATS_TEST_TMPDIR/session.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    puts("done");
    return 0;
}
EOF
    mpicc.mpich -o "$BATS_TEST_TMPDIR/session" "$BATS_TEST_TMPDIR/session.c"
    run ghosts -n 1 --thread "$BATS_TEST_TMPDIR/session"
    ended_with 0
    printed '^aspen: mode thread .*sessions.*; running without Aspen$'
    printed '^done$'
}

@test "exit without MPI_Finalize, and MPI_Abort, end the job" {
    cat >"$BATS_TEST_TMPDIR/leave.c" <<'EOF'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static char buf[1 << 20];
int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody is left in MPI_Init */
    MPI_Irecv(buf, 1 << 20, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    exit(5);
}
EOF
    mpicc.mpich -o "$BATS_TEST_TMPDIR/leave" "$BATS_TEST_TMPDIR/leave.c"
    ends_with_status 5 ghosts -n 2 --thread "$BATS_TEST_TMPDIR/leave" exit
    ends_with_status 7 ghosts -n 2 --thread "$BATS_TEST_TMPDIR/leave" abort
}

@test "the record as JSON" {
    local file=$BATS_TEST_TMPDIR/record.json
    run ghosts -n 2 --nodes 2 --thread "--report=$file" \
        "$ASPEN_BUILD/tests/offload_outside" outside
    ended_with 0
    python3 - "$file" <<'EOF'
import json, sys
record = json.load(open(sys.argv[1]))
assert record["mode"] == "thread", record
assert record["thread"]["watched"] == 4, record
assert record["thread"]["polls"] > 0, record
EOF
}

@test "each operation over thread.min_kb is counted, and no other" {
    local file=$BATS_TEST_TMPDIR/record.json
    cat >"$BATS_TEST_TMPDIR/count.c" <<'EOF'
#include <mpi.h>
static int in[4096], out[4096], me;
static MPI_Request requests[2];
static void exchange(int count, MPI_Datatype type)
{
    MPI_Irecv(in, count, type, 1 - me, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, type, 1 - me, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    exchange(8192, MPI_BYTE);
    exchange(8193, MPI_BYTE); /* 2 */
    exchange(2048, MPI_INT);
    exchange(2049, MPI_INT);  /* 4 */
    MPI_Recv_init(in, 2049, MPI_INT, 1 - me, 1, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < 3; i++) { /* 7 */
        MPI_Start(&requests[0]); /* before the sends, which may wait for it */
        MPI_Send(out, 2049, MPI_INT, 1 - me, 1, MPI_COMM_WORLD);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]); /* 8 */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
EOF
    mpicc.mpich -o "$BATS_TEST_TMPDIR/count" "$BATS_TEST_TMPDIR/count.c"
    run ghosts -n 2 --thread "--report=$file" "$BATS_TEST_TMPDIR/count"
    ended_with 0
    run python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["thread"]["watched"])' "$file"
    printed '^16$'
}

@test "the plan keeps service cores, and says when there are none" {
    run "$ASPEN_BUILD/tools/aspen" explain --progress thread --tasks 6 \
        --topology 'pack:2 core:4 pu:1'
    ended_with 0
    printed '\bS\b'
    run "$ASPEN_BUILD/tools/aspen" explain --topology 'core:4 pu:1' \
        --progress thread,thread.service_cores=2 --tasks 3
    printed '4 cores for 3 users and 2 service cores'
}
