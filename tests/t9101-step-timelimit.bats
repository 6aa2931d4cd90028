# SPDX-License-Identifier: BSD-3-Clause
# A step that hits its time limit: a minute, and Slurm's grace. A plain step
# ends after 64 s with status 143 (SIGTERM) on an idle machine. A cluster of its
# own and a program that sleeps, so that other tests need not wait for this one.

load helpers

setup_file() {
    ASPEN_CLUSTER_DIR=$("$ASPEN_TOP/scripts/cluster" dir limit-$$)
    export ASPEN_CLUSTER_DIR
    timeout 60 "$ASPEN_TOP/scripts/cluster" up --dir "$ASPEN_CLUSTER_DIR" \
        --prefix "$ASPEN_PREFIX"
}

teardown_file() {
    "$ASPEN_TOP/scripts/cluster" down --dir "$ASPEN_CLUSTER_DIR"
}

@test "the time limit ends a step with ghosts as it ends a plain one" {
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    export ASPEN_GHOST_PRELOAD=$yield ASPEN_TEST_LIMIT=170
    run on_cluster env LD_PRELOAD="$yield" srun -I30 -t 1 -N2 -n2 \
        --ntasks-per-node=1 --async-progress=ghost:1 sh -c 'date +%s
        exec "$0" sleep' "$ASPEN_BUILD/tests/lifetime_app"
    ended_with 143
    printed 'DUE TO TIME LIMIT'
    begin=$(grep -E '^[0-9]+$' <<<"$output" | head -1)
    [ $(($(date +%s) - begin)) -le 140 ]
    run on_cluster sh -c 'ps -e -o comm | grep -E "aspen-(ghost|agent)"'
    ended_with 1
}
