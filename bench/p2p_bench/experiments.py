# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments, scaled down to two pretended nodes, and the overlap
of eight ranks with one ghost. {x} in a kernel is the x of the column."""
import collections

from rivals import PLAIN, RIVALS, Job

Line = collections.namedtuple("Line", "label rival spec value users knobs against",
                              defaults=("time", 2, (), None))

FIELDS = "key title x xs lines note unit"
KIB, MIB = 1 << 10, 1 << 20
SIZES = (8, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB)
# What post and wait of plain MPICH take for so many bytes (c-e1), in us, but at
# least so long that a ghost can be woken meanwhile.
DELAY_US = {**dict.fromkeys(SIZES, 300), 4 * MIB: 400}


class Experiment(collections.namedtuple("Experiment", FIELDS,
                                        defaults=("us",))):
    """A table."""

    def job_of(self, line, _x):
        """The job of a cell."""
        return Job(line.rival, line.users)

    @staticmethod
    def spec_of(line, x):
        """The kernel of a cell."""
        return line.spec.replace("{x}", str(x)).replace(
            "{delay}", str(DELAY_US.get(x)))


def rivals(spec, suffix="", value="time", users=2):
    """All rivals with the same kernel, times also as a part of plain's."""
    return [Line(rival + suffix, rival, spec, value, users,
                 against=None if rival == PLAIN else PLAIN)
            for rival in RIVALS]


EXPERIMENTS = [
    Experiment(
        "c-e1-post", "Time to post an Isend and an Irecv", "bytes", SIZES,
        rivals("exchange,part=post,bytes={x}"),
        "2 ranks on two nodes, each sends to the other; the slower rank."),
    Experiment(
        "c-e1-wait", "Time of Waitall at once", "bytes", SIZES,
        rivals("exchange,part=wait,bytes={x}"),
        "As c-e1-post."),
    Experiment(
        "c-e2", "Bandwidth of 64 messages in flight", "bytes",
        (8, 512, 4 * KIB, 16 * KIB, 64 * KIB),
        rivals("bandwidth,window=64,bytes={x}", value="rate"),
        "From rank 0 to rank 1 on the other node; divided by the bytes, "
        "the rate of messages.", "MB/s"),
    Experiment(
        "c-e3", "Isend, Irecv, delay, Waitall", "bytes", SIZES,
        rivals("exchange,bytes={x},delay_us={delay}"),
        "As c-e1; the delay is what plain MPICH takes without it, at least 300 "
        "us, and part of the time. A rank that computes sleeps."),
    Experiment(
        "c-e4", "Halo exchange on a grid of 2 x 2, 512 KiB an edge", "delay us",
        (300, 3000),
        rivals("exchange,shape=grid,bytes=524288,delay_us={x}", users=4) +
        rivals("exchange,shape=grid,part=post,bytes=524288,delay_us={x}",
               " post", users=4) +
        rivals("exchange,shape=grid,part=wait,bytes=524288,delay_us={x}",
               " wait", users=4),
        "4 ranks on two nodes, the ends of the grid meet: four messages each "
        "way, two of them to the other node. A rank that computes sleeps."),
    Experiment(
        "p2p-overlap", "Share of the wait that a delay hides, 8 ranks a node",
        "bytes", (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB),
        rivals("overlap,value=hidden,bytes={x},compute=sleep,delay_us=300",
               value="share", users=16),
        "16 ranks on two nodes, each exchanges with one on the other node; "
        "ghosts: one helper core a node, the others' threads share the same "
        "two processors. 1 - wait after a delay / wait without one; the delay "
        "is as long as the communication took, at least 300 us.", "%"),
    Experiment(
        "p2p-overlap-wait", "What these waits take without a delay, and after it",
        "bytes", (4 * KIB, 64 * KIB, MIB),
        rivals("overlap,value=wait,bytes={x},compute=sleep,delay_us=300",
               users=16) +
        rivals("overlap,value=wait_after,bytes={x},compute=sleep,delay_us=300",
               " after", users=16),
        "As p2p-overlap."),
    Experiment(
        "p2p-match", "An exchange beside receives that nobody answers", "receives",
        (10, 1000, 10000),
        rivals("pending,ask=wait,pending={x}"),
        "2 ranks on two nodes, 8 bytes, posted before on another tag."),
]
