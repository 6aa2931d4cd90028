#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tests/applications, on a shell script that is called nwchem.mpich, and the part
# of tests/apps that needs nothing but a mpi4py.

load helpers

# What is called NWChem; one process speaks.
nwchem_is() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    { echo '#!/bin/bash'; echo '((PMI_RANK == 0)) || exit 0'; cat; } \
        >"$BATS_TEST_TMPDIR/bin/nwchem.mpich"
    chmod +x "$BATS_TEST_TMPDIR/bin/nwchem.mpich"
}

applications() {
    PATH=$BATS_TEST_TMPDIR/bin:$PATH run timeout -k 5 60 \
        "$ASPEN_TOP/tests/applications" --ranks 2 "$@"
}

@test "an energy that every mode has is the same" {
    nwchem_is <<<'echo "   Total SCF energy =   -75.5"'
    applications --modes 'off* offload' nwchem
    ended_with 0
    printed '^nwchem +2  plain +0 .* plain: energy -75\.5$'
    printed '^nwchem +2  offload/2 +0 .* same$'
    [ "${lines[-1]}" = '6 runs, 0 differ' ]
}

@test "what differs, fails, hangs or says nothing is told" {
    nwchem_is <<'SH'
case $ASPEN_LAYOUT in
    *nnodes=2*mode=offload* | *mode=offload*nnodes=2*) exit 3 ;;
    *mode=offload*) echo "   Total SCF energy =   -75.4" ;;
    *mode=thread*nnodes=2*) exit 0 ;;
    *mode=thread*) exec sleep 30 ;;
    *) echo "   Total SCF energy =   -75.5" ;;
esac
SH
    applications --modes 'offload* thread*' --limit 2 nwchem
    ended_with 1
    printed 'offload +0 .* DIFFERENT: < energy -75\.5 > energy -75\.4'
    printed 'thread +124 .* ended so'
    printed 'offload/2 +3 .* ended so'
    printed 'thread/2 +0 .* no result'
    [ "${lines[-1]}" = '6 runs, 4 differ' ]
}

@test "verdicts of a suite are kept for each rank and test" {
    cat >"$BATS_TEST_TMPDIR/main.py" <<'PY'
import unittest
from mpi4py import MPI
class Some(unittest.TestCase):
    def testGood(self): pass
    def testBad(self): self.fail()
    @unittest.skip("always")
    def testSkipped(self): pass
    def testParts(self):
        with self.subTest(1): self.fail()
        with self.subTest(2): pass
    def testError(self): raise OSError
unittest.main(module=None, argv=["main", "__main__.Some"])
PY
    run timeout 60 /usr/bin/python3 "$ASPEN_TOP/tests/apps/mpi4py_verdicts.py" \
        "$BATS_TEST_TMPDIR/verdicts" "$BATS_TEST_TMPDIR/main.py"
    run sort "$BATS_TEST_TMPDIR/verdicts.0"
    [ "$output" = 'error 0 __main__.Some.testError
fail 0 __main__.Some.testBad
fail 0 __main__.Some.testParts
ok 0 __main__.Some.testGood
skip 0 __main__.Some.testSkipped' ]
}

@test "aspen run leaves the mpi4py of Open MPI plain, and says so once" {
    applications openmpi
    ended_with 0
    [ "${lines[-1]}" = '4 runs, 0 differ' ]
}

@test "an application that is not there is named" {
    applications suite
    ended_with 2
    printed '^applications: suite: sources of mpi4py are named by --mpi4py$'
    applications elsewhere
    ended_with 2
}

@test "where plain MPI has no result, that is said of the others" {
    nwchem_is <<'SH'
[[ -n $ASPEN_LAYOUT ]] || exit 3
echo "   Total SCF energy =   -75.5"
SH
    applications --modes off,coll=tune nwchem
    ended_with 1
    printed 'plain +3 .* ended so'
    printed 'off,coll=tune +0 .* plain has no result, this: energy -75\.5$'
    [ "${lines[-1]}" = '3 runs, 2 differ' ]
}
