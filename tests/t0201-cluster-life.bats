# SPDX-License-Identifier: BSD-3-Clause
# scripts/cluster: up, down, crashes, several at once. Brings its own clusters,
# of one or two small nodes without Aspen.
load helpers

script=$ASPEN_TOP/scripts/cluster

setup() {
    dir=$("$script" dir life-$$)
    other=$("$script" dir life2-$$)
}

teardown() {
    "$script" down --dir "$dir"
    "$script" down --dir "$other"
}

up() { timeout 60 "$script" up --no-plugin --dir "$dir" "$@"; }
in_it() { timeout 30 "$script" run --dir "$dir" -- "$@"; }
init_of() { cut -d' ' -f1 "$1/ns/init"; }

# Everything this cluster could leave on the machine, and nothing that other
# programs come and go with.
traces() {
    ip -o link
    ip netns list
    grep -v ' - cgroup' /proc/self/mountinfo
    ls -d "$dir" /tmp/aspen-left /dev/shm/aspen-left
    find /sys/fs/cgroup -maxdepth 3 \
        -name "aspen-$(printf %s "$dir" | cksum | cut -d' ' -f1)"
    ipcs -m | grep -w 4711
    ps -eo args | grep -F "$dir" | grep -vE 'grep|bats|ps -eo'
    cat /etc/passwd /etc/group /etc/hosts
} 2>/dev/null

@test "up in a few seconds, up again, down, down again" {
    local begin=$SECONDS
    run up
    ended_with 0
    ((SECONDS - begin <= 15))
    run up
    ended_with 0
    printed 'already up'
    run "$script" status --dir "$dir"
    ended_with 0
    printed '^n2 .*idle'
    run up --cpus 2
    ended_with 1
    printed 'other options'
    run "$script" down --dir "$dir"
    ended_with 0
    [ ! -e "$dir" ]
    run "$script" down --dir "$dir"
    ended_with 0
    printed 'no cluster'
    run "$script" status --dir "$dir"
    ended_with 1
}

@test "down leaves nothing on the machine" {
    local before after
    before=$(traces || true)
    up
    in_it srun -N2 sh -c 'touch /tmp/aspen-left /dev/shm/aspen-left
        ipcmk -M 4711 >/dev/null'
    # A job, and a process that hides from its job, are running.
    in_it sbatch -p shared -N2 -o /dev/null --wrap 'sleep 4711'
    in_it srun -p shared -N1 sh -c 'setsid sleep 4711 >/dev/null 2>&1 &'
    [ "$(traces | wc -l)" -gt "$(wc -l <<<"$before")" ]
    "$script" down --dir "$dir"
    after=$(traces || true)
    diff <(echo "$before") <(echo "$after")
    [ -z "$(ps -eo args | grep '^sleep 471[1]')" ]
}

@test "a process that left the tree ends with its step" {
    local track
    for track in linuxproc auto; do
        up --nodes 1 --proctrack "$track"
        in_it srun -n1 sh -c '(setsid sleep 4712 >/dev/null 2>&1 &); exit 0'
        run in_it ps -eo args
        not_printed 'sleep 4712'
        "$script" down --dir "$dir"
    done
}

@test "two clusters at once do not see each other" {
    up --nodes 1
    timeout 60 "$script" up --no-plugin --nodes 1 --cpus 2 --dir "$other"
    run in_it srun -n4 hostname
    ended_with 0
    run timeout 30 "$script" run --dir "$other" -- srun -n4 hostname
    ended_with 1
    printed 'More processors requested'
    run timeout 30 "$script" run --dir "$other" -- srun -n2 ps -eo args
    not_printed "$dir"
    "$script" down --dir "$dir"
    run timeout 30 "$script" run --dir "$other" -- srun -n2 hostname
    ended_with 0
}

@test "two ups of one cluster at once: one starts it, one finds it" {
    up --nodes 1 >"$BATS_TEST_TMPDIR/one" 2>&1 3>&- &
    run up --nodes 1
    ended_with 0
    wait $!
    cat "$BATS_TEST_TMPDIR/one" - <<<"$output" >"$BATS_TEST_TMPDIR/both"
    [ "$(grep -c 'up after' "$BATS_TEST_TMPDIR/both")" -eq 1 ]
    [ "$(grep -c 'already up' "$BATS_TEST_TMPDIR/both")" -eq 1 ]
}

@test "after kill -9 of slurmctld and a slurmd, up starts afresh" {
    local first
    up
    first=$(cat "$dir/ns/init")
    in_it sh -c 'kill -9 "$(cut -d" " -f1 "$1/ns/slurmctld")" \
        "$(cut -d" " -f1 "$1/ns/slurmd.n2")"' sh "$dir"
    run "$script" status --dir "$dir"
    ended_with 1
    printed 'not running: slurmctld slurmd.n2'
    run up
    ended_with 0
    printed 'removing'
    [ "$first" != "$(cat "$dir/ns/init")" ]
    run in_it srun -N2 hostname
    ended_with 0
}

@test "after kill -9 of everything, up and down remove the remains" {
    local pid
    up --nodes 1
    pid=$(init_of "$dir")
    kill -9 "$pid"
    run "$script" status --dir "$dir"
    ended_with 1
    printed 'remains'
    run up --nodes 1
    ended_with 0
    printed 'crashed cluster'
    kill -9 "$(init_of "$dir")"
    run "$script" down --dir "$dir"
    ended_with 0
    [ ! -e "$dir" ]
}

@test "a recorded number that another process has now is left alone" {
    sleep 60 3>&- &
    mkdir -p "$dir/ns"
    touch "$dir/made-by-aspen-cluster"
    echo "$! 1 $(cat /proc/sys/kernel/random/boot_id)" |
        tee "$dir/ns/init" >"$dir/ns/keeper"
    run "$script" down --dir "$dir"
    ended_with 0
    kill "$!"
    [ ! -e "$dir" ]
}

@test "a directory that no up made is left alone" {
    local what=$BATS_TEST_TMPDIR/precious
    mkdir -p "$what/ns" "$what/etc"
    touch "$what/thesis"
    run "$script" down --dir "$what"
    ended_with 1
    printed 'not made by scripts/cluster up'
    run env ASPEN_CLUSTER_DIR="$what" "$script" up --no-plugin
    ended_with 1
    printed 'not made by scripts/cluster up'
    [ -e "$what/thesis" ]
    [ ! -e "$what/lock" ]
    [ -d "$what/ns" ]
}

@test "up that fails half way says why and leaves nothing" {
    run up --conf 'NoSuchOption=1'
    ended_with 1
    printed 'slurmctld did not start'
    printed 'unrecognized key: NoSuchOption'
    [ ! -e "$dir" ]
    [ -z "$(ps -eo args | grep -F "$dir" | grep -vE 'grep|bats')" ]
}

@test "up that is interrupted leaves nothing" {
    local pid ended=0
    "$script" up --no-plugin --dir "$dir" >/dev/null 2>&1 3>&- &
    pid=$!
    sleep 0.3
    kill -TERM "$pid"
    wait "$pid" || ended=$?
    [ "$ended" -ne 0 ]
    [ ! -e "$dir" ]
    [ -z "$(ps -eo args | grep -F "$dir" | grep -vE 'grep|bats')" ]
}

@test "up that is killed leaves what down finds" {
    local delay
    for delay in 0.1 0.2 0.4; do
        timeout -s KILL "$delay" "$script" up --no-plugin --nodes 1 \
            --dir "$dir" >/dev/null 2>&1 3>&- || true
        "$script" down --dir "$dir"
        [ ! -e "$dir" ]
        run ps -eo args
        not_printed "cluster-ns [a-z0-9]+ $dir"
    done
}

@test "wrong options are refused with a reason" {
    run "$script" up --dir "$dir" --nodes 0
    ended_with 1
    printed 'not a count'
    run "$script" up --dir "$dir" --cpus 3 --sockets 2
    ended_with 1
    run "$script" up --dir "$dir" --fabric token-ring
    ended_with 1
    printed 'shm, tcp or ofi-tcp'
    run "$script" up --dir "$dir" --bind
    ended_with 1
    printed 'nodes 1'
    run "$script" up --dir "$dir" --nodes
    ended_with 1
    printed 'needs a value'
    run "$script" fly --dir "$dir"
    ended_with 1
    printed 'unknown command'
    run "$script" run --dir "$dir" -- true
    ended_with 1
    printed 'no cluster is up'
    [ ! -e "$dir" ]
    run "$script" --help
    ended_with 0
    printed 'fabric'
}
