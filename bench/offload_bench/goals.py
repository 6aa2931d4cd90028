# SPDX-License-Identifier: BSD-3-Clause
"""The goals for speed, each a measure that must hold."""
import collections

import document
import experiments
import show
from places import PLACE
from rivals import ASYNC, OFFLOAD, PLAIN, RIVALS, THREAD, Job

OWN, TWO, MANY = PLACE.short
PLACES = {OWN: (1, False), TWO: (2, False), MANY: (1, True)}

# how: what is made of Aspen's value and plain's, and how to compare it with
# each limit. against: plain's kernel, if it is another one. mine: the mode.
Goal = collections.namedtuple("Goal", "name place spec how limit against mine",
                              defaults=(None, OFFLOAD))

ITSELF, LESS, RATIO, LEAST, RATE = "us", "us - plain", "ratio", "share", "rate"
HOW = {
    ITSELF: (lambda mine, plain: mine, "<="),
    LESS: (lambda mine, plain: mine - plain, "<="),
    RATIO: (lambda mine, plain: mine / plain, "<="),
    LEAST: (lambda mine, plain: mine, ">="),
    RATE: (lambda mine, plain: mine / plain, ">="),
}

NAMES = {8: "8 B", 1024: "1 KiB", 16384: "16 KiB", 65536: "64 KiB",
         262144: "256 KiB", 1048576: "1 MiB", 4194304: "4 MiB"}
POST_US = 0.14
# Of the messages whose bandwidth counts. OSU's benchmark has 64; of larger ones
# that would be more than caches and measure memory.
IN_FLIGHT = {65536: 64, 1048576: 8, 4194304: 8}
COMPUTE = experiments.COMPUTE

GOALS = [
    Goal(f"{op}, {NAMES[n]}{'' if how is ITSELF else ', no dearer'}", place,
         f"post,op={op},bytes={n}", how, limit)
    for place in (OWN, TWO) for op in ("isend", "irecv")
    for n in (8, 1024, 16384, 65536, 1048576, 4194304)
    for how, limit in ((ITSELF, POST_US), (LESS, 0))
] + [
    Goal(f"overlap, {name}", TWO, f"overlap,bytes={n},{COMPUTE}", LEAST,
         95 if n >= 65536 else 85) for n, name in NAMES.items()
] + [
    Goal(f"overlap, {op}, {NAMES[n]}", TWO,
         f"overlap,op={op},bytes={n},{COMPUTE}", LEAST, 90)
    for op in experiments.COLLECTIVES for n in (8, 16384, 1048576)
] + [
    Goal("Sendrecv to self, 8 B", OWN, "sendrecv", LESS, 0.6),
    Goal("empty command", OWN, "call", LESS, 0.3),
] + [
    Goal(f"{n} threads, to self : plain with 8", MANY, f"threads,threads={n}",
         RATIO, 0.5, "threads,threads=8") for n in (2, 4, 8)
] + [
    Goal(f"bandwidth, {NAMES[n]}", place,
         f"bandwidth,bytes={n},window={IN_FLIGHT[n]}", RATE, 0.97)
    for place in (OWN, TWO) for n in IN_FLIGHT
] + [
    Goal("idle helper, % of a CPU", OWN, "idle", ITSELF, 2),
] + [
    Goal(f"availability, receiver, {NAMES[n]}", TWO,
         f"availability,side=receiver,bytes={n},{COMPUTE}", LEAST, 90)
    for n in (16384, 1048576)
] + [
    Goal(f"thread: overlap, {NAMES[n]}", TWO, f"overlap,bytes={n},{COMPUTE}",
         LEAST, 95, mine=THREAD) for n in (65536, 262144, 1048576, 4194304)
] + [
    Goal(f"thread: overlap, {op}, 1 MiB", TWO,
         f"overlap,op={op},bytes=1048576,{COMPUTE}", LEAST, 90, mine=THREAD)
    for op in experiments.COLLECTIVES
] + [
    Goal(f"thread: bandwidth, {NAMES[n]}", place,
         f"bandwidth,bytes={n},window={IN_FLIGHT[n]}", RATE, 0.97, mine=THREAD)
    for place in (OWN, TWO) for n in IN_FLIGHT
] + [
    Goal(f"thread: {op}, 8 B", OWN, f"post,op={op},bytes=8", ITSELF, POST_US,
         mine=THREAD) for op in ("isend", "irecv")
] + [
    Goal("thread: idle helper, % of a CPU", OWN, "idle", ITSELF, 2,
         mine=THREAD),
] + [
    Goal(f"thread: availability, receiver, {NAMES[n]}", TWO,
         f"availability,side=receiver,bytes={n},{COMPUTE}", LEAST, 90,
         mine=THREAD) for n in (16384, 1048576)
]

# What the machine allows: a word to the helper's CPU and one back.
LINE = Goal("a cache line there and back, no MPI", OWN, "line", ITSELF, None)

FILE = "offload-goals.tsv"
HEAD = ["measure", "placement", *RIVALS, "value", "goal", "holds"]
NOTES = document.wrapped("""\
Times in us, overlap, availability and idle in %, bandwidth in MB/s: median over
rounds (least..most) of each round's median step; reading the clock, some 20 ns,
is part of isend and irecv. Bandwidth is that of 64 messages of 64 KiB in flight,
or 8 larger ones. value is what the goal is on:
Aspen's own, less plain's, or a ratio to plain's, the median of the rounds'.
Placement: """ + "; ".join(
    f"{short}: {note}" for short, note in zip(PLACE.short, PLACE.notes)) + """.
near: each kernel began when a cache line went to the other CPU and back in less,
or that much later.""")


def job_for(goal, rival):
    """The same for each rival."""
    return Job(rival, *PLACES[goal.place])


def plan(_args):
    """{job: [spec...]} of everything."""
    wanted = collections.defaultdict(list)
    for goal in GOALS:
        for rival in (PLAIN, ASYNC, goal.mine):
            specs = {goal.spec, goal.against or goal.spec}
            wanted[job_for(goal, rival)] += sorted(specs)
    wanted[job_for(LINE, PLAIN)].append(LINE.spec)
    return wanted


def row(goal, samples):
    """A line of the table."""
    found = {rival: samples.medians[job_for(goal, rival), goal.spec]
             for rival in RIVALS if rival not in (OFFLOAD, THREAD) or
             rival == goal.mine}
    plain = samples.medians[job_for(goal, PLAIN), goal.against or goal.spec]
    make, compare = HOW[goal.how]
    cell = show.cell([make(a, b) for a, b in zip(found[goal.mine], plain)])
    holds = "n/a"
    if cell.median is not None:
        good = (cell.median <= goal.limit if compare == "<=" else
                cell.median >= goal.limit)
        holds = "yes" if good else "NO"
    return [goal.name, goal.place] + [
        show.with_range(show.cell(found[rival])) if rival in found else ""
        for rival in RIVALS] + [
        show.with_range(cell), f"{compare} {goal.limit}", holds]


def rows(samples, _args):
    """The whole table."""
    line = show.cell(samples.medians[job_for(LINE, PLAIN), LINE.spec])
    return [row(goal, samples) for goal in GOALS] + [
        [LINE.name, LINE.place, show.with_range(line)] + [""] * (len(HEAD) - 3)]
