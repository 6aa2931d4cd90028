# SPDX-License-Identifier: BSD-3-Clause
"""The papers' experiments, scaled down to a machine with two processors.

Each is a table: x across, a row for each line (a rival and a kernel).
{x} in a kernel is the x of the column; users, nodes or ghosts None take it too.
"""
import collections

from jobs import ASPEN, PLAIN, THREAD, Job

# A row. spec: the kernel (NAME,KEY=VALUE...); {target} is filled in by
# jobs.py. value: time, or what the ghosts counted (counters.py).
Line = collections.namedtuple(
    "Line", "label rival spec ghosts knobs threads value",
    defaults=(1, (), False, "time"))

# note: what differs from the paper. unit: of all values.
FIELDS = "key title users nodes x xs lines note unit"


class Experiment(collections.namedtuple("Experiment", FIELDS,
                                        defaults=("us",))):
    """A table of the page."""

    def job_of(self, line, x):
        """The job of a cell."""
        return Job(line.rival,
                   x if self.users is None else self.users,
                   x if self.nodes is None else self.nodes,
                   line.ghosts, line.knobs, line.threads,
                   line.rival == ASPEN and line.value != "time")

    @staticmethod
    def spec_of(line, x):
        """The kernel of a cell."""
        return line.spec.replace("{x}", str(x)).replace("{x8}", str(8 * x))


def rivals(spec, suffix="", **aspen):
    """The three rivals with the same kernel."""
    return [Line(rival + suffix, rival, spec,
                 **(aspen if rival == ASPEN else {}))
            for rival in (PLAIN, THREAD, ASPEN)]


def balances(spec, value):
    """Plain, and the ways to choose a ghost for put and get, by counters."""
    lines = [Line(way, ASPEN, spec, 2, (f"rma.balance={way}",), False, value)
             for way in ("none", "random", "ops", "bytes", "queue")]
    return lines + [Line("us " + line.label, ASPEN, spec, 2, line.knobs, False,
                         "counted time") for line in lines] + [
        Line("us plain", PLAIN, spec), Line("us thread", THREAD, spec)]


COUNTS = (1, 4, 16, 64, 256, 1024)
SELF = "lock,op=put,peer=self"
BUSIEST = ("Counted, not timed: on few processors ghosts share them. The value "
           "is the load of a node's busiest ghost, 1 when all ghosts of the "
           "node do the same, 2 when one of two does everything; rows "
           "that begin with us are times.")

EXPERIMENTS = [
    Experiment(
        "s-e1", "MPI_Win_allocate, by epochs_used", None, 1, "ranks",
        (2, 4, 8, 16),
        rivals("alloc,bytes=4096") + [
            Line(f"aspen {epochs}", ASPEN,
                 f"alloc,bytes=4096,info=epochs_used:{epochs}")
            for epochs in ("lock", "lockall", "fence")],
        "Slowest rank of one node, 4096 bytes each. Casper: more than twice "
        "plain at best, default dearest."),
    Experiment(
        "s-e2", "Fence and PSCW with n accumulates", 2, 2, "n", COUNTS,
        rivals("fence,op=acc,n={x}", " fence") +
        rivals("pscw,op=acc,n={x}", " pscw"),
        "2 ranks of 2 nodes; fence(NOPRECEDE), n accumulates of 8 bytes, "
        "fence(NOSUCCEED); start, n, complete."),
    Experiment(
        "s-e3", "lock(self), put(self), unlock(self)", 1, 1, "bytes",
        (8, 1024, 65536),
        rivals(SELF + ",bytes={x}") + [
            Line("aspen nocheck", ASPEN,
                 SELF + ",bytes={x},assert=nocheck"),
            Line("aspen no_load_store", ASPEN,
                 SELF + ",bytes={x},info=no_load_store:true")],
        "One user and one ghost."),
    Experiment(
        "s-e4", "Accumulate over segments of several ghosts", 2, 2, "doubles",
        (128, 256, 512),
        [line for line in rivals("flush,op=acc,bytes={x8},area=8192,"
                                 "target={target}")
         if line.rival != ASPEN] +
        [Line(f"{label}{g} ghosts", ASPEN,
              "flush,op=acc,bytes={x8},area=8192,target={target}", g,
              ("rma.binding=segment",), False, value)
         for label, value in (("", "counted time"),
                              ("parts, ", "ops per call"))
         for g in (1, 2, 4)],
        "2 ranks of 2 nodes, window of 1024 doubles, operations at block "
        "boundaries. parts: operations at ghosts for each of the program's."),
    Experiment(
        "s-e5", "Message time, by thread safety", 2, 1, "bytes",
        (8, 512, 4096),
        [Line("single", PLAIN, "rate,bytes={x}"),
         Line("multiple", PLAIN, "rate,bytes={x}", threads=True),
         Line("multiple, 2 threads", PLAIN, "rate,bytes={x},threads=2",
              threads=True),
         Line("thread", THREAD, "rate,bytes={x}"),
         Line("aspen single", ASPEN, "rate,bytes={x}")],
        "Time of one of 64 messages in flight between 2 ranks of a node; the "
        "inverse of OSU's message rate."),
    Experiment(
        "s-e6", "What n accumulates do to a target that computes", 2, 2, "n",
        COUNTS,
        rivals("slowdown,op=acc,n={x}") +
        rivals("slowdown,op=acc,n={x},measure=cpu", " processor"),
        "Time, and processor time of its process, that a matrix product takes "
        "at the target. This one computes in earnest: with 2 processors the "
        "ghost or the thread takes turns with it."),
    Experiment(
        "s-e7", "Accumulate and flush to a target outside MPI", 2, 2,
        "delay us", (1000, 2000, 5000, 10000, 20000, 50000),
        rivals("stall,op=acc,delay_us={x}"),
        "2 ranks of 2 nodes under lock_all. The target sleeps instead of "
        "computing; the origin begins 200 us later."),
    Experiment(
        "s-e8", "Fence and PSCW, n accumulates, target 100 us outside MPI", 2,
        2, "n", COUNTS,
        rivals("fence,op=acc,n={x},delay_us=100", " fence") +
        rivals("pscw,op=acc,n={x},delay_us=100", " pscw"),
        "As s-e2, but the target sleeps 100 us in the epoch."),
    Experiment(
        "s-e9", "All to all: 1 operation, 100 us computation, 10 operations",
        None, None, "nodes", (2, 3, 4),
        rivals("all,op=acc,first=1,delay_us=100,n=10", " acc") +
        rivals("all,op=put,first=1,delay_us=100,n=10", " put"),
        "One rank and one ghost on each node, 8 bytes, slowest rank."),
    Experiment(
        "s-e10", "Accumulate to all others, by number of ghosts", None, 1,
        "users", (4, 8),
        [line for line in rivals("all,acc=1") if line.rival != ASPEN] +
        [Line(f"{label}{g} ghosts{many}", ASPEN, spec, g, (), False, value)
         for spec, many in (("all,acc=1", ""), ("all,acc=16", ", 16 each"))
         for label, value in (("us, ", "counted time"), ("", "busiest ops"))
         for g in (1, 2, 4)],
        "One node, rank binding, one accumulate of 8 bytes to each other "
        "rank, or 16. " + BUSIEST),
    Experiment(
        "s-e11", "Uneven windows, by number of ghosts", 4, 1,
        "n to rank 0", (1, 16, 64, 256),
        [line for line in
         rivals("all,hot_acc={x},acc=1,bytes=16,area=4096")
         if line.rival != ASPEN] +
        [Line(f"{label}{g} ghosts", ASPEN,
              "all,hot_acc={x},acc=1,bytes=16,area=4096", g,
              ("rma.binding=segment",), False, value)
         for label, value in (("us, ", "counted time"), ("", "busiest ops"))
         for g in (1, 2, 4)],
        "One node, segment binding; rank 0 owns 512 doubles and receives n "
        "accumulates all over them, the others own 2 and receive one. "
        + BUSIEST),
    Experiment(
        "b-e1", "n puts to each node's first rank, 1 to others", 4, 2, "n",
        (1, 16, 64, 256), balances("all,hot_put={x},put=1", "busiest ops"),
        "4 users and 2 ghosts on each of 2 nodes. " + BUSIEST),
    Experiment(
        "b-e2", "n accumulates and puts to each node's first rank", 4, 2, "n",
        (1, 16, 64, 256),
        balances("all,hot_acc={x},acc=1,hot_put={x},put=1", "busiest ops"),
        "As b-e1, each with as many accumulates. " + BUSIEST),
    Experiment(
        "b-e3", "Accumulate and put, large for each node's first rank", 4, 2,
        "bytes", (8, 1024, 65536, 1048576),
        balances("all,hot_acc=1,acc=1,hot_put=4,put=4,hot_bytes={x}",
                 "busiest bytes"),
        "As b-e1, an accumulate and four puts to each; bytes counted. "
        + BUSIEST),
]
