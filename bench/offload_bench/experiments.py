# SPDX-License-Identifier: BSD-3-Clause
"""The papers' experiments, scaled down to a machine with few processors.

Each is a table: x across, a row for each rival and kernel. {x} in a kernel is
the x of the column.
"""
import collections

from places import PLACE
from rivals import RIVALS, THREAD, Job

# A row. value: time, or another unit, of which no ratio is made.
Line = collections.namedtuple("Line", "label rival spec value users knobs",
                              defaults=("time", 2, ()))

FIELDS = "key title x xs lines note unit threads tcp"


class Experiment(collections.namedtuple("Experiment", FIELDS,
                                        defaults=("us", False, False))):
    """A table of the page."""

    def job_of(self, line, _x):
        """The job of a cell."""
        return Job(line.rival, line.users, self.threads, self.tcp)

    @staticmethod
    def spec_of(line, x):
        """The kernel of a cell."""
        return line.spec.replace("{x}", str(x))


def rivals(spec, suffix="", value="time", users=2, sleepers=True):
    """All rivals with the same kernel. sleepers: also the progress threads,
    which have no part in calls that wait or are small."""
    return [Line(rival + suffix, rival, spec, value, users)
            for rival in RIVALS if sleepers or rival != THREAD]


SIZES = (8, 1024, 16384, 65536, 262144, 1048576, 4194304)
COLLECTIVES = ("ibcast", "iallreduce", "ialltoall", "iallgather")
COMPUTE = PLACE.compute
# Defined by places.page().
OWN, FOUR, AWAY = "*Self.* ", "*Pair.* ", "*Away.* "
TCP = "Messages go through the kernel's TCP (UCX_TLS=tcp), as between nodes " \
    "without RDMA. MPICH's thread has values of those rounds only in which " \
    "its job ended (docs/design/ends.md). " + AWAY

EXPERIMENTS = [
    Experiment(
        "o-e1", "Overlap of Irecv, Isend, delay, Waitall", "bytes", SIZES,
        rivals("overlap,bytes={x}," + COMPUTE, value="share"),
        AWAY + "(Wait without the delay - wait after it) in percent of the "
        "communication without it; medians of the slower rank.", "%"),
    Experiment(
        "o-e1-wait", "What Waitall takes after the delay", "bytes", SIZES,
        rivals("overlap,value=wait_after,bytes={x}," + COMPUTE) +
        rivals("overlap,value=communication,bytes={x}," + COMPUTE,
               " communication, no delay"),
        AWAY + "The times behind o-e1."),
    Experiment(
        "o-e2", "Overlap of non-blocking collectives", "bytes",
        (8, 16384, 1048576),
        [line for op in COLLECTIVES for line in
         rivals(f"overlap,op={op},bytes={{x}},{COMPUTE}", " " + op, "share")],
        AWAY + "As o-e1.", "%"),
    Experiment(
        "o-e3", "Time to post", "bytes", SIZES,
        [line for op in ("isend", "irecv") for line in
         rivals(f"post,op={op},peer=self,bytes={{x}}", f" {op} to self",
                users=1) +
         rivals(f"post,op={op},bytes={{x}}", f" {op}")],
        OWN + "The others: " + FOUR +
        "Reading the clock, some 20 ns, is part of it."),
    Experiment(
        "o-e3-coll", "Time to post a collective", "bytes",
        (8, 8192, 1048576),
        [line for op in COLLECTIVES
         for line in rivals(f"post,op={op},bytes={{x}}", " " + op,
                             sleepers=False)],
        FOUR),
    Experiment(
        "o-e4", "Isend, Irecv, Waitall by threads", "threads", (1, 2, 4, 8),
        rivals("threads,peer=self,threads={x}", " to self", users=1,
               sleepers=False) +
        rivals("threads,threads={x}", " between 2 ranks", sleepers=False),
        "MPI_THREAD_MULTIPLE, 8 bytes, each thread on its own tag; time of a "
        "thread's exchange. " + PLACE.many,
        threads=True),
    Experiment(
        "o-guest", "MPI_Barrier while other threads wait in a receive",
        "threads", (1, 2, 4),
        rivals("barrier,threads={x}", sleepers=False),
        "MPI_THREAD_MULTIPLE, 2 ranks; x threads of each, of which one is in "
        "MPI_Barrier. " + PLACE.threads, threads=True),
    Experiment(
        "o-e5", "Latency", "bytes", SIZES,
        rivals("sendrecv,peer=self,bytes={x}", " Sendrecv to self", users=1,
               sleepers=False) +
        rivals("latency,bytes={x}", " Send, Recv", sleepers=False) +
        rivals("latency,op=irecv,bytes={x}", " Isend, Irecv, Wait",
               sleepers=False),
        OWN + "The others, one way of a ping-pong: " + FOUR),
    Experiment(
        "o-e5-bw", "Bandwidth", "bytes", SIZES,
        rivals("bandwidth,peer=self,bytes={x}", " to self", "rate", 1) +
        rivals("bandwidth,bytes={x}", "", "rate"),
        "8 messages in flight. To self: " + OWN + "The others: " + FOUR,
        "MB/s"),
    Experiment(
        "o-wake", "A call after a pause", "pause us", (10, 100, 1000, 10000),
        rivals("call,delay_us={x}", users=1, sleepers=False),
        OWN + "MPI_Comm_compare; what it takes to wake the helper is in it."),
    Experiment(
        "o-pending", "An exchange beside receives that nobody answers",
        "receives", (0, 60, 300, 1000),
        [line for ask, name in
         (("wait", "Waitall"), ("test", "Test until it is there"),
          ("first", "Irecv and a Test at once"), ("again", "a Test again"))
         for line in rivals(f"pending,peer=self,ask={ask},pending={{x}}",
                            " " + name, users=1, sleepers=False)],
        OWN + "8 bytes to self. A Test at once, or again, finds nothing."),
    Experiment(
        "o-line", "What the machine allows", "-", (1,),
        [Line("plain", "plain", "line", users=1)],
        "A word to the other CPU and one back, without MPI."),
    Experiment(
        "k-e1", "Availability by Sandia's post-work-wait", "bytes", SIZES,
        [line for side in ("sender", "receiver") for line in
         rivals(f"availability,side={side},bytes={{x}},{COMPUTE}", " " + side,
                "share")],
        AWAY + "1 - (iteration - work) / iteration without work, in "
        "percent, for the longest work; the other side stays away half as "
        "long.", "%"),
    Experiment(
        "o-e2-tcp", "Overlap of non-blocking collectives, TCP", "bytes",
        (8, 16384, 1048576),
        [line for op in COLLECTIVES for line in
         rivals(f"overlap,op={op},bytes={{x}},{COMPUTE}", " " + op, "share")],
        TCP + "As o-e1.", "%", tcp=True),
    Experiment(
        "k-e1-tcp", "Availability by Sandia's post-work-wait, TCP", "bytes",
        SIZES,
        [line for side in ("sender", "receiver") for line in
         rivals(f"availability,side={side},bytes={{x}},{COMPUTE}", " " + side,
                "share")],
        TCP + "As k-e1.", "%", tcp=True),
]
