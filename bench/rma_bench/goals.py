# SPDX-License-Identifier: BSD-3-Clause
"""The goals for speed and memory, each a measure against plain MPICH."""
import collections

import counters
import jobs
import show
from jobs import APART, ASPEN, OWN, PLAIN, THREAD, Job

# limit: of the ratio to plain MPICH; None: shown only. target: what it does,
# plain and Aspen. knobs: Aspen's.
Ratio = collections.namedtuple("Ratio",
                               "name users nodes spec limit target knobs",
                               defaults=((),))

POLLS = "polls / sleeps"
BOTH = "takes part"
SPLIT = "takes part, apart"
NONE = "-"
PLACES = {POLLS: OWN, SPLIT: APART}
RATIOS = [
    Ratio(f"Win_allocate, {ranks} ranks, {size}", ranks, 1,
          f"alloc,bytes={n}", 1.3, NONE)
    for size, n in (("4 KiB", 4096), ("1 MiB", 1048576))
    for ranks in (2, 4, 8, 16)
] + [
    Ratio(f"{name} + flush, {size}", 2, 2,
          f"flush,op={op},bytes={n},target={{target}}", 1.2, POLLS)
    for name, op in (("accumulate", "acc"), ("put", "put"), ("get", "get"))
    for size, n in (("8 B", 8), ("64 KiB", 65536))
] + [
    # A ghost on the users' CPUs all the time is what adaptation is there to end.
    Ratio(name, 2, 2, spec, limit, target)
    for target, limit in ((BOTH, None), (SPLIT, 1.3))
    for name, spec in (("fence, put, fence", "fence,op=put"),
                       ("start, put, complete", "pscw,op=put"))
] + [
    Ratio(f"{name}, adapt=ghosts", 2, 2, spec, 1.3, BOTH, ("adapt=ghosts",))
    for name, spec in (("fence, put, fence", "fence,op=put,warm_ms=200"),
                       ("start, put, complete", "pscw,op=put,warm_ms=200"))
] + [
    Ratio("lock, put, unlock, other node", 2, 2,
          "lock,op=put,target={target}", 1.3, POLLS),
    Ratio("lock, put, unlock, self", 2, 1,
          "lock,op=put,peer=self,target={target}", 1.5, POLLS),
    Ratio("lock, put, unlock, same node", 2, 1, "lock,op=put,target={target}",
          1.5, POLLS),
] + [
    Ratio(f"{op} + flush, same node, {size}", 2, 1,
          f"flush,op={op},bytes={n},target={{target}}", 0.5, POLLS)
    for op in ("put", "get") for size, n in (("8 B", 8), ("1 MiB", 1048576))
]

# Origin's time with the target outside MPI: growth with the delay.
STALL_US = (5000, 100000)
STALL = "stall,op=acc,delay_us={}"
STALL_LIMIT = 10 # us for each ms more

# Uneven load: a way to choose the ghost, what must be no worse than what.
# strictly: the paper says better, so equal is not enough.
Balance = collections.namedtuple("Balance",
                                 "name spec value better worse strictly")
E1 = ("B-E1, 256 puts", "all,hot_put=256,put=1", "busiest ops")
E2 = ("B-E2, 64 accumulates and puts",
      "all,hot_acc=64,acc=1,hot_put=64,put=1", "busiest ops")
E3 = ("B-E3, 64 KiB", "all,hot_acc=1,acc=1,hot_put=4,put=4,hot_bytes=65536",
      "busiest bytes")
BALANCES = [
    Balance(*E1, "random", "none", True), Balance(*E1, "ops", "none", True),
    Balance(*E1, "bytes", "none", False), Balance(*E1, "queue", "none", False),
    Balance(*E2, "ops", "random", True), Balance(*E2, "bytes", "none", False),
    Balance(*E2, "queue", "none", False),
    Balance(*E3, "bytes", "random", True), Balance(*E3, "bytes", "ops", True),
    Balance(*E3, "bytes", "none", False), Balance(*E3, "queue", "none", False),
]

# What no way of copying once can be faster than.
COPY = "copy,bytes=1048576"

MEMORY = "ghost_rss,windows=100,bytes=65536"
MEMORY_USERS = 4
MEMORY_LIMIT_KB = 40 * 1024

FILE = "goals.tsv"
HEAD = ["measure", "target", "plain", "thread", "aspen", "ratio", "best",
        "goal", "holds"]
NOTES = """\
Times in us: median over rounds (least..most) of each round's median step. ratio
is aspen / plain, the median of the rounds' ratios; best compares each round's
fastest steps, which other work on the machine disturbs least. target: what the
target does while the origin acts, with plain MPICH / with thread or ghosts;
plain is then 2 processes, Aspen an origin and a ghost at work, each bound to a
CPU; MPICH's progress threads are too many for that and stay unbound. Where the
target takes part it is 3 processes with ghosts against 2, on the same CPUs, and
they yield to each other: on 2 CPUs the ghost takes turns with users, in every
epoch. A layout has that with `placement.share`, or when no core is left, and the
way out is adapt=ghosts, for which there are goals; alone it is shown without
one. `apart`: as on a node with a CPU for the ghost, it has the last one to
itself and the users share the others, with plain MPICH too. `adapt=ghosts`: who
takes part is in MPI all the time, so redirection to it is soon switched off; 200
ms of steps before do not count."""


def job_for(rival, users, nodes, target=NONE, knobs=()):
    """The same for each rival."""
    place = PLACES.get(target, ()) if rival != THREAD else ()
    return Job(rival, users, nodes, knobs=knobs if rival == ASPEN else (),
               place=place)


def balance_job(way):
    """4 users, 2 ghosts on each of 2 nodes."""
    return Job(ASPEN, 4, 2, 2, (f"rma.balance={way}",), False, True)


def plan(args):
    """{job: [spec...]} of everything."""
    wanted = collections.defaultdict(list)
    for goal in RATIOS:
        for rival in jobs.RIVALS:
            wanted[job_for(rival, goal.users, goal.nodes,
                           goal.target, goal.knobs)].append(goal.spec)
    wanted[job_for(PLAIN, 2, 1, POLLS)].append(COPY)
    for rival in jobs.RIVALS:
        wanted[job_for(rival, 2, 2)] += [STALL.format(us) for us in STALL_US]
    wanted[job_for(ASPEN, MEMORY_USERS, 1)].append(MEMORY)
    if jobs.knows(args.build, "rma.balance"):
        for goal in BALANCES:
            for way in goal.better, goal.worse:
                wanted[balance_job(way)].append(goal.spec)
    else:
        print("n/a below: this build has no rma.balance")
    return wanted


def verdict(holds):
    """The last column."""
    return "n/a" if holds is None else "yes" if holds else "NO"


def goal_cells(ratio, limit):
    """The last two columns of a ratio; empty where there is no goal."""
    if limit is None:
        return ["", ""]
    return [f"<= {limit}", verdict(None if ratio is None else ratio <= limit)]


def ratio_row(goal, samples):
    """A line of the table, and the numbers of it."""
    ratios, cells = {}, {}
    of = {rival: job_for(rival, goal.users, goal.nodes, goal.target,
                         goal.knobs)
          for rival in jobs.RIVALS}
    for kind, found in (("ratio", samples.medians), ("best", samples.bests)):
        ratios[kind] = show.cell(
            [aspen / plain for aspen, plain in
             zip(found[of[ASPEN], goal.spec], found[of[PLAIN], goal.spec])])
    for rival, job in of.items():
        cells[rival] = show.cell(samples.medians[job, goal.spec])
    return [goal.name, goal.target] + [
        show.with_range(cells[rival]) for rival in (PLAIN, THREAD, ASPEN)] + [
        show.with_range(ratios["ratio"]), show.number(ratios["best"].median),
        *goal_cells(ratios["ratio"].median, goal.limit)]


def copy_row(samples):
    """A copy of 1 MiB from a buffer to another, by the C library."""
    copy = show.cell(samples.medians[job_for(PLAIN, 2, 1, POLLS), COPY])
    return ["memcpy of 1 MiB, no MPI", NONE, show.with_range(copy), "", "", "",
            "", "", ""]


def stall_rows(samples):
    """The origin's time by delay, and how much of the delay it feels."""
    rows, growth = [], {}
    for rival in jobs.RIVALS:
        times = [samples.median(job_for(rival, 2, 2), STALL.format(us))
                 for us in STALL_US]
        growth[rival] = (None if None in times else (times[1] - times[0]) /
                         (STALL_US[1] - STALL_US[0]) * 1e3)
    for us in STALL_US:
        rows.append([f"accumulate + flush, target away {us // 1000} ms",
                     "sleeps"] + [
            show.with_range(show.cell(samples.medians[
                job_for(rival, 2, 2), STALL.format(us)]))
            for rival in (PLAIN, THREAD, ASPEN)] + ["", "", "", ""])
    grows = growth[ASPEN]
    return rows + [
        ["the same: us for each ms away", "sleeps"] +
        [show.number(growth[rival]) for rival in (PLAIN, THREAD, ASPEN)] +
        ["", "", f"<= {STALL_LIMIT}",
         verdict(None if grows is None else grows <= STALL_LIMIT)]]


def balance_row(goal, samples):
    """Loads of the busiest ghost by two ways of choosing one."""
    loads = [counters.median(goal.value,
                             samples.records[balance_job(way), goal.spec], 2)
             for way in (goal.better, goal.worse)]
    holds = None
    if None not in loads:
        # Counters of a few operations: the last one may go either way.
        slack = -0.02 if goal.strictly else 0.02
        holds = loads[0] <= loads[1] + slack
    return [f"{goal.name}: {goal.value}, {goal.better} : {goal.worse}", NONE,
            "", "", f"{show.number(loads[0])} : {show.number(loads[1])}", "",
            "", "<" if goal.strictly else "<=", verdict(holds)]


def memory_row(samples):
    """Resident memory of the largest ghost."""
    sizes = show.cell(samples.medians[job_for(ASPEN, MEMORY_USERS, 1), MEMORY])
    # No ghost found is no memory measured.
    holds = None if not sizes.median else sizes.median <= MEMORY_LIMIT_KB
    return ["ghost, 100 idle windows, resident KB", NONE, "", "",
            show.with_range(sizes), "", "", f"<= {MEMORY_LIMIT_KB}",
            verdict(holds)]


def rows(samples, _args):
    """The whole table."""
    return ([ratio_row(goal, samples) for goal in RATIOS] +
            [copy_row(samples)] +
            stall_rows(samples) +
            [balance_row(goal, samples) for goal in BALANCES] +
            [memory_row(samples)])
