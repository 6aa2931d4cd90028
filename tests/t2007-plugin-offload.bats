# SPDX-License-Identifier: BSD-3-Clause
# Mode offload: -c means the user's CPUs. The filter asks for a core more per
# task, for the offload thread; where it cannot, or is absent, the thread takes
# one of the user's and the step says so.
load helpers

# SLURM_CPUS_PER_TASK as a task sees it, the true one, CPUs on its node.
show='echo "T $SLURM_PROCID/$SLURM_NTASKS c=$SLURM_CPUS_PER_TASK'
show+=' true=$ASPEN_CPUS_PER_TASK on=$SLURM_CPUS_ON_NODE o=$OMP_NUM_THREADS"'

setup_file() {
    export work=$ASPEN_BUILD/tests/t2007
    rm -rf "$work"
    mkdir -p "$work"
    chmod 777 "$work"
    cat >"$work/job" <<END
#!/bin/sh
PATH=/usr/bin:/bin
export PATH
echo "script c=\$SLURM_CPUS_PER_TASK on=\$SLURM_JOB_CPUS_PER_NODE"
srun /bin/sh -c '$show plain'
[ -z "\$SLURM_CPUS_PER_TASK" ] ||
    srun -c\$SLURM_CPUS_PER_TASK /bin/sh -c '$show same'
srun -n1 -N1 -c1 /bin/sh -c '$show one'
srun --async-progress=off /bin/sh -c '$show off'
END
    chmod 755 "$work/job"
}

teardown_file() { rm -rf "$work"; }

# have COUNT LINE srun-options...: so many tasks say just that.
have() {
    local count=$1 line=$2
    shift 2
    run on_cluster srun "$@" sh -c "$show"
    ended_with 0
    times "$count" "^T [0-9]+/$count $line\$" && return
    echo "srun $*"
    return 1
}

# n lines that match $2
times() {
    [ "$(grep -cE -- "$2" <<<"$output")" -eq "$1" ] && return
    echo "not $1 times '$2' in:"
    echo "$output"
    return 1
}

# A step without -c in an allocation with one: from 23.11 on srun takes it from
# SLURM_CPUS_PER_TASK, and counts CPUs then.
setup() {
    inherits='' off=4 off_salloc=3
    ! slurm_since 23.11.0 || inherits=yes off=3 off_salloc=4
}

quiet() { not_printed 'aspen:|rror|may never run'; }

offload() { have "$1" "$2" -p shared --async-progress=offload "${@:3}"; }

@test "without -c each task gets a CPU and one for its thread" {
    offload 2 'c= true=2 on=4 o=' -n2
    quiet
    offload 2 'c= true=2 on=2 o=' -N2
    quiet
    offload 1 'c= true=2 on=2 o='
    quiet
}

@test "-c counts the user's CPUs, and srun does not warn of it" {
    offload 2 'c=3 true=4 on=4 o=' -n2 -c3
    quiet
    offload 1 'c=1 true=2 on=2 o=' -n1 -c1 --exclusive
    quiet
}

@test "a variable of the user's for OpenMP stays, none is invented" {
    run on_cluster env OMP_NUM_THREADS=7 srun -p shared -n1 -c2 \
        --async-progress=offload sh -c "$show"
    printed '^T 0/1 c=2 true=3 on=3 o=7$'
}

@test "whole nodes: all CPUs stay the step's, only nodes are added" {
    have 2 'c= true= on=4 o=' -N2 --async-progress=offload
    printed 'aspen: 2 tasks, 4 CPUs each: 3 \+ 1 for the offload thread'
    have 4 'c= true= on=4 o=' -n4 --async-progress=offload
    printed 'aspen: 4 tasks, 2 CPUs each: 1 \+ 1 for the offload thread'
    have 2 'c=2 true=3 on=3 o=' -n2 -N2 -c2 --async-progress=offload
    quiet
}

@test "no room for more: the thread takes one of the user's, in one line" {
    offload 2 'c=4 true= on=4 o=' -N2 -n2 -c4
    printed '^aspen: 2 tasks, 4 CPUs each: 3 \+ 1 for the offload thread$'
    times 1 aspen:
    offload 8 'c=1 true= on=4 o=' -N2 -n8 -c1
    printed '^aspen: 8 tasks, 1 CPU each: none for the offload thread$'
    offload 6 'c= true= on=[1-4] o=' -n6 -O
    run on_cluster srun -N2 -n8 -c1 --async-progress=offload,require hostname
    [ "$status" -ne 0 ]
    printed 'no CPU for the offload threads.*require, so the step fails'
}

@test "sbatch -c3: the script and its steps see 3, nothing grows twice" {
    run on_cluster sbatch -W -p shared -n2 -c3 --async-progress=offload \
        -o "$work/out" "$work/job"
    ended_with 0
    output=$(cat "$work/out")
    printed '^script c=3 on=4\(x2\)$'
    times 2 "^T ./2 c=3 true=${inherits:+4} on=4 o= plain\$"
    times 2 '^T ./2 c=3 true=4 on=4 o= same$'
    times 1 '^T 0/1 c=1 true=2 on=2 o= one$'
    times 2 "^T ./2 c=3 true= on=$off o= off\$"
    quiet
}

@test "sbatch without -c: the script sees none" {
    run as_user sbatch -W -p shared -n2 --export=NONE \
        --async-progress=offload -o "$work/out2" "$work/job"
    ended_with 0
    output=$(cat "$work/out2")
    printed '^script c= on=4$'
    times 2 '^T ./2 c= true= on=4 o= plain$'
    times 1 '^T 0/1 c=1 true=2 on=2 o= one$'
    quiet
}

@test "salloc: steps see the user's CPUs, whichever of the two they name" {
    run on_cluster salloc -p shared -n1 -c3 --async-progress=offload \
        "$work/job"
    ended_with 0
    printed '^script c=4 on=4$'
    times 1 "^T 0/1 c=3 true=${inherits:+4} on=4 o= plain\$"
    times 1 '^T 0/1 c=3 true=4 on=4 o= same$'
    times 1 '^T 0/1 c=1 true=2 on=2 o= one$'
    # The shell's number is Slurm's, and so is a plain step's.
    times 1 "^T 0/1 c=$off_salloc true= on=4 o= off\$"
    quiet
}

@test "an allocation that was not grown: what fits grows, what does not stays" {
    run on_cluster salloc -p shared -n2 -c4 \
        srun -c4 --async-progress=offload sh -c "$show"
    times 2 '^T ./2 c=4 true= on=4 o=$'
    printed '2 tasks, 4 CPUs each: 3 \+ 1 for the offload thread'
    run on_cluster salloc -p shared -n2 -c4 \
        srun -c2 --async-progress=offload sh -c "$show"
    times 2 '^T ./2 c=2 true=3 on=[36] o=$'
    quiet
}

# A cluster, or a change of one, for some of the tests.
teardown() {
    [ -z "${conf-}" ] || mv "$conf/slurm.conf.on" "$conf/slurm.conf"
    [ -z "${smt-}" ] || "$ASPEN_TOP/scripts/cluster" down --dir "$smt"
}

@test "without the filter the thread's CPU comes out of -c" {
    conf=$(on_cluster sh -c 'dirname "$SLURM_CONF"')
    sed -i.on 's/^CliFilterPlugins=/#&/' "$conf/slurm.conf"
    offload 2 'c=3 true= on=3 o=' -N2 -n2 -c3
    printed '^aspen: 2 tasks, 3 CPUs each: 2 \+ 1 for the offload thread$'
    times 1 aspen:
}

@test "cores of two CPUs: a whole core more, or a thread if the policy allows" {
    smt=${ASPEN_CLUSTER_DIR:-$("$ASPEN_TOP/scripts/cluster" dir main)}-smt
    "$ASPEN_TOP/scripts/cluster" up --dir "$smt" --nodes 1 --cpus 8 \
        --threads 2 --prefix "$ASPEN_PREFIX"
    ASPEN_CLUSTER_DIR=$smt
    offload 1 'c=2 true=4 on=4 o=' -n1 -c2
    offload 1 'c=3 true=6 on=6 o=' -n1 -c3
    offload 1 'c= true=4 on=4 o=' -n1
    have 1 'c=3 true=4 on=4 o=' -p shared -n1 -c3 \
        --async-progress=offload,placement.smt=use
    offload 1 'c=3 true=4 on=8 o=' -n1 -c3 --hint=nomultithread
    quiet
    offload 1 'c=4 true= on=8 o=' -n1 -c4 --threads-per-core=1
    offload 3 'c=2 true= on=6 o=' -n3 -c2
    printed '3 tasks, 2 CPUs each: none for the offload thread'
}
