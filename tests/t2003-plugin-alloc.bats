# SPDX-License-Identifier: BSD-3-Clause
# sbatch and salloc: the allocation is grown, the script sees the user's counts,
# and an srun in it is grown again to just fit.
load helpers

setup_file() {
    export work=$ASPEN_BUILD/tests/t2003
    rm -rf "$work"
    mkdir -p "$work"
    chmod 777 "$work"
    cat >"$work/job" <<'END'
#!/bin/sh
PATH=/usr/bin:/bin
export PATH
echo "script $SLURM_NTASKS $SLURM_NPROCS $SLURM_TASKS_PER_NODE"
srun /bin/sh -c 'echo "all $SLURM_PROCID/$SLURM_NTASKS $ASPEN_ROLE"'
srun -n2 /bin/sh -c 'echo "two $SLURM_PROCID/$SLURM_NTASKS $ASPEN_ROLE"'
srun --async-progress=off /bin/sh -c 'echo "off $SLURM_NTASKS $ASPEN_ROLE."'
ASPEN_PROGRESS=off srun /bin/sh -c 'echo "env $SLURM_NTASKS $ASPEN_ROLE."'
END
    chmod 755 "$work/job"
}

teardown_file() { rm -rf "$work"; }

# n lines that match $2
times() {
    [ "$(grep -cE -- "$2" <<<"$output")" -eq "$1" ] && return
    echo "not $1 times '$2' in:"
    echo "$output"
    return 1
}

check_job() {
    times 1 '^all 0/6 user'
    times 1 '^all 5/6 user'
    times 6 '^all ./6 user'
    times 2 '^two ./2 user'
    times 6 '^off 6 \.$'
    times 6 '^env 6 \.$'
    not_printed 'rror'
}

batch() {
    rm -f "$work/out"
    run "$1" sbatch -W -N2 -n6 -o "$work/out" "${@:2}" "$work/job"
    ended_with 0
    output=$(cat "$work/out")
    printed '^script 6 6 3\(x2\)$'
    check_job
}

@test "sbatch: script and steps see user tasks" {
    batch on_cluster --async-progress=ghost:1
}

# Slurm repeats -c as a TRES in the environment (from 23.11 on): not a device.
@test "salloc -c: a step with ghosts in it has tasks of as many CPUs" {
    # shellcheck disable=SC2016
    run on_cluster salloc -N2 -n2 -c2 --async-progress=ghost:1 srun sh -c \
        'echo "T $SLURM_NTASKS c=$SLURM_CPUS_PER_TASK $SLURM_TRES_PER_TASK"'
    ended_with 0
    times 2 '^T 2 c=2 (cpu[:=]2)?$'
    not_printed 'aspen:'
}

@test "--tres-per-task=cpu=2 is -c2, and no device" {
    slurm_since 23.11.0 || {
        run on_cluster srun -N2 -n2 --tres-per-task=cpu=2 hostname
        [ "$status" -ne 0 ] # no such option, or no such TRES
        return
    }
    run on_cluster srun -N2 -n2 --tres-per-task=cpu=2 --async-progress=ghost:1 \
        hostname
    ended_with 0
    times 1 '^n1$'
    times 1 '^n2$'
    run on_cluster srun -N2 -n4 --tres-per-task=cpu=2 --async-progress=ghost:1 \
        hostname
    [ "$status" -ne 0 ]
    printed '2 user task.* 1 ghost.* of 2 CPU.* need 6 CPUs per node'
    run on_cluster srun -N2 -n2 --tres-per-task=cpu=2 --async-progress=offload \
        hostname
    ended_with 0
}

@test "sbatch --export=NONE, as a user" {
    batch as_user --export=NONE --async-progress=ghost:1
}

@test "sbatch with the environment twin and --export=NONE" {
    rm -f "$work/out"
    run on_cluster env ASPEN_PROGRESS=ghost:1 sbatch -W -N2 -n6 \
        --export=NONE -o "$work/out" "$work/job"
    ended_with 0
    output=$(cat "$work/out")
    check_job
}

@test "sbatch's own option wins over the twin of the shell" {
    rm -f "$work/out"
    run on_cluster env ASPEN_PROGRESS=off sbatch -W -N2 -n6 \
        --async-progress=ghost:1 -o "$work/out" "$work/job"
    ended_with 0
    output=$(cat "$work/out")
    times 6 '^all ./6 user'
    times 2 '^two ./2 user'
}

@test "the script sees the user's plane, not the widened one" {
    rm -f "$work/out"
    run on_cluster sbatch -W -O -N2 -n4 -m plane=2 -o "$work/out" \
        --async-progress=ghost:1 --wrap 'echo "plane $SLURM_DIST_PLANESIZE"'
    ended_with 0
    output=$(cat "$work/out")
    printed '^plane 2$'
}

@test "a policy for shared cores, as its comment says" {
    run on_cluster salloc -N2 -n8 srun -O --async-progress \
        --async-policy="$ASPEN_TOP/policies/shared-cores.yaml" \
        /bin/sh -c 'echo "all $SLURM_NTASKS $ASPEN_ROLE"'
    ended_with 0
    times 8 '^all 8 user'
}

@test "an option in the script's #SBATCH lines" {
    sed '1a #SBATCH -N2 -n6 --async-progress=ghost:1' "$work/job" \
        >"$work/job2"
    run on_cluster sbatch -W -o "$work/out2" "$work/job2"
    ended_with 0
    output=$(cat "$work/out2")
    check_job
}

@test "salloc: steps see user tasks; the shell does not know of a layout" {
    run on_cluster salloc -N2 -n6 --async-progress=ghost:1 "$work/job"
    ended_with 0
    times 1 '^script '
    check_job
    run on_cluster salloc -n1 --async-progress=ghost:1 env
    not_printed '^ASPEN_LAYOUT'
    not_printed '^LD_PRELOAD=.*libaspen'
}

@test "in an allocation without room for ghosts srun refuses with numbers" {
    run on_cluster salloc -N2 --ntasks-per-node=4 \
        srun --async-progress=ghost:1 hostname
    [ "$status" -ne 0 ]
    printed 'node 1 of the allocation has 4 CPU.*4 user task.*1 ghost.*need 5'
    run on_cluster salloc -N2 --ntasks-per-node=4 \
        srun -n6 --async-progress=ghost:1 hostname
    ended_with 0
    times 6 '^n[12]$'
}

@test "a policy named to sbatch is found from another directory" {
    printf 'mode: ghost\nghosts: 1\n' >"$work/p.yaml"
    printf '#!/bin/sh\ncd /\nsrun sh -c "echo role \\$ASPEN_ROLE"\n' \
        >"$work/job3"
    run on_cluster sh -c "cd '$work' && sbatch -W -n2 -o out3 \
        --async-policy=p.yaml job3"
    ended_with 0
    output=$(cat "$work/out3")
    times 2 '^role user$'
}
