# SPDX-License-Identifier: BSD-3-Clause
"""The goals: what tuned collectives are worth to applications."""
import collections

import jobs
import show
from experiments import CG, CHOLESKY, FFT, LATE, SUMMA
from rivals import OFFLOAD, PLAIN, TUNED, Job, knobs_of

FILE = "coll-goals.tsv"
HEAD = ["measure", "ranks", "nodes", PLAIN, "aspen", "value", "goal", "holds"]
NOTES = """\
Times in ms, medians over rounds (least..most). value: aspen / plain, the median
of the rounds' ratios; of iterations the difference. aspen: its collectives; of
delayed ranks its offload threads, without which those wait for one who computes
who are behind it in a tree (c-late). Conjugate gradients are to
take a fifth less in all and a third of the time in reductions, with as many
iterations, up to one: another order of additions is another rounding. The
others are to be no slower. What is not here: that slabs of the FFT pay with
milliseconds between nodes, which pretended nodes have not."""

# part: of the kernel. at_most: of what `value` makes of mine and plain's.
Goal = collections.namedtuple("Goal", "name spec part at_most value rival",
                              defaults=(None, TUNED))
CG_USERS, OTHER_USERS, LATE_USERS = (8, 16), (4, 16), (8,)
NODES = (1, 4)
GOALS = {
    CG_USERS: [
        Goal("cg, all", CG + ",how=allreduce", "", 0.8),
        Goal("cg, reductions", CG + ",how=allreduce", "coll", 1 / 3),
        Goal("cg, iterations", CG + ",how=allreduce", "iterations", 1, "difference"),
        Goal("cg with Reduce, all", CG + ",how=reduce", "", 0.8),
        Goal("cg with Reduce, reductions", CG + ",how=reduce", "coll", 1 / 3),
        Goal("cg with Reduce, iterations", CG + ",how=reduce", "iterations", 1,
             "difference"),
    ],
    OTHER_USERS: [
        Goal("fft, packed", FFT + ",how=packed", "", 1.05),
        Goal("fft, slabs", FFT + ",how=slabs", "", 1.05),
        Goal("summa, blocking", SUMMA + ",how=blocking", "", 1.05),
        Goal("summa, prefetch", SUMMA + ",how=prefetch", "", 1.05),
        Goal("cholesky", CHOLESKY, "", 1.05),
    ],
    LATE_USERS: [
        Goal("delayed, Ibcast", LATE + ",how=bcast", "delayed", 0, "mine",
             OFFLOAD),
        Goal("delayed, Ireduce", LATE + ",how=sum", "delayed", 0, "mine",
             OFFLOAD),
        Goal("delayed, Ialltoall", LATE + ",how=exchange", "delayed", 0,
             "mine", OFFLOAD),
    ],
}


def each():
    """(goal, users, nodes) of all rows."""
    return [(goal, users, nodes) for all_users, goals in GOALS.items()
            for users in all_users for nodes in NODES for goal in goals
            if nodes == 1 or users == OTHER_USERS[-1]]


def spec_of(goal):
    """What coll_app is asked for, and the row that is read."""
    return goal.spec + ("#" + goal.part if goal.part else "")


def plan(args):
    """{job: [spec...]} of everything."""
    wanted = collections.defaultdict(list)
    missing = [knob for knob in knobs_of(TUNED)
               if not jobs.knows(args.build, knob)]
    if missing:
        print("this build has not: " + ", ".join(missing) + "; n/a below")
    for goal, users, nodes in each():
        wanted[Job(PLAIN, users, nodes)].append(spec_of(goal))
        if not missing or goal.rival != TUNED:
            wanted[Job(goal.rival, users, nodes)].append(spec_of(goal))
    return wanted


def compared(goal, mine, plain):
    """Round by round."""
    if goal.value == "mine":
        return mine
    if goal.value == "difference":
        return [abs(a - b) for a, b in zip(mine, plain)]
    return [a / b for a, b in zip(mine, plain) if b]


def row(goal, users, nodes, samples):
    """Of the table."""
    plain, mine = (samples.medians[Job(rival, users, nodes), spec_of(goal)]
                   for rival in (PLAIN, goal.rival))
    value = show.cell(compared(goal, mine, plain))
    holds = "n/a" if value.median is None else \
        "yes" if value.median <= goal.at_most else "NO"
    return [goal.name, str(users), str(nodes),
            *(show.with_range(show.cell(found)) for found in (plain, mine)),
            show.with_range(value), f"<= {show.number(goal.at_most)}", holds]


def rows(samples, _args):
    """The whole table."""
    return [row(*one, samples) for one in each()]
