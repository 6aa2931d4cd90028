#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A Put is at its target when the call that completes it returns. MPICH over
# libfabric's tcp breaks that itself, and more often when the target is slow to
# look, as a ghost that sleeps is.
load helpers

# Not sockets, which MPICH takes between pretended nodes.
setup() { ! over_libfabric || export FI_PROVIDER=tcp; }

arrives() {
    run timeout -k 5 100 "$ASPEN_TOP/tests/ghostrun" -n 3 --nodes 2 "$@" \
        "$ASPEN_BUILD/tests/rma_arrived" 1000
    ended_with 0
    printed '^ok arrived'
}

@test "a third process reads what was put, flushed and told of" {
    arrives -g 1
    arrives -g 2
}

@test "the same, from a ghost that blocks at once" {
    arrives -g 1 --knob idle.spin_us=0 --knob idle.yield_us=0
}

@test "the same, with the dynamic window, and with changing ghosts" {
    arrives -g 1 --knob rma.direct=no
    arrives -g 2 --knob rma.balance=queue
}

@test "the same, where targets carry it out with their own windows" {
    arrives -g 1 --knob rma.direct=yes
}

@test "the same, where ranks adapt" {
    arrives -g 1 --knob adapt=auto
}

@test "the record says whether MPI has to be helped" {
    local record=$BATS_TEST_TMPDIR/record answer=no
    ! over_libfabric || answer=yes
    arrives -g 1 --report="$record"
    grep -q "\"mpi_fixes\": \".*flush_put=$answer" "$record"
    not_printed "does not promise"
}

# What libfabric says of its providers goes through a library that takes the
# promise out. (Inside MPI's library it is not seen.)
@test "a provider that does not promise the order that this needs is named" {
    local here=$BATS_TEST_TMPDIR warnings=0
    if over_libfabric &&
        ldd "$(mpi_library "$ASPEN_BUILD/examples/hello")" | grep -q libfabric
    then
        warnings=1
    fi
    cat >"$here/unordered.c" <<'EOF'
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <stdint.h>
int fi_getinfo(uint32_t version, const char *node, const char *service,
               uint64_t flags, const struct fi_info *hints, struct fi_info **info)
{
    int (*next)(uint32_t, const char *, const char *, uint64_t,
                const struct fi_info *, struct fi_info **);
    int rc;
    *(void **) &next = dlsym(RTLD_NEXT, "fi_getinfo");
    rc = next(version, node, service, flags, hints, info);
    for (struct fi_info *i = rc ? NULL : *info; i; i = i->next)
        i->tx_attr->msg_order &= ~(FI_ORDER_RAW | FI_ORDER_RMA_RAW);
    return rc;
}
EOF
    gcc -D_GNU_SOURCE -shared -fPIC -o "$here/unordered.so" "$here/unordered.c" -ldl
    printf '#!/bin/sh\nLD_PRELOAD=$LD_PRELOAD:%s exec "$@"\n' \
        "$here/unordered.so" >"$here/start"
    chmod +x "$here/start"
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 3 --nodes 2 -g 1 \
        "$here/start" "$ASPEN_BUILD/tests/rma_arrived" 10
    ended_with 0
    [ "$(grep -c '^aspen: the network (.*) does not promise the order of' \
        <<<"$output")" -eq "$warnings" ]
}
