# SPDX-License-Identifier: BSD-3-Clause
# What every bats file starts with: load helpers
#
#   ASPEN_TOP          the source tree
#   ASPEN_BUILD        the build tree        (default: $ASPEN_TOP/build)
#   ASPEN_PREFIX       where Aspen is installed for the tests
#                      (default: $ASPEN_BUILD/stage)
#   ASPEN_CLUSTER_DIR  run directory of an embedded cluster that is up
#                      (default: that of scripts/cluster)
# scripts/check sets them; a test run by hand uses the defaults.

ASPEN_TOP=${ASPEN_TOP:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)}
ASPEN_BUILD=${ASPEN_BUILD:-$ASPEN_TOP/build}
ASPEN_PREFIX=${ASPEN_PREFIX:-$ASPEN_BUILD/stage}

# Run scripts/cluster on the cluster under test.
cluster() {
    local command=$1
    shift
    "$ASPEN_TOP/scripts/cluster" "$command" \
        ${ASPEN_CLUSTER_DIR:+--dir "$ASPEN_CLUSTER_DIR"} "$@"
}

# Run a command on the cluster's login node, for at most 60 s.
on_cluster() {
    timeout -k 5 "${ASPEN_TEST_LIMIT:-60}" \
        "$ASPEN_TOP/scripts/cluster" run \
        ${ASPEN_CLUSTER_DIR:+--dir "$ASPEN_CLUSTER_DIR"} -- "$@"
}

# The same as an ordinary user.
as_user() {
    timeout -k 5 "${ASPEN_TEST_LIMIT:-60}" \
        "$ASPEN_TOP/scripts/cluster" run --user aspen-test \
        ${ASPEN_CLUSTER_DIR:+--dir "$ASPEN_CLUSTER_DIR"} -- "$@"
}

# Is Slurm of release $1 (24.11.1) or later here?
slurm_since() {
    local here
    here=$(slurmd -V)
    printf '%s\n' "$1" "${here#slurm* }" | sort -CV
}

# Fail unless the last `run` ended with status $1.
ended_with() {
    [ "$status" -eq "$1" ] && return
    echo "ended with $status instead of $1:"
    echo "$output"
    return 1
}

# Fail unless the last `run` printed a line matching the extended regex $1.
printed() {
    grep -qE -- "$1" <<<"$output" && return
    echo "nothing matches '$1' in:"
    echo "$output"
    return 1
}

# Fail if the last `run` printed a line matching $1.
not_printed() {
    grep -qE -- "$1" <<<"$output" || return 0
    echo "unexpected '$1' in:"
    echo "$output"
    return 1
}

# The installed MPICH's release: "4.2".
mpich_release() {
    echo MPICH_VERSION | mpicc.mpich -include mpi.h -E -P -x c - |
        sed -n '$s/^"\([0-9]*\.[0-9]*\).*/\1/p'
}

# Is the installed MPICH of release $1 (4.2) or later?
mpich_since() {
    printf '%s\n' "$1" "$(mpich_release)" | sort -CV
}

# The MPI library that a program loads: libmpich.so.12 is Debian's name for it.
mpi_library() {
    ldd "$1" | awk '$1 ~ /^libmpi(ch)?\.so\.12$/ {print $3}'
}

# Is the MPI that was built with over libfabric? Else it is over UCX.
over_libfabric() {
    grep -qa 'ch4:ofi' "$(mpi_library "$ASPEN_BUILD/examples/hello")"
}

# Run the rest of the arguments; what they leave running ends with them. (mpiexec
# of MPICH 4.2 leaves the other ranks when one has ended in a fatal error.)
with_orphans_ended() {
    unshare --pid --fork --kill-child --mount-proc -- "$@"
}

# Run what is to fail. mpiexec of MPICH 4.2 takes 0 for the status now and then,
# of plain jobs, too: so five times at most.
run_failing() {
    for _ in 1 2 3 4 5; do
        run "$@"
        [ "$status" -eq 0 ] && [ "$(mpich_release)" = 4.2 ] || return 0
    done
}

# Fail unless the rest of the arguments end with status $1: with mpiexec of MPICH
# 4.2, which now and then takes another one, once in five times.
ends_with_status() {
    for _ in 1 2 3 4 5; do
        run "${@:2}"
        [ "$status" -ne "$1" ] && [ "$(mpich_release)" = 4.2 ] || break
    done
    ended_with "$1"
}

# The same of what is to say why: mpiexec may also lose what a process that it
# kills has printed.
run_telling() {
    for _ in 1 2 3 4 5; do
        run "$@"
        [ "$status" -eq 0 ] || [ -z "$output" ] || return 0
    done
}

# Run an MPI program under ghostrun, for at most 60 s.
ghosts() {
    ASPEN_BUILD=$ASPEN_BUILD timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" "$@"
}

# In 5 s without anything to do the thread of each rank wakes up at most $1 times;
# then options.
idle_helpers() {
    run ghosts -n 2 "${@:2}" "$ASPEN_BUILD/tests/idle_app" 3 5
    ended_with 0
    [ "${#lines[@]}" -eq 2 ]
    awk -v most="$1" '$1 > most { exit 1 }' <<<"$output"
}

# Fail unless a program prints the same lines, in any order, without Aspen, with
# the library but no layout, with ghosts, with offload and progress threads.
#   $1  its user ranks; then the program and its arguments
same_everywhere() {
    local users=$1 plain shape
    shift
    for shape in --inert '-g 1' '-g 2' --offload --thread \
        '-g 1 --knob offload=yes' '-g 1 --nodes 2'; do
        ((users == 1)) && [[ $shape == *--nodes* ]] && continue
        case $shape in
            --inert) plain=$(ghosts -n "$users" -g 0 "$@" 2>&1) ;;
            *--nodes*) plain=$(ghosts -n "$users" -g 0 --nodes 2 "$@" 2>&1) ;;
        esac || {
            echo "plain run failed: $plain"
            return 1
        }
        # shellcheck disable=SC2086
        diff <(sort <<<"$plain") \
            <(ghosts -n "$users" $shape "$@" 2>&1 |
                grep -v '^aspen: mode thread knows no sessions' | sort) &&
            continue
        echo "differs with $shape: $*"
        return 1
    done
}
