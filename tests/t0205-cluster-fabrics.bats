# SPDX-License-Identifier: BSD-3-Clause
# scripts/cluster: by what the nodes of --fabric talk to each other, plain MPI as
# Aspen was built with. Brings its own clusters without Aspen.
load helpers

script=$ASPEN_TOP/scripts/cluster

setup() { dir=$("$script" dir fabrics-$$); }
teardown() { "$script" down --dir "$dir"; }

# A cluster of fabric $1, and a job of a rank on each node.
job_over() {
    timeout 60 "$script" up --no-plugin --fabric "$1" --dir "$dir"
    # Plain MPICH over TCP sometimes hangs in MPI_Finalize, after everything
    # that is checked here was printed: design note of the cluster.
    for _ in 1 2 3; do
        run timeout -k 5 20 "$script" run --dir "$dir" -- \
            env LD_PRELOAD="$ASPEN_BUILD/tests/.libs/yield.so" \
            UCX_LOG_LEVEL=info MPIR_CVAR_DEBUG_SUMMARY=1 \
            srun -N2 --ntasks-per-node=1 "$ASPEN_BUILD/tests/mpi_nodes"
        ((status == 124)) || break
    done
    printed 'rank 1 of 2 on n2: 0 of 1 there, uid 0, data good'
}

@test "TCP is what the nodes of this MPI's TCP fabric talk by" {
    if over_libfabric; then
        job_over ofi-tcp
        printed '^provider: tcp;ofi_rxm, .* 198\.18\.0\.1[12]$'
        not_printed '^provider: [^t]'
    else
        job_over tcp
        printed 'am\(tcp/eth0'
    fi
}

@test "an ofi-tcp cluster says so to libfabric, and its nodes share no memory" {
    timeout 60 "$script" up --no-plugin --fabric ofi-tcp --dir "$dir"
    run timeout 30 "$script" run --dir "$dir" -- srun -N2 -n2 sh -c \
        'echo "$FI_PROVIDER $(readlink /proc/self/ns/ipc)"'
    ended_with 0
    [ "$(grep -c '^tcp ipc:' <<<"$output")" -eq 2 ]
    [ "$(sort -u <<<"$output" | wc -l)" -eq 2 ]
    run timeout 30 env FI_PROVIDER=sockets "$script" run --dir "$dir" -- \
        srun -n1 sh -c 'echo "$FI_PROVIDER"'
    [ "$output" = sockets ]
}
