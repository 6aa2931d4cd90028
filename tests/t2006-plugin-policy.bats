# SPDX-License-Identifier: BSD-3-Clause
# The site's rules decide mode and number of ghosts in srun already, because
# the tasks are counted there: what they match must be known there.
load helpers

setup_file() {
    export conf policy=$ASPEN_BUILD/tests/t2006-site.yaml
    conf=$(on_cluster sh -c 'dirname "$SLURM_CONF"')
    cp "$conf/plugstack.conf" "$conf/plugstack.saved"
    sed -n "s|^\(optional .*aspen_spank.so\).*|\1 policy=$policy|p" \
        "$ASPEN_PREFIX"/etc/aspen/plugstack.conf.d/aspen.conf \
        >"$conf/plugstack.conf"
}

teardown_file() {
    mv "$conf/plugstack.saved" "$conf/plugstack.conf"
    rm -f "$policy"
}

# site LINE...: the site policy
site() {
    printf '%s\n' 'version: 1' "$@" >"$policy"
    chmod 644 "$policy"
}

# have WANT srun-options...: tasks of the step, ghosts included, user tasks
have() {
    run on_cluster srun "${@:2}" \
        sh -c 'echo "T ${ASPEN_NTASKS-none} $SLURM_NTASKS"'
    ended_with 0
    [ "$(grep '^T ' <<<"$output" | sort -u)" = "T $1" ] && return
    echo "srun ${*:2}: wanted $1 in:"
    echo "$output"
    return 1
}

@test "rules on partition, nodes, tasks per node and program count" {
    site 'rules:' \
        '  - match: {partition: main, nodes: 2}' '    set: {ghosts: 2}' \
        '  - match: {tasks_per_node: ">=3"}' '    set: {ghosts: 1}' \
        '  - match: {program: "*sh"}' '    set: {idle.spin_us: 7}'
    have '8 4' -N2 -n4 --async-progress
    have '8 4' -p main -N2 -n4 --async-progress
    have '3 2' -N1 -n2 --async-progress
    have '8 6' -N2 -n6 --async-progress
    have '6 4' -N2 -n4 --async-progress=ghost:1
    site 'rules:' '  - match: {program: "sh"}' '    set: {ghosts: 2}'
    have '8 4' -N2 -n4 --async-progress
}

@test "rules hold in batch jobs, too" {
    site 'rules:' '  - match: {partition: main}' '    set: {ghosts: 2}'
    run on_cluster sbatch -W -N2 -n4 --async-progress \
        -o "$ASPEN_BUILD/tests/t2006.out" \
        --wrap 'srun sh -c "echo T \$ASPEN_NTASKS \$SLURM_NTASKS"'
    ended_with 0
    [ "$(grep -c '^T 8 4$' "$ASPEN_BUILD/tests/t2006.out")" -eq 4 ]
}

@test "a limit cuts a request down, and says so once" {
    site 'limits:' '  ghosts: {max: 1}'
    run on_cluster srun -N2 -n4 --async-progress=ghost:3 \
        sh -c 'echo "T $ASPEN_NTASKS"'
    ended_with 0
    [ "$(grep -c '^T 6$' <<<"$output")" -eq 4 ]
    [ "$(grep -c 'aspen: .*ghosts' <<<"$output")" -eq 1 ]
    site 'limits:' '  mode: {allow: [off]}'
    have 'none 4' -N2 -n4 --async-progress
    printed 'aspen: '
}

@test "a site policy that others can write is refused with its name" {
    site 'defaults: {ghosts: 1}'
    chmod 666 "$policy"
    run on_cluster srun -n2 --async-progress=ghost:1 hostname
    ended_with 1
    printed "aspen: .*$policy"
    not_printed '^n1$'
    run on_cluster srun -n2 hostname
    ended_with 0
}

# on CPUS srun-options...: CPUs that the step has on each node
on() {
    # shellcheck disable=SC2016
    run on_cluster srun -p shared "${@:2}" sh -c 'echo "T $SLURM_CPUS_ON_NODE"'
    ended_with 0
    [ "$(grep '^T ' <<<"$output" | sort -u)" = "T $1" ] && return
    echo "srun ${*:2}: wanted $1 CPUs in:"
    echo "$output"
    return 1
}

@test "what the site says of service cores and sharing is counted, too" {
    local three=3
    slurm_since 24.11.1 && three=4    # tasks of two CPUs, see t2008
    site 'defaults: {thread.service_cores: 2}'
    on 4 -N1 -n2 --async-progress=thread
    on $three -N1 -n2 --async-progress=thread,thread.service_cores=1
    not_printed 'aspen:'
    site 'limits:' '  thread.service_cores: {min: 2}'
    on 4 -N1 -n2 --async-progress=thread
    site 'rules:' '  - match: {partition: shared, nodes: 1}' \
        '    set: {thread.service_cores: 3}'
    on 4 -N1 -n1 --async-progress=thread
    site 'defaults: {placement.share: yes}'
    run on_cluster srun -N2 -n8 --async-progress=ghost:1 hostname
    [ "$status" -ne 0 ]
    printed 'placement.share=yes. need .*--overcommit'
}
