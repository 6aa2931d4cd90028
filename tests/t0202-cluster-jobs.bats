# SPDX-License-Identifier: BSD-3-Clause
# scripts/cluster: what runs on it, plain MPI first: when these fail, look no
# further. Brings its own clusters without Aspen.
load helpers
bats_require_minimum_version 1.5.0

script=$ASPEN_TOP/scripts/cluster
nodes=$ASPEN_BUILD/tests/mpi_nodes
yield=$ASPEN_BUILD/tests/.libs/yield.so

setup_file() {
    export dir
    dir=$("$ASPEN_TOP/scripts/cluster" dir jobs-$$)
    timeout 60 "$ASPEN_TOP/scripts/cluster" up --no-plugin --dir "$dir"
}

teardown_file() { "$ASPEN_TOP/scripts/cluster" down --dir "$dir"; }

teardown() {
    [ -z "${extra-}" ] || "$script" down --dir "$extra"
}

in_it() { timeout -k 5 30 "$script" run --dir "${extra:-$dir}" "$@"; }

@test "srun reaches both nodes, each with its own name" {
    run in_it -- srun -N2 hostname
    ended_with 0
    printed '^n1$'
    printed '^n2$'
}

@test "an MPI job sees Slurm's nodes as its nodes" {
    run in_it -- env LD_PRELOAD="$yield" srun -N2 --ntasks-per-node=2 "$nodes"
    ended_with 0
    printed '^rank 0 of 4 on n1: 0 of 2 there, uid 0, data good'
    printed '^rank 1 of 4 on n1: 1 of 2 there'
    printed '^rank 3 of 4 on n2: 1 of 2 there'
}

@test "the same as an ordinary user" {
    run in_it --user aspen-test -- env LD_PRELOAD="$yield" \
        srun -N2 --ntasks-per-node=2 "$nodes"
    ended_with 0
    [ "$(grep -cE 'uid [1-9][0-9]*, data good' <<<"$output")" -eq 4 ]
}

@test "between nodes the shm fabric is shared memory" {
    run in_it -- env LD_PRELOAD="$yield" UCX_LOG_LEVEL=info \
        srun -N2 --ntasks-per-node=1 "$nodes"
    ended_with 0
    printed 'sysv/memory'
    not_printed 'tcp/'
}

@test "four nodes" {
    extra=$("$script" dir four-$$)
    timeout 60 "$script" up --no-plugin --nodes 4 --cpus 2 --dir "$extra"
    run in_it -- env LD_PRELOAD="$yield" srun -N4 --ntasks-per-node=1 "$nodes"
    ended_with 0
    printed '^rank 3 of 4 on n4: 0 of 1 there, uid 0, data good'
}

@test "sbatch and salloc as an ordinary user, who has a home" {
    run in_it --user aspen-test -- sh -c '
        cd && printf "#!/bin/sh\nsrun -N2 hostname\nid -un\n" >job &&
        sbatch --wait -N2 -o job.out job && cat job.out &&
        salloc -N2 srun -n2 hostname'
    ended_with 0
    [ "$(grep -cE '^n[12]$' <<<"$output")" -eq 4 ]
    printed '^aspen-test$'
}

@test "a job with --export=NONE finds the cluster" {
    run in_it --user aspen-test -- sh -c '
        cd && printf "#!/bin/sh\nenv -u SLURM_CONF sinfo -h -o %%N\n" >bare &&
        sbatch --export=NONE --wait -o bare.out bare && cat bare.out'
    ended_with 0
    printed '^n\[1-2\]$'
}

@test "several steps and jobs share a node" {
    run in_it -- sh -c 'for i in 1 2 3 4; do srun -p shared -w n1 -n1 sleep 0.5 & done
        wait; squeue -h -t R,PD'
    ended_with 0
    not_printed '^ +[0-9]+ '
    not_printed 'error'
}

@test "run passes input, output, arguments, status and directory" {
    cd "$ASPEN_TOP/tests"
    run bash -c 'echo "a  b" | "$1" run --dir "$2" -- cat' - "$script" "$dir"
    [ "$output" = 'a  b' ]
    run in_it -- sh -c 'printf "<%s>" "$@"; pwd; exit 7' - 'a b' '' '*'
    ended_with 7
    [ "$output" = "<a b><><*>$ASPEN_TOP/tests" ]
    run in_it -- srun sh -c 'exit 9'
    ended_with 9
    run -127 in_it -- no-such-command
    run in_it --node n2 -- hostname
    [ "$output" = n2 ]
    run in_it --user nobody-here -- true
    ended_with 1
    printed 'no such user'
    run in_it --node n3 -- true
    ended_with 1
    printed 'n\[1-2\]'
}

@test "a signal to run reaches the command, once, and not only the relay" {
    local pid ended=0 out=$BATS_TEST_TMPDIR/out
    "$script" run --dir "$dir" -- sh -c '
        trap "echo got it" USR1; trap "exit 3" TERM; echo ready
        while :; do sleep 0.1; done' >"$out" 3>&- &
    pid=$!
    timeout 5 sh -c 'until grep -q ready "$1"; do sleep 0.1; done' - "$out"
    kill -USR1 "$pid"
    timeout 5 sh -c 'until grep -q got "$1"; do sleep 0.1; done' - "$out"
    kill -TERM "$pid"
    wait "$pid" || ended=$?
    [ "$ended" -eq 3 ]
    [ "$(grep -c 'got it' "$out")" -eq 1 ]
}

@test "ending run ends its job" {
    run timeout 1 "$script" run --dir "$dir" -- srun sleep 4713
    ended_with 124
    run timeout 10 "$script" run --dir "$dir" -- \
        sh -c 'while squeue -h | grep -q .; do sleep 0.1; done; ps -eo args'
    ended_with 0
    not_printed '^sleep 4713'
}

@test "nodes share files but not /tmp and /dev/shm" {
    run in_it -- srun -N2 sh -c 'touch /tmp/$(hostname) /dev/shm/$(hostname)
        ls /tmp /dev/shm'
    ended_with 0
    [ "$(grep -c '^n1$' <<<"$output")" -eq 2 ]
    [ ! -e /tmp/n1 ]
    [ ! -e /dev/shm/n1 ]
}

@test "no route leads off the cluster" {
    run in_it -- srun -n1 ip route show default
    ended_with 0
    [ -z "$output" ]
    run in_it -- srun -n1 sh -c 'ls /sys/class/net'
    [ "$(xargs <<<"$output")" = "eth0 lo" ]
}

@test "a cancelled job that ignores TERM ends, and nodes stay usable" {
    run in_it -- sh -c 'echo "#!/bin/sh
        trap : TERM; while :; do sleep 0.1; done" >$1/home/deaf
        sbatch -o /dev/null -w n2 $1/home/deaf
        scancel -u root
        while squeue -h | grep -q .; do sleep 0.1; done
        sinfo -h -t idle -o %N' - "$dir"
    ended_with 0
    printed '^n\[1-2\]$'
}

@test "the test user reaches a shared directory below closed ones and /tmp" {
    local closed
    extra=$("$script" dir share-$$)
    closed=$(mktemp -d -p "$BATS_TEST_TMPDIR")
    mkdir -p "$closed/in/open"
    echo 'hello there' >"$closed/in/open/file"
    echo aside >"$closed/other"
    chmod 700 "$closed" "$closed/in"
    timeout 60 "$script" up --no-plugin --nodes 1 --share "$closed/in/open" \
        --dir "$extra"
    run in_it --user aspen-test -- srun cat "$closed/in/open/file"
    ended_with 0
    [ "$output" = 'hello there' ]
    run in_it -- srun sh -c 'echo back >"$1/in/open/back"' - "$closed"
    ended_with 0
    [ "$(cat "$closed/in/open/back")" = back ]
    [ "$(stat -c %a "$closed")" = 700 ]
}

@test "hwloc shows the node daemons what --cpus and --sockets say" {
    extra=$("$script" dir sockets-$$)
    timeout 60 "$script" up --no-plugin --nodes 1 --cpus 6 --sockets 2 \
        --dir "$extra"
    run in_it -- sh -c 'scontrol show node n1; grep -h CPUs= "$1"/log/*n1.log' \
        - "$extra"
    printed 'CPUTot=6'
    printed 'Sockets=2'
    printed 'CPUs=6 Boards=1 Sockets=2 Cores=3 Threads=1'
    not_printed 'differs from hardware'
}

@test "PMIx jobs run too" {
    run in_it --user aspen-test -- srun --mpi=pmix -N2 --ntasks-per-node=2 \
        sh -c 'echo "$PMIX_RANK $(hostname)"'
    ended_with 0
    printed '^0 n1$'
    printed '^3 n2$'
}

@test "the first minutes of docs/HACKING.md go as written" {
    local line
    extra=$("$script" dir hacking-$$)
    export ASPEN_CLUSTER_DIR=$extra
    mapfile -t lines < <(sed -n 's/^    \(scripts\/cluster [^#]*\).*/\1/p' \
        "$ASPEN_TOP/docs/HACKING.md")
    [ "${#lines[@]}" -ge 3 ]
    for line in "${lines[@]}"; do
        run timeout 60 sh -c "cd '$ASPEN_TOP' && $line"
        ended_with 0
        [[ $line != *srun* ]] || printed '^n2$'
    done
    [ ! -e "$extra" ]
}
