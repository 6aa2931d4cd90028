#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rules for windows under Slurm: from the site's file and the job's to windows
# on two nodes, and into the record.

load helpers

setup_file() {
    export conf policy=$ASPEN_BUILD/tests/t5051-site.yaml
    export job=$ASPEN_BUILD/tests/t5051-job.yaml
    export record=$ASPEN_BUILD/tests/t5051-record.json
    conf=$(on_cluster sh -c 'dirname "$SLURM_CONF"')
    cp "$conf/plugstack.conf" "$conf/plugstack.saved"
    sed -n "s|^\(optional .*aspen_spank.so\).*|\1 policy=$policy|p" \
        "$ASPEN_PREFIX"/etc/aspen/plugstack.conf.d/aspen.conf \
        >"$conf/plugstack.conf"
    printf '%s\n' 'version: 1' 'rules:' '  - match: {program: "rma_rules"}' \
        '    windows:' '      - {order: 1-2, async_config: off}' \
        '      - {order: 4, no_locks: yes}' \
        '  - match: {program: "other"}' \
        '    windows: [{async_config: off}]' \
        'limits:' '  rma.balance: {allow: [none, ops]}' >"$policy"
    chmod 644 "$policy"
}

teardown_file() {
    mv "$conf/plugstack.saved" "$conf/plugstack.conf"
    rm -f "$policy" "$job" "$record"
}

setup() {
    yield=$ASPEN_BUILD/tests/.libs/yield.so
}

# step OPTION...: run the windows of tests/rma/rules.c
step() {
    run on_cluster srun -N2 -n4 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=ghost:1 "--async-report=$record" "$@" \
        "$ASPEN_BUILD/tests/rma_rules"
}

# The ways of windows, by name, and the rules that held for them.
ways() {
    python3 - "$record" "$@" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
rules = [x["from"].rpartition("/")[2] for x in r["window_rules"]]
for name in sys.argv[2:]:
    w = [w for w in r["windows"] if w["name"] == name][0]
    print(name, w["way"], *[rules[i] for i in w["rules"]])
PY
}

@test "the site's rules for a program reach its windows on all nodes" {
    step
    ended_with 0
    printed '^ok rules'
    printed '^own 0: lock_all: MPI_ERR_RMA_SYNC'
    printed 'rule at t5051-site.yaml:6:9 says no_locks=true'
    [ "$(ways first even 'even only' 'own 0')" = "first asked \
t5051-site.yaml:5:9
even asked t5051-site.yaml:5:9
even only ghost
own 0 ghost t5051-site.yaml:6:9" ]
}

@test "the job's rules win over the site's, the site's limits over both" {
    printf '%s\n' 'windows:' '  - {order: 2, async_config: on}' \
        '  - {order: 4, no_locks: no}' \
        '  - {name: "first", rma: {balance: queue}}' >"$job"
    step "--async-policy=$job"
    ended_with 0
    printed '^ok rules'
    not_printed 'ERR'
    printed 'rma.balance queue \(t5051-job.yaml:4:5\) became none: limited by'
    [ "$(ways first even 'own 0')" = "first asked t5051-site.yaml:5:9
even ghost t5051-site.yaml:5:9 t5051-job.yaml:2:5
own 0 ghost t5051-site.yaml:6:9 t5051-job.yaml:3:5" ]
}

@test "a rule that cannot be stops srun" {
    printf '%s\n' 'windows:' '  - {name: x, no_locks: yes}' >"$job"
    step "--async-policy=$job"
    [ "$status" -ne 0 ]
    printed 't5051-job.yaml:2:5: no_locks is decided when a window is made'
    not_printed '^first'
}
