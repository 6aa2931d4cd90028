#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# One-sided communication through ghosts, under Slurm on two nodes.

load helpers

ghosts() {
    run on_cluster srun -N2 -n4 "--export=ALL,LD_PRELOAD=$yield" \
        --async-report "$@"
}

setup() {
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    rma=$ASPEN_BUILD/tests/rma
}

@test "atomicity and exclusion across nodes" {
    ghosts --async-progress=ghost:1 "${rma}_atomic" 40
    ended_with 0
    printed '^ok atomic'
    printed '4 user ranks and 2 ghosts on 2 nodes.* redirected [1-9]'
}

@test "derived types with two ghosts per node" {
    ghosts --async-progress=ghost:2 "${rma}_derived" 40
    ended_with 0
    printed '^ok derived'
    printed '4 user ranks and 4 ghosts on 2 nodes'
}

@test "a target outside MPI does not stall its origin" {
    ghosts --async-progress=ghost:1 "$ASPEN_BUILD/examples/rma_stall" 2000
    ended_with 0
    not_printed 'WRONG'
    took=$(sed -n 's/.*updates took: \([0-9]*\).*/\1/p' <<<"$output")
    echo "took $took ms of 2000"
    ((took < 1000))
}

@test "a ghost that dies is named and the step ends" {
    on_cluster srun -N2 -n4 "--export=ALL,LD_PRELOAD=$yield" \
        --async-progress=ghost:1 "$ASPEN_BUILD/examples/rma_stall" 30000 \
        >"$BATS_TEST_TMPDIR/out" 2>&1 &
    srun=$!
    # Kill the ghost of n2 as soon as it serves.
    "$ASPEN_TOP/scripts/cluster" run --node n2 \
        ${ASPEN_CLUSTER_DIR:+--dir "$ASPEN_CLUSTER_DIR"} -- \
        timeout 20 bash -c '
            while sleep 0.2; do
                for pid in $(pgrep -x aspen-ghost); do
                    grep -qz "^SLURM_NODEID=1$" /proc/$pid/environ &&
                        grep -q aspen-arena /proc/$pid/maps &&
                        sleep 1 && kill -9 $pid && exit
                done
            done 2>/dev/null'
    begin=$SECONDS
    wait "$srun" && status=0 || status=$?
    output=$(cat "$BATS_TEST_TMPDIR/out")
    echo "$output"
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ]
    ((SECONDS - begin < 20))
    printed 'ghost process [0-9]+ \(world rank [0-9]+, node n2\) died'
}
