# SPDX-License-Identifier: BSD-3-Clause
"""Run mpi4py's own tests and write down the verdict of each, rank by rank.

usage: mpiexec -n N python3 mpi4py_verdicts.py FILE MAIN [ARGUMENT...]

MAIN is test/main.py of mpi4py's sources; FILE.RANK gets a line
"VERDICT RANK TEST" for each test, as soon as it has ended: ok, skip, fail, or
error.
"""
import os
import runpy
import sys
import unittest


class Verdicts(unittest.TextTestResult):
    out = None

    def say(self, verdict, test):
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        if Verdicts.out is None:
            Verdicts.out = open(f"{FILE}.{rank}", "w", buffering=1)
        print(verdict, rank, test.id(), file=Verdicts.out)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("skip", test)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.say("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("fail", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.say("error", test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.say("fail", test)


FILE, MAIN = sys.argv[1:3]
unittest.TextTestRunner.resultclass = Verdicts
sys.argv[1:3] = []
sys.argv[0] = MAIN
sys.path.insert(0, os.path.dirname(MAIN))
sys.dont_write_bytecode = True
runpy.run_path(MAIN, run_name="__main__")
