# SPDX-License-Identifier: BSD-3-Clause
# Programs whose MPICH is another release than those that Aspen knows, or lacks
# functions that the release which Aspen was built with has. The library is the
# installed one with another number and one name less.

load helpers

setup_file() {
    export other=$BATS_FILE_TMPDIR/other
    export world=$ASPEN_BUILD/tests/world
    export stall=$ASPEN_BUILD/examples/rma_stall
    mkdir "$other"
    library=$(mpi_library "$world/attr")
    python3 - "$library" "$other/${library##*/}" <<'EOF'
import re, sys
data = open(sys.argv[1], "rb").read()
data, n = re.subn(rb"(?<=\0)[45]\.[0-9]\.[0-9](?=\0)", b"9.9.1", data)
assert n >= 1, n
name = b"MPIX_Query_hip_support\0"
assert name in data
open(sys.argv[2], "wb").write(data.replace(name, b"MPIX_Query_hiq_support\0"))
EOF
}

# Run with that library.
elsewhere() { LD_LIBRARY_PATH=$other ghosts "$@"; }

@test "a thread does not start beside an unknown release, and that is said once" {
    for mode in --offload --thread '--offload --knob offload=yes -g 1'; do
        # shellcheck disable=SC2086
        run elsewhere -n 2 $mode "$world/comm"
        ended_with 0
        printed '^aspen: the MPI of this program is MPICH 9\.9\.1, and this Aspen knows MPICH 4\.0 to [45]\.[0-9]; running without (Aspen|offload threads)$'
        [ "$(grep -c '^aspen:' <<<"$output")" -eq 1 ]
    done
}

@test "beside ghosts its ranks are translated, and windows stay MPI's own" {
    run elsewhere -n 2 --report="$BATS_TEST_TMPDIR/record" "$stall"
    ended_with 0
    printed '9\.9\.1, and this Aspen knows MPICH 4\.0 to [45]\.[0-9]; windows are MPI.s own$'
    printed 'updates took: [3-9][0-9][0-9]\.'
    grep -q '"unknown_mpi"' "$BATS_TEST_TMPDIR/record"
    run "$ASPEN_BUILD/tools/aspen" report --text "$BATS_TEST_TMPDIR/record"
    ended_with 0
    printed 'an MPI that Aspen does not know'
    diff <(ghosts -n 3 -g 0 "$world/comm" 2>&1 | sort) \
        <(elsewhere -n 3 "$world/comm" 2>&1 | grep -v '^aspen: the MPI' | sort)
}

@test "with require the job ends where the release is unknown" {
    for mode in '' --offload --thread; do
        # shellcheck disable=SC2086
        LD_LIBRARY_PATH=$other run timeout 60 "$ASPEN_TOP/tests/ghostrun" -n 2 \
            $mode --knob require=yes "$world/comm"
        [ "$status" -ne 0 ] || [ "$(mpich_release)" = 4.2 ]
        [ "$status" -ne 124 ]
        printed '9\.9\.1, and this Aspen knows .*the request says require, so the job ends'
    done
}

# mpiexec of MPICH 4.2 may lose the status, and what was printed.
run_lacking() {
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        run elsewhere -n 1 $1 "$world/lacking"
        [[ $status == 0 || $output != *before*'does not have'* ]] || return 0
        [ "$(mpich_release)" = 4.2 ] || return 0
    done
}

@test "a function that the library lacks harms nobody until it is called" {
    for mode in --inert '-g 1' --offload --thread; do
        run_lacking "$mode"
        [ "$status" -ne 0 ]
        printed '^before$'
        printed 'this program calls MPIX_Query_hip_support, which the MPI library that it has loaded \(MPICH Version: *9\.9\.1\) does not have'
        not_printed '^after$'
    done
    run ghosts -n 1 "$world/lacking"
    ended_with 0
    printed '^after$'
}
