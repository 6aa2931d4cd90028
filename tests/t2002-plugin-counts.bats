# SPDX-License-Identifier: BSD-3-Clause
# -n means user tasks: the filter adds just the ghosts to each node, and where
# it is absent srun says what is left. `hostname` never calls MPI_Init, so the
# ghosts must leave by themselves.
load helpers

# Users per node, "n1:2 n2:2".
users() {
    grep -E '^n[0-9]+$' <<<"$output" | sort | uniq -c |
        awk '{printf "%s%s:%s", sep, $2, $1; sep = " "}'
}

# have WANT srun-options...: run hostname and compare users per node.
have() {
    local want=$1
    shift
    run on_cluster srun "$@" hostname
    ended_with 0
    [ "$(users)" = "$want" ] || {
        echo "srun $*: wanted $want, got $(users)"
        echo "$output"
        return 1
    }
}

refused() {
    local says=$1
    shift
    run on_cluster srun "$@" hostname
    [ "$status" -ne 0 ]
    printed "$says"
    [ -z "$(users)" ]
}

@test "-N2 -n4 ghost:1 prints exactly 4 lines" {
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 hostname
    ended_with 0
    [ "${#lines[@]}" -eq 4 ]
    [ "$(users)" = 'n1:2 n2:2' ]
}

@test "the forms of a request all mean users" {
    have 'n1:2 n2:2' -N2 --ntasks-per-node=2 --async-progress=ghost:2
    have 'n1:3 n2:3' -N2 -n6 --ntasks-per-node=3 --async-progress=ghost:1
    have 'n1:1 n2:1' -N2 --async-progress=ghost:1
    have 'n1:1' --async-progress
    have 'n1:1' -n1 --async-progress=ghost:3
    have 'n1:2' -n2 --async-progress=ghost:1
    have 'n1:3 n2:3' -n6 --async-progress=ghost:1
    have 'n1:2 n2:2' -w 'n[1-2]' -n4 --async-progress=ghost:1
    have 'n1:2 n2:2' -N2 -n4 --exclusive --async-progress=ghost:2
    have 'n1:1' -n2 -N4 -O --nodes=1 --ntasks=1 --async-progress=ghost:1
}

@test "uneven -n: users n over N, ghosts on both nodes" {
    have 'n1:3 n2:2' -N2 -n5 --async-progress=ghost:1
    have 'n1:2 n2:1' -N2 -n3 --async-progress=ghost:2
}

@test "a range of nodes is narrowed to what has room" {
    have 'n1:3' -N1-2 -n3 --async-progress=ghost:1
    have 'n1:2 n2:2' -N1-2 -n4 --async-progress=ghost:1
    have 'n1:1 n2:1' -N1-2 -n2 -c2 --async-progress=ghost:1
}

@test "CPUs per task and distributions" {
    have 'n1:1 n2:1' -N2 -n2 -c2 --async-progress=ghost:1
    have 'n1:2 n2:2' -N2 -n4 -m cyclic --async-progress=ghost:1
    have 'n1:2 n2:2' -N2 -n4 -m plane=2 --async-progress=ghost:1
    have 'n1:2 n2:2' -N2 -n4 -B 1:2:1 --mincpus=1 --async-progress=ghost:1
    have 'n1:2 n2:2' -N2 -n4 -m block:cyclic --async-progress=ghost:2
}

@test "many tasks, overcommitted" {
    have 'n1:10 n2:10' -p shared -N2 -n20 -O --async-progress=ghost:4
}

# Slurm from 24.11.1 on never starts such a job (common/base/slurm_rules.h): its
# user is told, instead of waiting; auto does without ghosts.
@test "whole nodes, overcommitted" {
    local options='-N2 -n8 -O'
    have 'n1:3 n2:3' -N2 -n6 -O --async-progress=ghost:1
    if slurm_since 24.11.1; then
        # shellcheck disable=SC2086
        refused 'more than the CPUs of 2 whole node.*srun -O in there' \
            $options --async-progress=ghost:1
        refused 'placement.share=yes. need srun --overcommit .-O. inside' \
            -N2 -n8 --async-progress=ghost:1,placement.share=yes
        have 'n1:4 n2:4' -N2 -n8 -O --async-progress
        run on_cluster timeout 3 srun -N2 -n9 -O hostname
        not_printed '^n[12]$'
    else
        # shellcheck disable=SC2086
        have 'n1:4 n2:4' $options --async-progress=ghost:1
        refused 'placement.share=yes. need --overcommit' -N2 -n8 \
            --async-progress=ghost:1,placement.share=yes
    fi
    # shellcheck disable=SC2086
    run on_cluster salloc -N2 srun $options --async-progress=ghost:1 hostname
    ended_with 0
    [ "$(grep -c '^n[12]$' <<<"$output")" -eq 8 ]
}

# Which user is where, "T 0 n1"; in an allocation, where -O holds in all releases.
places() {
    # shellcheck disable=SC2016
    run on_cluster salloc -N2 srun "$@" \
        sh -c 'echo "T $SLURM_PROCID $(hostname)"'
    ended_with 0
    grep '^T ' <<<"$output" | sort -k2,2n
}

@test "planes, overcommitted: every user is where it is without ghosts" {
    local plain
    for options in '-n6 -m plane=3' '-n8 -m plane=4' '-n9 -m plane=5'; do
        # shellcheck disable=SC2086
        plain=$(places -N2 -O $options)
        [ -n "$plain" ]
        # shellcheck disable=SC2086
        diff <(echo "$plain") \
            <(places -N2 -O $options --async-progress=ghost:1)
    done
}

@test "the impossible is refused with the numbers" {
    refused 'room for 4 task.* -m plane=2 gives it 4 .*: use -m block' \
        -N2 -n8 -m plane=2 --async-progress=ghost:1
    refused 'room for 4 task.* -m plane=4 .*, --overcommit or not: use' \
        -N2 -n6 -O -m plane=4 --async-progress=ghost:1
    refused '4 user task.*1 ghost.*2 node.*need 5 CPUs per node.*at most 4' \
        -N2 -n8 --async-progress=ghost:1
    refused 'aspen: --ntasks-per-gpu.*-B' -N2 -B 1:2:1 \
        --async-progress=ghost:1
    refused 'aspen: --gpus-per-task' -N2 -n4 --gpus-per-task=1 \
        --async-progress=ghost:1
    refused 'aspen: --ntasks-per-socket' -N2 -n4 --ntasks-per-socket=2 \
        --async-progress=ghost:1
    refused 'aspen: --input.* name a task by its id' -N2 -n4 --input=2 \
        --async-progress=ghost:1
    echo '0-3 hostname' >"$ASPEN_BUILD/tests/t2002.conf"
    run on_cluster srun --multi-prog -N2 -n4 --async-progress=ghost:1 \
        "$ASPEN_BUILD/tests/t2002.conf"
    ended_with 1
    printed 'aspen: --multi-prog'
}

@test "auto does without ghosts where they have no room, or no use" {
    have 'n1:4 n2:4' -N2 -n8 --async-progress
    printed 'auto chose off: 4 user task.*need 5 CPUs per node.*at most 4'
    have 'n1:1' -n1 --async-progress
    printed 'auto chose off: one rank has nobody to wait for'
    have 'n1:2 n2:2' -N2 -n4 --hint=nomultithread --async-progress=ghost:1
    have 'n1:2 n2:2' -N2 -n4 --async-progress
    printed 'auto chose ghost: several ranks may wait for each other'
    refused 'need 5 CPUs per node' -N2 -n8 --async-progress=ghost
}

# A program with MPICH in its file. Debian 13 has no libmpich.a: there the file
# gets the whole libmpich.so as a section, which is what srun looks at.
make_static() {
    if [ -e "$(gcc -print-file-name=libmpich.a)" ]; then
        gcc "$(mpicc.mpich -show -c | grep -o -- '-I[^ ]*')" -o "$1" \
            "$ASPEN_TOP/tests/lifetime_app.c" -pthread \
            -Wl,-Bstatic -lmpich -Wl,-Bdynamic -lhwloc -lucp -lucs
        return
    fi
    mpicc.mpich -o "$1" "$ASPEN_TOP/tests/lifetime_app.c" -pthread
    objcopy --add-section \
        .mpich="$(gcc -print-file-name=libmpich.so)" "$1"
}

@test "a program with libmpich.a in it runs as without Aspen" {
    local spec program=$BATS_TEST_TMPDIR/static
    make_static "$program"
    for spec in ghost:1 auto ghost:1,offload offload thread; do
        run on_cluster srun -N2 -n3 --async-progress="$spec" "$program" normal
        ended_with 0
        printed '^rank 2 of 3 done'
        [ "$(grep -c 'MPI is linked into .*/static (libmpich.a)' \
            <<<"$output")" -eq 1 ]
    done
    run on_cluster srun -N2 -n3 --async-progress=ghost:1,require "$program" \
        normal
    [ "$status" -ne 0 ]
    printed 'libmpich.a.*and the request says require'
    not_printed ' done'
}

@test "user tasks are numbered and counted as if alone" {
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 sh -c \
        'echo T $SLURM_PROCID $SLURM_NTASKS $SLURM_NPROCS \
         $SLURM_STEP_NUM_TASKS $SLURM_STEP_TASKS_PER_NODE $SLURM_GTIDS \
         $SLURM_LOCALID $ASPEN_PROCID $ASPEN_NTASKS'
    ended_with 0
    printed '^T 0 4 4 4 2\(x2\) 0,1 0 0 6$'
    printed '^T 1 4 4 4 2\(x2\) 0,1 1 1 6$'
    printed '^T 2 4 4 4 2\(x2\) 2,3 0 3 6$'
    printed '^T 3 4 4 4 2\(x2\) 2,3 1 4 6$'
}

@test "each user task reads all of a long stdin; statuses are the users'" {
    local file=$ASPEN_BUILD/tests/t2002.input sum
    head -c 4000000 /dev/zero | tr '\0' 'x' >"$file"
    sum=$(md5sum <"$file")
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 md5sum <"$file"
    ended_with 0
    [ "$(grep -cF "$sum" <<<"$output")" -eq 4 ]
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 \
        sh -c 'exit $SLURM_PROCID'
    ended_with 3
}

@test "cyclic tasks are numbered as Slurm deals them" {
    run on_cluster srun -N2 -n4 -m cyclic --async-progress=ghost:1 \
        sh -c 'echo T $SLURM_PROCID $(hostname) $SLURM_GTIDS'
    ended_with 0
    printed '^T 0 n1 0,2$'
    printed '^T 1 n2 1,3$'
    printed '^T 2 n1 0,2$'
    printed '^T 3 n2 1,3$'
}

# Without the filter: srun reads slurm.conf for every command.
filter_off() {
    conf=$(on_cluster sh -c 'dirname "$SLURM_CONF"')
    sed -i.on 's/^CliFilterPlugins=/#&/' "$conf/slurm.conf"
}

teardown() {
    [ -z "${conf-}" ] || mv "$conf/slurm.conf.on" "$conf/slurm.conf"
}

@test "without the filter ghosts come out of -n, and srun says so" {
    filter_off
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 hostname
    ended_with 0
    printed '4 tasks on 2 nodes: 2 user \+ 2 ghost'
    [ "$(grep -c 'user + ' <<<"$output")" -eq 1 ]
    [ "$(users)" = 'n1:1 n2:1' ]
    refused '2 task\(s\) leave no user task' -N2 -n2 --async-progress=ghost:1
    have 'n1:1 n2:1' -N2 -n2 --async-progress
    printed 'node 1 of 2 got 1 task\(s\), .* there: running without ghosts$'
    not_printed 'error|degraded'
    # Three tasks and one: only the nodes know that.
    refused 'node 2 of 2 got 1 task' -p shared -N2 -n4 --async-progress=ghost:1
    [ "$(grep -c 'node 2 of 2' <<<"$output")" -eq 1 ]
}

@test "without the filter --multi-prog has no ghosts either" {
    local programs=$ASPEN_BUILD/tests/t2002.conf
    echo '0-3 hostname' >"$programs"
    filter_off
    run on_cluster srun --multi-prog -N2 -n4 --async-progress=ghost:1 \
        "$programs"
    ended_with 1
    printed 'aspen: --multi-prog'
    not_printed '^n[12]$'
    run on_cluster srun --multi-prog -N2 -n4 --async-progress "$programs"
    ended_with 0
    printed 'running without ghosts: --multi-prog'
    [ "$(users)" = 'n1:2 n2:2' ]
}
