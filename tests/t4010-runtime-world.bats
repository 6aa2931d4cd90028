# SPDX-License-Identifier: BSD-3-Clause
# The program sees the users as its world, in every respect that a program can
# print: each one runs plain, with an idle library, and with ghosts.

load helpers

setup_file() {
    export world=$ASPEN_BUILD/tests/world
}

@test "communicators, groups and topologies" {
    same_everywhere 4 "$world/comm"
}

@test "attributes, the handles that callbacks see, and the order at the end" {
    same_everywhere 3 "$world/attr"
}

@test "error handlers and who inherits them" {
    same_everywhere 3 "$world/errh"
}

@test "files" {
    same_everywhere 3 "$world/file" "$BATS_TEST_TMPDIR/data"
}

@test "a program of sessions only" {
    same_everywhere 3 "$world/session" alone
}

@test "sessions that begin when all have ended, from MPICH 4.2 on" {
    [ "$(mpich_release)" != 4.2 ] || same_everywhere 3 "$world/session" again
}

@test "sessions before, inside and after MPI_Init" {
    # MPICH 4.2 itself crashes at the end of such a program; 5.0 takes the thread
    # level of what begins later, and with ghosts Aspen's own is the first.
    [[ $(mpich_release) =~ ^(4.2|5.0)$ ]] || same_everywhere 2 "$world/session" before
    same_everywhere 2 "$world/session" inside
    same_everywhere 2 "$world/session" after
}

@test "calls before MPI_Init and after MPI_Finalize, thread levels" {
    same_everywhere 2 "$world/life" 0
    same_everywhere 2 "$world/life" 1
    same_everywhere 2 "$world/life" 3
}

@test "what MPI 4.1 brought, and MPICH since 4.1, where it is installed" {
    same_everywhere 3 "$world/mpi41"
}

@test "what MPI 5.0 brought, and MPICH since 4.3, where it is installed" {
    same_everywhere 3 "$world/mpi50"
}

@test "a thread communicator works, or is refused beside an offload thread" {
    local plain
    plain=$(ghosts -n 2 -g 0 "$world/mpi41" threadcomm)
    for mode in --inert '-g 1' --thread; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $mode "$world/mpi41" threadcomm
        ended_with 0
        diff <(sort <<<"$plain") <(sort <<<"$output")
    done
    [[ $plain == *older* ]] && return
    run_failing ghosts -n 2 --offload "$world/mpi41" threadcomm
    [ "$status" -ne 0 ]
    printed '^aspen: MPIX_Threadcomm_init fails beside an offload thread: the threads of a thread communicator are ranks, .*use --async-progress=ghost, thread or off$'
}

@test "one user rank" {
    same_everywhere 1 "$world/attr"
    same_everywhere 1 "$world/session" alone
}

@test "the universe has no ghosts" {
    run ghosts --mpiexec -usize --mpiexec 9 -n 3 -g 0 "$world/attr"
    ended_with 0
    printed '0: universe_size is 9'
    run ghosts --mpiexec -usize --mpiexec 9 -n 3 -g 1 "$world/attr"
    ended_with 0
    printed '0: universe_size is 8'
}

fails() {
    run_failing with_orphans_ended timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 3 "$@"
}

@test "MPI_Abort and fatal errors end everything with the same status" {
    for how in abort abort-self fatal; do
        fails -g 0 "$world/life" 0 $how
        plain=$status
        [ "$plain" -ne 0 ]
        fails -g 1 "$world/life" 0 $how
        # After abort-self mpiexec kills the rest, and whom it names varies.
        # With 4.2, too, after an error on a communicator that is not MPI's own
        # world, as that of the users.
        if [ $how = abort-self ] || [[ $how == fatal && $(mpich_release) == 4.2 ]]; then
            [ "$status" -ne 0 ]
        else
            ended_with "$plain"
        fi
        not_printed 'after: '
    done
}

@test "handles that are none: MPI's errors" {
    same_everywhere 2 "$world/stray"
}

# MPI is told that its processes share no memory, which is what MPICH 5.0 says of
# UCX; and each layout is what the plugin writes when an agent is lost.
@test "who shares a node is known where MPI and the agent do not tell" {
    degraded=$BATS_TEST_TMPDIR/degraded
    cat >"$degraded" <<'SH'
#!/bin/sh
export ASPEN_LOCAL=$((PMI_RANK / 2))
ASPEN_LAYOUT=$(printf %s "$ASPEN_LAYOUT" | sed -E 's/ nodes=[^ ]*//
    s/ task=[0-9]+:(user|ghost):[^ ]*/ task=-:\1:-:-:numa-1:h-1:c/g')
export ASPEN_LAYOUT
exec "$@"
SH
    printf '#!/bin/sh\nexec "%s" "%s"\n' "$degraded" \
        "$ASPEN_BUILD/runtime/casper/aspen-ghost" >"$degraded-ghost"
    chmod +x "$degraded" "$degraded-ghost"
    MPIR_CVAR_NOLOCAL=1 run ghosts -n 4 --nodes 2 --knob coll=tune \
        --report="$BATS_TEST_TMPDIR/record" --ghost "$degraded-ghost" \
        "$degraded" "$ASPEN_BUILD/examples/rma_stall"
    ended_with 0
    printed 'aspen: ghost mode, 4 user ranks and 2 ghosts on 2 nodes'
    printed 'aspen: window 1: .* by ghosts'
}

@test "windows beneath those of the program are none to it" {
    local shape
    for shape in '-g 1' '-g 1 --nodes 2' '-g 1 --knob offload=yes'; do
        # shellcheck disable=SC2086
        run ghosts -n 2 $shape "$world/stray" beneath
        ended_with 0
        printed '^0: 0 windows beneath are not refused$'
    done
}
