# SPDX-License-Identifier: BSD-3-Clause
# Slurm starts ghosts as it starts any task: with the job's limits, after the
# TaskProlog, with what that exported. But nothing is preloaded into them.
load helpers

setup() {
    look=$BATS_FILE_TMPDIR/look
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
    # What the ghost beside this task got: the children of one slurmstepd.
    cat >"$look" <<'END'
#!/bin/bash
for try in {1..300}; do
    for pid in $(pgrep -P "$PPID" -x aspen-ghost); do
        grep -E '^Max (open files|core file size|stack)' /proc/$pid/limits
        tr '\0' '\n' <"/proc/$pid/environ"
        for try in {1..100}; do # until it has taken its streams
            [[ $(readlink "/proc/$pid/fd/0") == /dev/null &&
                $(readlink "/proc/$pid/fd/1") == pipe:* ]] && break
            sleep 0.1
        done
        echo "stdin $(readlink "/proc/$pid/fd/0")"
        echo "stdout $(readlink "/proc/$pid/fd/1")"
        echo "words $(tr '\0' '\n' <"/proc/$pid/cmdline" | wc -l)"
        exit
    done
    sleep 0.1
done
END
    chmod 755 "$look"
}

@test "a ghost has the job's limits, also as an ordinary user" {
    local who
    for who in on_cluster as_user; do
        run $who sh -c "ulimit -Sc 4096 && ulimit -Sn 321 && ulimit -Ss 4321 &&
            srun -n1 --propagate=NOFILE,CORE,STACK --async-progress=ghost:1 \
                '$look'"
        ended_with 0
        printed '^Max open files +321 '
        printed '^Max core file size +2097152 '
        printed '^Max stack size +4424704 '
        printed '^stdin /dev/null$'
        printed '^stdout pipe:'
        printed '^words 1$'
    done
}

@test "a TaskProlog runs for ghosts, too; what is preloaded is not for them" {
    local prolog=$BATS_FILE_TMPDIR/prolog
    cat >"$prolog" <<'END'
#!/bin/sh
echo export SEEN=$SLURM_PROCID-$ASPEN_ROLE-${OF_THE_JOB:?}
echo print from prolog
echo export TMPDIR=/tmp/of-$SLURM_JOB_ID
END
    chmod 755 "$prolog"
    run on_cluster env OF_THE_JOB=x "LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        srun -n1 --task-prolog="$prolog" --async-progress=ghost:1 "$look"
    ended_with 0
    printed '^SEEN=1-ghost-x$'
    [ "$(grep -c '^from prolog$' <<<"$output")" -eq 1 ]
    printed '^TMPDIR=/tmp/of-[0-9]+$'
    printed '^ASPEN_ROLE=ghost$'
    not_printed '^(LD_PRELOAD|SLURM_RLIMIT_)'
}

@test "in a container there are no ghosts, and srun says so" {
    run on_cluster srun --container=/nowhere -N2 -n4 --async-progress=ghost:1 \
        hostname
    [ "$status" -ne 0 ]
    printed 'ghosts cannot run in a container'
    not_printed '^n[12]$'
}

@test "who enters MPI without our library does not wait for ever" {
    # Also below a shell. The library alone, in a program that calls no MPI, is
    # no reason to end anything.
    run on_cluster srun -N2 -n4 --async-progress=ghost:1 sh -c '
        [ "$SLURM_PROCID" != 3 ] || { sleep 9; echo "3 went on"; exit; }
        env LD_PRELOAD="$0" "$1" 20; echo "$SLURM_PROCID ended $?"' \
        "$ASPEN_BUILD/tests/.libs/yield.so" "$ASPEN_BUILD/examples/rma_stall"
    ended_with 0
    printed 'aspen-ghost: process [0-9]+ is in MPI_Init without Aspen'
    printed '^0 ended 137$'
    printed '^1 ended 137$'
    printed '^2 ended 137$'
    printed '^3 went on$'
}
