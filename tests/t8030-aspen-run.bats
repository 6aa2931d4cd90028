#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen run: under mpiexec as an ordinary user with a private copy of what is
# installed, and under srun on a cluster without the plugin.

load helpers

# Everything that a user without rights needs, in a folder of its own.
setup_file() {
    export mine=$BATS_FILE_TMPDIR/mine dir
    dir=$("$ASPEN_TOP/scripts/cluster" dir t8030)
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
    mkdir "$mine"
    cp -r "$ASPEN_PREFIX" "$mine/aspen"
    cp "$ASPEN_BUILD/examples/rma_stall" "$ASPEN_BUILD/tests/.libs/yield.so" \
        "$mine"
    chmod -R a+rX "$mine"
    chown -R 65534:65534 "$mine"
    "$ASPEN_TOP/scripts/cluster" up --no-plugin --dir "$dir" \
        >"$BATS_FILE_TMPDIR/up" 2>&1
}

teardown_file() {
    "$ASPEN_TOP/scripts/cluster" down --dir "$dir" >/dev/null 2>&1
}

setup() {
    aspen=$mine/aspen/bin/aspen
    app=$mine/rma_stall
    # The cluster's nodes have a /tmp of their own.
    case $BATS_TEST_DESCRIPTION in
        srun*) cd "$ASPEN_BUILD" ;;
        *) cd "$mine" ;;
    esac
    ls /dev/shm >"$BATS_TEST_TMPDIR/shm"
}

# What we make is gone with the job; what others make is not ours to count.
teardown() {
    run comm -13 "$BATS_TEST_TMPDIR/shm" <(ls /dev/shm)
    not_printed aspen
}

# Run as nobody, with spinning ranks giving way, and on CPUs that are pretended:
# what is bound depends on the machine.
nobody() {
    nobody_with run "$@"
}
# The same of what is to fail, and to say why.
nobody_telling() {
    nobody_with run_telling "$@"
}
nobody_with() {
    "$1" timeout -k 5 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
        env HOME="$mine" HWLOC_SYNTHETIC='core:64 pu:1' LD_PRELOAD="$mine/yield.so" \
        ASPEN_GHOST_PRELOAD="$mine/yield.so" "${@:2}"
}

# real COMMAND...: on the machine's own CPUs.
real() {
    nobody env -u HWLOC_SYNTHETIC "$@"
}

# aspen run as nobody under mpiexec: options, "--", what stands behind mpiexec.
run_mpiexec() {
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    nobody "$aspen" run "${options[@]}" -- mpiexec.mpich "${@:2}"
}

# On the cluster without the plugin, as its ordinary user. Nothing is bound
# there: the CPUs of its nodes are pretended.
on_plain() {
    run timeout -k 5 60 "$ASPEN_TOP/scripts/cluster" run --user aspen-test \
        --dir "$dir" -- env HWLOC_SYNTHETIC='core:4 pu:1' \
        LD_PRELOAD="$ASPEN_BUILD/tests/.libs/yield.so" \
        ASPEN_GHOST_PRELOAD="$ASPEN_BUILD/tests/.libs/yield.so" "$@"
}

run_srun() {
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    on_plain "$ASPEN_PREFIX/bin/aspen" run "${options[@]}" -- srun "${@:2}"
}

# Fail unless the stalled updates took less, or more, than so many ms.
took() {
    local ms
    ended_with 0
    ms=$(sed -n 's/^updates took: *\([0-9]*\)\..*/\1/p' <<<"$output")
    [[ -n $ms ]] && [ "$ms" "$1" "$2" ] || { echo "took $ms ms: $output"; return 1; }
}

# refused TEXT WORD...: ends with 2 before anything is launched, in one line.
refused() {
    local text=$1
    shift
    nobody "$aspen" run "$@"
    ended_with 2
    printed "$text"
    [ "${#lines[@]}" -eq 1 ]
}

# ---- mpiexec ------------------------------------------------------------------

@test "mpiexec: updates wait for a target that computes, but with ghosts" {
    nobody mpiexec.mpich -n 4 "$app" 1000
    took -gt 700
    run_mpiexec --async-progress=ghost:1 --async-report -- -n 4 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 4 user ranks and 1 ghosts on 1 nodes, '
    printed 'redirected 2[0-9]+ \(accumulate 101'
    run_mpiexec --async-progress=ghost:2 --async-report -- -n 4 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 4 user ranks and 2 ghosts on 1 nodes, '
    nobody ASPEN_PROGRESS=ghost:1 ASPEN_REPORT=1 "$aspen" run -- \
        mpiexec.mpich -n 3 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 3 user ranks and 1 ghosts'
}

@test "mpiexec: the other modes, auto, off and nothing at all" {
    run_mpiexec --async-progress=offload --async-report -- -n 2 "$app" 1000
    ended_with 0
    printed '^aspen: offload mode, 2 ranks on 1 nodes?, .* [1-9][0-9]* calls carried out'
    run_mpiexec --async-progress=thread --async-report -- -n 2 "$app" 1000
    took -gt 700
    printed '^aspen: thread mode, 2 ranks'
    run_mpiexec --async-report -- -n 2 "$app" 1000
    took -gt 700
    printed '^aspen: mode off, 2 ranks on 1 node: plain MPI'
    run_mpiexec --async-progress=off -- -n 2 "$app" 1000
    took -gt 700
    not_printed '^aspen'
    for options in --async-progress=auto --async-progress ''; do
        # shellcheck disable=SC2086
        run_mpiexec $options -- -n 2 "$app" 1000
        took -lt 600
        printed '^aspen: auto chose ghost: '
    done
}

@test "mpiexec: its exit status is ours, and no process of ours is left" {
    run_mpiexec --async-progress=ghost:1 -- -n 2 sh -c 'exit 7'
    ended_with 7
    run_mpiexec --async-progress=ghost:1 -- -n 2 sh -c \
        'tr "\0" " " </proc/$(ps -o ppid= -p $PPID | tr -d " ")/cmdline'
    ended_with 0
    printed '^mpiexec.mpich -n 3 '
    touch no-program
    run_mpiexec --async-progress=ghost:1 -- -n 2 ./no-program
    ended_with 126
    printed '^aspen: cannot run ./no-program: Permission denied'
}

@test "mpiexec: several programs, wrappers, Python" {
    run_mpiexec --async-progress=ghost:1 --async-report -- -n 1 "$app" 1000 : \
        -n 2 env A=1 "$app" 1000 : -n 1 taskset -c 0-63 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 4 user ranks and 1 ghosts'
    printf '#!/bin/sh\nexec "$@"\n' >wrapper.sh
    chmod 755 wrapper.sh
    run_mpiexec --async-progress=ghost:1 --async-report -- -n 2 ./wrapper.sh \
        "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 2 user ranks and 1 ghosts'
    if [[ -x $ASPEN_BUILD/examples/rma_stall_f90 ]]; then # Fortran
        cp "$ASPEN_BUILD/examples/rma_stall_f90" .
        run_mpiexec --async-progress=ghost:1 --async-report -- -n 2 \
            ./rma_stall_f90
        ended_with 0
        printed '^aspen: ghost mode, 2 user ranks and 1 ghosts.* redirected [1-9]'
    fi
    cat >size.py <<'END'
import ctypes, os
mpi = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
size, rank = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_size(0x44000000, ctypes.byref(size))
mpi.MPI_Comm_rank(0x44000000, ctypes.byref(rank))
os.write(1, b"rank %d of %d\n" % (rank.value, size.value))
mpi.MPI_Finalize()
END
    run_mpiexec --async-progress=ghost:1 -- -n 2 python3 size.py
    ended_with 0
    printed '^rank 0 of 2$'
    printed '^rank 1 of 2$'
    [ "$(grep -c '^rank' <<<"$output")" -eq 2 ]
}

@test "mpiexec: what it is told of the environment changes nothing" {
    run_mpiexec --async-progress=ghost:1 --async-report -- -genvnone -genv \
        LD_PRELOAD "$mine/yield.so" -genv ASPEN_GHOST_PRELOAD="$mine/yield.so" \
        -n 2 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 2 user ranks and 1 ghosts'
    # local counts are the users', the true ones are kept
    run_mpiexec --async-progress=ghost:2 -- -n 3 sh -c \
        'echo $MPI_LOCALRANKID $MPI_LOCALNRANKS $ASPEN_LOCALNRANKS'
    ended_with 0
    printed '^2 3 5$'
    [ "${#lines[@]}" -eq 3 ]
}

# The proxies of both hosts are started here, but hydra says they are two nodes.
@test "mpiexec: two hosts get their ghosts as their last ranks" {
    local hosts
    for hosts in '-hosts a,b' '-hosts a:2,b:2' '-hosts a,b -ppn 2' '-f hosts'; do
        printf 'a:2\nb:2\n' >hosts
        # shellcheck disable=SC2086
        run_mpiexec --async-progress=ghost:1 --async-report=job.json -- \
            -launcher fork $hosts -n 4 "$app" 1000
        took -lt 600
        python3 -SE - <<'END'
import json
r = json.load(open("job.json"))
assert (r["users"], r["ghosts"], r["nodes"]) == (4, 2, 2), r
assert [g["node"] for g in r["ghost_load"]] == [0, 1], r
ranks = {t["rank"]: t["node"] for t in r["time"]["ranks"]}
assert [ranks[r] for r in range(4)] in ([0, 1, 0, 1], [0, 0, 1, 1]), ranks
END
    done
    # more ranks than they have room for in one turn
    run_mpiexec --async-progress=ghost:1 --async-report -- -launcher fork \
        -hosts a:2,b:2 -n 6 "$app" 50 10
    ended_with 0
    printed '^aspen: user ranks come to each host one after the other'
    printed '6 user ranks and 2 ghosts on 2 nodes'
}

# Two proxies of one host are two nodes, for hydra and for us.
@test "mpiexec: a host that is named twice" {
    (($(nproc) >= 2)) || skip "needs 2 CPUs"
    real "$aspen" run --async-progress=ghost:1 --async-report -- \
        mpiexec.mpich -launcher fork -hosts a,b,a -n 3 "$app" 50 10
    ended_with 0
    printed '3 user ranks and 3 ghosts on 3 nodes, not bound: a host is named twice'
    run_mpiexec --async-progress=ghost:1 --async-report -- -launcher fork \
        -hosts a,a,b -n 3 "$app" 50 10
    ended_with 0
    printed '3 user ranks and 2 ghosts on 2 nodes, '
    not_printed 'named twice'
}

@test "mpiexec: what it only tells is told, and nothing else" {
    local option
    for option in --version -h --help -info '-n 2 -info'; do
        # shellcheck disable=SC2086
        nobody mpiexec.mpich $option
        # shellcheck disable=SC2154
        local want=$output rc=$status
        # shellcheck disable=SC2086
        run_mpiexec --async-progress=ghost:1 --async-report=/nosuch/x -- $option
        ended_with "$rc"
        [ "$output" = "$want" ]
    done
    run_mpiexec -- -n 1 printf '%s\n' --version
    ended_with 0
    printed '^--version$'
}

@test "mpiexec: a record that cannot be written is no surprise at the end" {
    local what text
    mkdir -p closed
    printf 'old\n' >closed/old.json
    chmod 444 closed/old.json
    chmod 555 closed
    while IFS='|' read -r what text; do
        # shellcheck disable=SC2086
        refused "^aspen: the record cannot be written to .*: $text" \
            --async-progress=ghost:1 $what touch launched
    done <<END
--async-report=/nosuch/x.json -- mpiexec.mpich -n 2|No such file or directory
--async-report=closed/x.json -- mpiexec.mpich -n 2|Permission denied
--async-report=closed/old.json -- mpiexec.mpich -n 2|Permission denied
--async-report=$mine -- mpiexec.mpich -n 2|Is a directory
--async-report=x.json -- mpiexec.mpich -wdir $mine/closed -n 2|Permission denied
END
    [ ! -e launched ]
    printf 'old\n' >kept.json
    chmod 666 kept.json
    run_mpiexec --async-report=kept.json -- -n 1 cat kept.json
    ended_with 0
    printed '^old$'
    # other hosts may have what is not here
    run_mpiexec --async-progress=ghost:1 --async-report=/nosuch/x.json -- \
        -launcher fork -hosts a,b -n 2 true
    ended_with 0
    printed '^aspen: the record cannot be written to /nosuch/x.json here'
}

@test "mpiexec: --async-report=trace tells decisions, and is no file" {
    run_mpiexec --async-progress=ghost:1 --async-report=trace -- -n 2 "$app" 10 10
    ended_with 0
    printed '^aspen: [0-9.]+ rank 0 start: job .*: mode ghost, 3 tasks'
    printed '^aspen: ghost mode, 2 user ranks'
    [ ! -e trace ]
}

# The dynamic linker preloads nothing for them.
@test "mpiexec: programs with other rights than their user" {
    local how
    cp "$app" rights
    chown root rights
    chmod 4755 rights
    # shellcheck disable=SC2016
    nobody sh -c '[ ! -u "$0" ] || grep -q "^NoNewPrivs:.*1" /proc/self/status' \
        "$mine/rights"
    ((status != 0)) || skip "this place gives no rights"
    run_mpiexec --async-progress=ghost:1 -- -n 2 ./rights 10 10
    ended_with 0
    printed '^aspen: ./rights is setuid, .*, so it runs without Aspen'
    printed '^updates took'
    refused '^aspen: ./rights is setuid, .*, and the request says require' \
        --async-progress=ghost:1,require -- mpiexec.mpich -n 2 ./rights
    run_mpiexec --async-progress=ghost:1 -- -n 1 "$app" 10 10 : \
        -n 1 ./rights 10 10
    printed '^aspen: ./rights is setuid, .*, so it runs without Aspen'
    # Behind a wrapper they are seen from inside.
    for how in 'exec ./rights 5000' './rights 5000; echo then $?'; do
        SECONDS=0
        nobody_telling "$aspen" run --async-progress=ghost:1 -- \
            mpiexec.mpich -n 2 sh -c "$how"
        ((status != 0 && status != 124 && SECONDS < 30))
        [ "$(grep -c 'has other rights than its user' <<<"$output")" -eq 1 ]
        not_printed '^updates took'
    done
    # one that is over soon is not the program
    cp "$(type -P sleep)" nap
    chown root nap
    chmod 4755 nap
    run_mpiexec --async-progress=ghost:1 --async-report -- -n 2 sh -c \
        './nap 1.5; exec "$0" 1000' "$app"
    rm -f rights nap
    took -lt 600
    printed '^aspen: ghost mode, 2 user ranks and 1 ghosts'
    not_printed 'other rights'
}

@test "mpiexec: what is wrong is said before anything is launched" {
    refused 'unknown mode "gost": did you mean "ghost"' \
        --async-progress=gost:1 -- mpiexec.mpich -n 2 touch launched
    refused '^aspen: ASPEN_PROGRESS|unknown' --async-progress=ghost:1,adpat=auto \
        -- mpiexec.mpich -n 2 touch launched
    printf 'mode: ghost\nghosts: [1\n' >bad.yaml
    refused '^aspen: bad.yaml:3:1: ' --async-policy=bad.yaml -- \
        mpiexec.mpich -n 2 touch launched
    refused '^aspen: nosuch.yaml: ' --async-policy=nosuch.yaml -- \
        mpiexec.mpich -n 2 touch launched
    refused '-frobnicate is not known' --async-progress=ghost -- \
        mpiexec.mpich -frobnicate 2 touch launched
    refused 'no launcher that aspen run knows' -- ./rma_stall
    refused 'no launcher that aspen run knows' -- sbatch job
    refused 'write --async-progress=ghost:1$' --async-progress ghost:1 -- \
        mpiexec.mpich -n 2 touch launched
    refused 'cannot find /nosuch/mpiexec.mpich' -- /nosuch/mpiexec.mpich app
    refused '-gpus-per-proc would give ghosts devices' \
        --async-progress=ghost:1 -- mpiexec.mpich -gpus-per-proc 1 -n 2 app
    refused 'were started|needs? |is not|1..64' --async-progress=ghost:65 -- \
        mpiexec.mpich -n 2 touch launched
    [ ! -e launched ]
    refused '^aspen: unknown option "--frobnicate": see aspen run --help$' \
        --frobnicate -- mpiexec.mpich app
    refused '^aspen: unknown option "--async-porgress": did you mean "--async-progress"' \
        --async-porgress=ghost -- mpiexec.mpich app
    refused '^aspen: unknown option "-x": see' -x -- mpiexec.mpich app
    refused '^aspen: option --async-policy lacks a value' --async-policy
    refused '^aspen: option --dry-run takes no value' --dry-run=1 -- srun app
    nobody "$aspen" run --async-progress=help
    ended_with 0
    printed 'ghost\.'
}

@test "mpiexec of other MPIs, and their programs, are told apart" {
    mkdir -p other
    printf '#!/bin/sh\necho "mpiexec (OpenRTE) 4.1.4"\n' >other/mpiexec
    printf '#!/bin/sh\nexec sleep 60\n' >other/mpirun
    chmod 755 other/*
    refused 'other/mpiexec is the launcher of Open MPI' -- other/mpiexec -n 2 app
    refused 'is the launcher of Open MPI' -- mpirun.openmpi -n 2 app
    SECONDS=0
    refused 'other/mpirun --version does not answer' -- other/mpirun -n 2 app
    ((SECONDS < 20))
    # mpiexec by other names
    printf '#!/bin/sh\nexec mpiexec.mpich "$@"\n' >other/mpiexec
    nobody "$aspen" run --async-progress=ghost:1 --async-report -- \
        "$mine/other/mpiexec" -n 2 "$app" 1000
    took -lt 600
    printed '2 user ranks and 1 ghosts'
    # a program whose library defines what Open MPI's does
    printf 'int ompi_mpi_comm_world, PMPI_Init, PMPI_Comm_size;\nint PMPI_Type_commit, PMPI_Wtime; int f(void) { return 0; }\n' >f.c
    printf 'int f(void); int main(void) { return f(); }\n' >m.c
    gcc -shared -fPIC -o libmine.so f.c
    gcc -o theirs m.c ./libmine.so
    refused 'theirs is linked with Open MPI \(\./libmine.so\)' --async-progress=ghost:1 -- \
        mpiexec.mpich -n 2 ./theirs
}

@test "mpiexec: CPUs within the mask of the caller, where there are enough" {
    (($(nproc) >= 2)) || skip "needs 2 CPUs"
    local cpus show='taskset -cp $$; exec "$0" 10 10' i
    cpus=$(taskset -cp $$ | sed 's/.*: //')
    (($(nproc) == $(getconf _NPROCESSORS_ONLN))) ||
        skip "needs all CPUs of the machine"
    # All of the machine is no mask: two jobs would be bound to the same CPUs.
    for i in 1 2; do
        timeout -k 5 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
            env HOME="$mine" LD_PRELOAD="$mine/yield.so" \
            ASPEN_GHOST_PRELOAD="$mine/yield.so" "$aspen" run \
            --async-progress=ghost:1 --async-report -- mpiexec.mpich -n 1 \
            sh -c "$show" "$app" >"$BATS_TEST_TMPDIR/$i" 2>&1 &
    done
    wait
    for i in 1 2; do
        run cat "$BATS_TEST_TMPDIR/$i"
        printed "affinity list: $cpus$"
        printed 'not bound: other jobs may use all CPUs'
    done
    # Slurm says that it is this job's
    real SLURM_CPUS_ON_NODE="$(nproc)" "$aspen" run --async-progress=ghost:1 \
        --async-report=job.json -- mpiexec.mpich -n 1 sh -c "$show" "$app"
    ended_with 0
    not_printed "affinity list: $cpus$"
    python3 -SE -c 'import json; r = json.load(open("job.json"))
assert r["bound"] is True, r["bound"]'
    real SLURM_CPUS_ON_NODE=1 "$aspen" run --async-progress=ghost:1 \
        --async-report -- mpiexec.mpich -n 1 sh -c "$show" "$app"
    ended_with 0
    printed 'not bound: Slurm does not keep the step to its CPUs'
    # a part of the machine is the job's own
    if (($(nproc) > 2)); then
        real taskset -c "0-$(($(nproc) - 2))" "$aspen" run \
            --async-progress=ghost:1 --async-report=job.json -- \
            mpiexec.mpich -n 1 "$app" 10 10
        ended_with 0
        python3 -SE -c 'import json; r = json.load(open("job.json"))
assert r["bound"] is True, r["bound"]'
    fi
    # one CPU only: nothing is bound, and the record says why
    real taskset -c "${cpus%%[,-]*}" "$aspen" run \
        --async-progress=ghost:1 --async-report -- \
        mpiexec.mpich -n 1 "$app" 10 10
    ended_with 0
    printed 'not bound: 1 core for 1 user and 1 ghost'
    real "$aspen" run --async-progress=ghost:1 \
        --async-report -- mpiexec.mpich -bind-to core -n 1 "$app" 10 10
    ended_with 0
    printed 'not bound: -bind-to was given'
    real HYDRA_BINDING=core "$aspen" run \
        --async-progress=ghost:1 --async-report -- \
        mpiexec.mpich -n 1 "$app" 10 10
    ended_with 0
    printed 'not bound: HYDRA_BINDING is set'
}

# Whatever is missing, the program does not run in a ghost's place.
@test "a ghost's task never runs the program" {
    local lost
    cp -r aspen lame
    chown -R 65534:65534 lame
    for lost in lame/libexec/aspen/aspen-ghost lame/lib/aspen/libaspen.so; do
        mv "$lost" kept
        nobody_telling lame/bin/aspen run --async-progress=ghost:1 -- \
            mpiexec.mpich -n 2 sh -c 'echo the program runs'
        ((status != 0))
        printed "Aspen must be installed on every node: no access to .*/$lost"
        not_printed 'the program runs'
        # without ghosts it does, and is told
        nobody lame/bin/aspen run --async-progress=offload -- \
            mpiexec.mpich -n 2 sh -c 'echo the program runs'
        mv kept "$lost"
        ended_with 0
        [ "$(grep -c 'the program runs$' <<<"$output")" -eq 2 ]
    done
    # ranks elsewhere than aspen run asked for
    local task=$mine/aspen/libexec/aspen/aspen-task
    for told in 'tasks_per_node=4' 'tasks_per_node=2,1' 'tasks_per_node=x' ''; do
        # shellcheck disable=SC2086
        nobody_telling mpiexec.mpich -n 3 "$task" launcher=mpiexec spec=ghost:1 $told \
            distribution=block names=a job=1.0 -- echo the program runs
        ((status != 0))
        printed '^aspen: .*; ending this task$'
        not_printed 'the program runs'
    done
    nobody "$task" launcher=mpiexec spec=ghost:1 -- echo the program runs
    ended_with 1
    nobody "$task" spec=ghost:1 words=unknown -- echo the program runs
    ended_with 1
    printed 'does not know the word "words=unknown"'
}

# LD_PRELOAD is a list, and wrappers may replace it.
@test "mpiexec: a program without the library does not go on with ghosts" {
    cp -r aspen 'as pen'
    nobody 'as pen/bin/aspen' run --async-progress=ghost:1 -- \
        mpiexec.mpich -n 2 "$app" 10 10
    ended_with 2
    printed '^aspen: .*as pen/lib/aspen/libaspen.so cannot be preloaded'
    SECONDS=0
    nobody_telling "$aspen" run --async-progress=ghost:1 -- \
        mpiexec.mpich -n 2 env -u LD_PRELOAD "$app" 5000
    ((status != 0 && status != 124 && SECONDS < 30))
    [ "$(grep -c 'is in MPI without Aspen.s library' <<<"$output")" -eq 1 ]
    not_printed '^updates took'
    # some of the ranks: the others do not wait for them
    SECONDS=0
    nobody_telling "$aspen" run --async-progress=ghost:2 -- mpiexec.mpich \
        -n 2 "$app" 5000 : -n 2 env -u LD_PRELOAD "$app" 5000
    ((status != 0 && status != 124 && SECONDS < 30))
    [ "$(grep -c 'local rank 2 and 1 others are in MPI without' <<<"$output")" -eq 1 ]
}

@test "mpiexec: options that are refused are passed on with mode off" {
    refused '-configfile changes where' -- \
        mpiexec.mpich -configfile words
    printf -- '-n 2 echo from a file\n' >words
    run_mpiexec --async-progress=off -- -configfile words
    ended_with 0
    [ "$(grep -c '^from a file$' <<<"$output")" -eq 2 ]
    run_mpiexec --async-progress=ghost:1 --async-report -- -pmi-port -n 2 \
        "$app" 1000
    took -lt 600
    printed '2 user ranks and 1 ghosts'
}

@test "a ghost that is killed ends the job, and a message says so" {
    cat >killer <<'END'
#!/bin/sh
sleep 1
proxy=$(ps -o ppid= -p "$PPID")
kill -9 $(pgrep -P $proxy -x aspen-ghost)
END
    chmod 755 killer
    run_mpiexec --async-progress=ghost:1 -- -n 2 sh -c \
        '[ "$PMI_RANK" != 0 ] || ./killer & exec "$0" 20000' "$app"
    ((status != 0 && status != 124))
    printed 'ghost process [0-9]+ .* died|BAD TERMINATION|killed'
    nobody pgrep -u 65534 -x 'aspen-ghost|rma_stall'
    ended_with 1
}

# ---- srun ------------------------------------------------------------------------

@test "srun: a user of a site without the plugin has ghosts" {
    app=$ASPEN_BUILD/examples/rma_stall
    on_plain srun -N2 -n4 "$app" 1000
    took -gt 700
    run_srun --async-progress=ghost:1 --async-report -- -N2 -n4 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 4 user ranks and 2 ghosts on 2 nodes, '
    run_srun --async-progress=ghost:2 --async-report -- -N2 -n4 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 4 user ranks and 4 ghosts on 2 nodes, '
    run_srun --async-progress=ghost:1 --async-report -- -n5 "$app" 1000
    took -lt 600
    printed '^aspen: ghost mode, 5 user ranks and 2 ghosts on 2 nodes, '
    run_srun --async-report -- -N1 -n2 "$app" 1000
    took -gt 700
    printed '^aspen: mode off, 2 ranks on 1 node: plain MPI'
}

@test "srun: offload and progress threads; auto" {
    app=$ASPEN_BUILD/examples/rma_stall
    # With other work on the machine the threads may be late: no time is told.
    run_srun --async-progress=offload --async-report -- -N2 -n2 "$app" 1000
    ended_with 0
    printed '^aspen: offload mode, 2 ranks on 2 nodes, .* [1-9][0-9]* calls carried out'
    run_srun --async-progress=offload -- -N1 -n1 -c2 sh -c \
        'echo $SLURM_CPUS_PER_TASK of $ASPEN_CPUS_PER_TASK'
    ended_with 0
    printed '^2 of 3$'
    run_srun --async-progress=thread --async-report -- -N2 -n2 "$app" 1000
    took -gt 700
    printed '^aspen: thread mode, 2 ranks on 2 nodes, '
    run_srun -- -N2 -n4 "$app" 1000
    took -lt 600
    printed '^aspen: auto chose ghost: '
}

@test "srun: CPUs per task are the user's in all variables" {
    run_srun --async-progress=offload -- -N1 -n1 -c2 \
        --export=ALL,SLURM_TRES_PER_TASK=cpu=3,X=1 sh -c \
        'echo $SLURM_CPUS_PER_TASK and $SLURM_TRES_PER_TASK'
    ended_with 0
    printed '^2 and cpu=2$'
    slurm_since 23.11 && return # srun sets it itself
    run_srun --async-progress=offload -- -N1 -n1 -c2 \
        --export=ALL,SLURM_TRES_PER_TASK=cpu:7 sh -c 'echo $SLURM_TRES_PER_TASK'
    ended_with 0
    printed '^cpu:7$'
}

@test "srun: what it only tells is told, and nothing else" {
    local option
    for option in --help --usage --version -V -h '-N2 --version'; do
        # shellcheck disable=SC2086
        on_plain srun $option
        local want=$output rc=$status
        # shellcheck disable=SC2086
        run_srun --async-progress=ghost:1 -- $option
        ended_with "$rc"
        [ "$output" = "$want" ]
    done
}

@test "srun: programs with other rights than their user" {
    local program=$ASPEN_BUILD/tests/t8030-rights
    cp "$ASPEN_BUILD/examples/rma_stall" "$program"
    chown root "$program"
    chmod 4755 "$program"
    run_srun --async-progress=ghost:1 -- -N1 -n2 "$program" 10 10
    ended_with 0
    printed '^aspen: .*-rights is setuid, .*, so it runs without Aspen'
    # MPICH 4.2 waits for ever between processes of two users.
    if [ "$(mpich_release)" != 4.2 ]; then
        SECONDS=0
        run_srun --async-progress=ghost:1 -- -N1 -n2 sh -c "exec $program 5000"
        ((status != 0 && status != 124 && SECONDS < 30))
        printed 'has other rights than its user'
    fi
    # with the plugin
    local yield=$ASPEN_BUILD/tests/.libs/yield.so
    run as_user env "LD_PRELOAD=$yield" srun --async-progress=ghost:1 -N1 -n2 \
        "$program" 10 10
    ended_with 0
    printed 'aspen: .*-rights is setuid, .*, so it runs without Aspen'
    if [ "$(mpich_release)" != 4.2 ]; then
        SECONDS=0
        run as_user env "LD_PRELOAD=$yield" srun --async-progress=ghost:1 -N1 \
            -n2 sh -c "exec $program 5000"
        ((status != 0 && status != 124 && SECONDS < 30))
        printed 'has other rights than its user'
    fi
    rm -f "$program"
}

@test "srun: the variables of Slurm count users" {
    run_srun --async-progress=ghost:1 -- -N2 -n5 sh -c \
        'echo $SLURM_PROCID $SLURM_NTASKS $SLURM_TASKS_PER_NODE $SLURM_GTIDS, \
            $ASPEN_PROCID $ASPEN_NTASKS $ASPEN_TASKS_PER_NODE'
    ended_with 0
    [ "$(sort <<<"$output")" = "0 5 3,2 0,1,2, 0 7 4,3
1 5 3,2 0,1,2, 1 7 4,3
2 5 3,2 0,1,2, 2 7 4,3
3 5 3,2 3,4, 4 7 4,3
4 5 3,2 3,4, 5 7 4,3" ]
    run_srun --async-progress=ghost:1 -- -N2 -n4 -m cyclic sh -c \
        'echo $SLURM_PROCID $SLURM_NODEID'
    ended_with 0
    [ "$(sort <<<"$output")" = "0 0
1 1
2 0
3 1" ]
    run_srun --async-progress=ghost:1 -- -N1 -n2 --export=NONE sh -c \
        'echo $SLURM_NTASKS of $ASPEN_NTASKS, $ASPEN_ROLE'
    ended_with 0
    [ "$output" = "2 of 3, user
2 of 3, user" ]
}

@test "srun: the record has the keys that it has with the plugin" {
    app=$ASPEN_BUILD/examples/rma_stall
    local home=$dir/home
    run_srun --async-progress=ghost:1 --async-report="$home/run.json" -- \
        -N2 -n4 "$app" 1000
    ended_with 0
    run as_user srun -N2 -n4 --async-progress=ghost:1 \
        "--export=ALL,LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        --async-report=/tmp/plugin.json "$app" 1000
    ended_with 0
    as_user cat /tmp/plugin.json >"$BATS_TEST_TMPDIR/plugin.json"
    as_user rm /tmp/plugin.json
    python3 -SE - "$home/run.json" "$BATS_TEST_TMPDIR/plugin.json" <<'END'
import json, sys
def keys(value, path=""):
    if isinstance(value, list):
        return set().union(*[keys(v, path + "[]") for v in value])
    if not isinstance(value, dict):
        return {path}
    # Functions called and reasons found are the run's, not the form's.
    if path in (".time.calls", ".calls"):
        return {path}
    return set().union({path}, *[keys(v, f"{path}.{k}") for k, v in value.items()])
mine, theirs = [keys(json.load(open(f))) for f in sys.argv[1:]]
assert mine == theirs, mine ^ theirs
END
}

@test "srun: a program in the current directory needs no ./, as with srun" {
    cd "$ASPEN_BUILD/examples"
    on_plain srun -n2 -N1 rma_stall 10 10
    ended_with 0
    run_srun --async-progress=ghost:1 --async-report -- -N1 -n2 rma_stall 10 10
    ended_with 0
    printed '2 user ranks and 1 ghosts'
    cd "$ASPEN_BUILD"
    run_srun --async-progress=ghost:1 -- -N1 -n2 -D examples rma_stall 10 10
    ended_with 0
    run_srun --async-progress=ghost:1 -- -N1 -n2 --export=NONE hostname
    ended_with 0
}

@test "srun: in allocations, with room and without" {
    app=$ASPEN_BUILD/examples/rma_stall
    local run="$ASPEN_PREFIX/bin/aspen run --async-progress=ghost:1 --async-report"
    printf '#!/bin/sh\n%s -- srun -n6 %s\n%s -- mpiexec.mpich -n 6 %s\n' \
        "$run" "$app" "$run" "$app" >"$dir/home/job"
    printf '%s -- srun -n8 %s\necho status $?\n' "$run" "$app" >>"$dir/home/job"
    chmod 755 "$dir/home/job"
    on_plain sbatch -W -N2 --ntasks-per-node=4 -o "$dir/home/out" "$dir/home/job"
    ended_with 0
    run cat "$dir/home/out"
    [ "$(grep -c '6 user ranks and 2 ghosts on 2 nodes' <<<"$output")" -eq 2 ]
    printed 'node 1 of the allocation has 4 CPU.* need 5: .*ask salloc or sbatch'
    printed '^status 2$'
}

@test "srun: what is wrong is said before anything is launched" {
    local what text
    while IFS='|' read -r what text; do
        # shellcheck disable=SC2086
        run_srun --async-progress=ghost:1 -- $what
        ended_with 2
        printed "^aspen: .*$text"
        [ "${#lines[@]}" -eq 1 ]
    done <<'END'
-n2 --multi-prog file|--multi-prog names programs in a file
-n1 hostname : -n1 hostname|heterogeneous steps
--bcast=/tmp/x -n2 hostname|--bcast would send aspen-task
-N1 -n5 hostname|need 6 CPUs per node, but nodes have at most 4
--frob nicate hostname|--frob is not known to aspen run
-n2 -m arbitrary -w n1,n2 hostname|arbitrary
-n2|no program
END
    run_srun --async-progress=ghost:1 -- -n2 -N1 false
    ended_with 1
    # with mode off nothing stands before programs, so nothing is refused
    printf '0-1 echo two of a file\n' >"$dir/home/programs"
    run_srun --async-progress=off -- -n2 -N1 --multi-prog "$dir/home/programs"
    ended_with 0
    [ "$(grep -c '^two of a file$' <<<"$output")" -eq 2 ]
}

@test "srun: where the site has the plugin, it is left to it" {
    app=$ASPEN_BUILD/examples/rma_stall
    local yield=$ASPEN_BUILD/tests/.libs/yield.so
    run as_user env "LD_PRELOAD=$yield" "$ASPEN_PREFIX/bin/aspen" run \
        --async-progress=ghost:1 --async-report -- srun -N2 -n4 "$app" 1000
    took -lt 600
    printed "^aspen: this site has Aspen's plugin, so srun does it$"
    printed '^aspen: ghost mode, 4 user ranks and 2 ghosts on 2 nodes, '
    # and where that was not seen, there are not two layouts
    local task=$ASPEN_PREFIX/libexec/aspen/aspen-task
    run as_user srun -n2 -N1 --async-progress=ghost:1 "$task" launcher=srun \
        spec=ghost:1 -- echo the program runs
    ((status != 0))
    printed "plugin has given the step a layout"
    not_printed 'the program runs'
}
