# SPDX-License-Identifier: BSD-3-Clause
"""The goals of adaptation: never worse than the better static choice."""
import argparse
import collections
import importlib.machinery
import importlib.util
import itertools
import os
import statistics

import jobs
import show
import status
from experiments import ACC, EACH, FENCES, GET
from rivals import (AUTO, GP, NO_THREADS, OFF, ON, P, PLAIN, RIVALS, THREADS,
                    U_COLL, Job, with_hints)

PARTS = ("get", "acc", "single", "overhead")
USERS = 4
# Single phases: with as many users as processors, too, which the scheduler
# leaves in peace while ghosts sleep.
SINGLE_USERS = (2, 4)
# A pretended node is a processor: what a phase takes depends on how the
# scheduler has spread processes in the phase before, otherwise.
PLACE = ("--bind",)

# A script of phases. mine: who has to come close to the oracle.
Phases = collections.namedtuple("Phases", "name part spec limit mine")
PHASES = [
    Phases("phases, get, no window collective", "get", GET, 1.10, (GP,)),
    Phases("phases, acc, set_info each iteration", "acc", ACC + EACH, 1.15,
           (GP, P)),
    Phases("phases, acc, fences", "acc", ACC + FENCES, 1.15, (GP, P)),
]
CONTENDERS = (PLAIN, ON, OFF, U_COLL, P, GP)
KINDS = ("compute", "talk", "rest")

# One kind of phase for ever; and who is on and off without being asked.
Single = collections.namedtuple("Single", "name spec on off",
                                defaults=(ON, OFF))
WARM_MS = {ON: 100, OFF: 100, PLAIN: 100, AUTO: 2500, GP: 500, THREADS: 100,
           NO_THREADS: 100}
# To find out about messages takes longer: ranks are watched for a second first.
MESSAGES_WARM_MS = 4500
SINGLES = [
    Single(f"single phase, {op}, {kind}",
           f"steady,op={op},{load}" + (EACH if op == "acc" else ""))
    for op in ("put", "get", "acc")
    for kind, load in (("computes", "n=1,compute_us=5000"),
                       ("talks", "n=100,compute_us=50"))
] + [
    Single(f"single phase, messages, {kind}", f"messages,{load}", THREADS,
           NO_THREADS)
    for kind, load in (("computes", "kib=4096,compute_us=3000"),
                       ("talks", "kib=64,compute_us=0"))
]
SINGLE_LIMIT = 1.03
LATENCY_LIMIT = 2
COST = {"rate_self": "sampling, 8 B messages to itself",
        "rate_pair": "sampling, 8 B messages between 2 ranks",
        "step": "report, 100 us of computing and 8 messages"}

FILE = "adapt-goals.tsv"
HEAD = ["measure", *CONTENDERS, "auto", "value", "goal", "holds"]
NOTES = f"""\
{USERS} users, a ghost for each half of them, on 2 pretended nodes, each bound
to a processor, for all contenders; median over rounds (least..most). Phases in
ms, all of the script. value: mine / oracle, the median of the rounds' ratios;
the oracle takes for each kind of phase the better of on and off, by median over
rounds, all with the same program in the same rounds. Or intervals until a rank
that began a phase wrong was right. Single phases in us an iteration, after
warm-up, each in a job of its own; value: mine / the better of on and off. With
2 users each has a processor; with 4 the scheduler has more to say than ghosts
that sleep. Accumulates can only be switched at window collectives, so the
single-phase ones have MPI_Win_set_info(symmetric=true) in each iteration, for
all contenders. Of messages, 4 MiB from everyone to the next beside 3 ms of
sleep or 64 KiB without, on and off mean progress threads on the ghosts' CPUs.
The oracle knows neither U-coll nor plain, which are shown. Overheads are those
of bench/profile_cost: with a report asked for, measuring as adaptation does,
against without; each run's best blocks, 1.03 is 3 %."""


def known(rival, args):
    """Does this build have what it takes?"""
    return all(jobs.knows(args.build, knob) for knob in RIVALS[rival].knobs)


def decider(args):
    """Who answers for a single phase: auto, where there is one."""
    return next((rival for rival in (AUTO, GP) if known(rival, args)), None)


def job_for(rival):
    """The same for each kernel. Decisions of P and GP are read from the
    record."""
    return Job(rival, USERS, 2, 1, RIVALS[rival].knobs, rival in (P, GP),
               PLACE)


def single_job(rival, users):
    """A program of one phase, which Aspen has to find out about each time."""
    return Job(rival, users, 2, 1, RIVALS[rival].knobs, place=PLACE,
               alone=True)


def single_spec(single, rival):
    """Who decides needs longer to warm up."""
    warm_ms = WARM_MS[rival]
    if single.on == THREADS and rival == AUTO:
        warm_ms = MESSAGES_WARM_MS
    return with_hints(rival, f"{single.spec},warm_ms={warm_ms}")


def contestants(single, args):
    """By the column that tells of them. Messages are for auto only."""
    mine = decider(args)
    if single.on == THREADS and (mine != AUTO or not known(THREADS, args)):
        mine = None
    return {PLAIN: PLAIN, ON: single.on, OFF: single.off, AUTO: mine}


def single_name(single, users):
    """The row's, but for who answers."""
    return f"{single.name}, {users} users"


def singles(args):
    """Those that are asked for, and of how many users."""
    return [(single, users)
            for single, users in itertools.product(SINGLES, SINGLE_USERS)
            if args.only in (None, "single") and
            args.single in single_name(single, users)]


def plan(args):
    """{job: [spec...]} of everything."""
    wanted = collections.defaultdict(list)
    missing = [rival for rival in (P, GP, AUTO) if not known(rival, args)]
    if missing:
        print("this build has not: " + ", ".join(
            "=".join(["adapt", RIVALS[rival].knobs[0].split("=")[1]])
            for rival in missing) + "; n/a below")
    for goal in PHASES:
        for rival in CONTENDERS:
            if args.only in (None, goal.part) and rival not in missing:
                wanted[job_for(rival)].append(with_hints(rival, goal.spec))
    for single, users in singles(args):
        among = contestants(single, args)
        for rival in among.values() if among[AUTO] else ():
            wanted[single_job(rival, users)].append(single_spec(single, rival))
    return wanted


def verdict(value, limit):
    """The last column."""
    return "n/a" if value is None else "yes" if value <= limit else "NO"


def row(name, found, value, limit):
    """found: {rival: values of the rounds}. value: those of the goal."""
    cell = show.cell(value)
    return [name] + [show.with_range(show.cell(found[rival]))
                     if found.get(rival) else ""
                     for rival in (*CONTENDERS, AUTO)] + [
        show.with_range(cell) if limit or value else "",
        f"<= {limit}" if limit else "",
        verdict(cell.median, limit) if limit else ""]


def of_rounds(samples, rival, spec, part=""):
    """Values of a rival's kernel, or of a part of it."""
    spec = with_hints(rival, spec) + ("#" + part if part else "")
    return samples.medians[job_for(rival), spec]


def better(choices):
    """That with the least median, of lists of rounds' values."""
    return min((found for found in choices if found),
               key=statistics.median, default=[])


def oracle(samples, goal):
    """For each round the sum over kinds of phases of the better static one."""
    kinds = [better([of_rounds(samples, rival, goal.spec, kind)
                     for rival in (ON, OFF)]) for kind in KINDS]
    return [sum(values) for values in zip(*kinds)]


def ratios(mine, best):
    """Round by round."""
    return [a / b for a, b in zip(mine, best) if b]


def intervals(samples, rival, spec):
    """Decision latencies of all ranks, phases and rounds."""
    records = samples.records[job_for(rival), with_hints(rival, spec)]
    return [one for record in records if status.has_switches(record)
            for one in status.latencies(record)]


def phases_rows(goal, samples):
    """A script: all of it for each of mine, its parts, decisions."""
    found = {rival: of_rounds(samples, rival, goal.spec)
             for rival in CONTENDERS}
    best = oracle(samples, goal)
    rows = [row(f"{goal.name}: {mine}", found, ratios(found[mine], best),
                goal.limit) for mine in goal.mine]
    rows += [row(f"- of it: {kind}",
                 {rival: of_rounds(samples, rival, goal.spec, kind)
                  for rival in CONTENDERS}, [], None) for kind in KINDS[:2]]
    for mine in goal.mine:
        late = intervals(samples, mine, goal.spec)
        records = samples.records[job_for(mine), with_hints(mine, goal.spec)]
        right = [status.right(record, 2, 0) for record in records]
        rows += [row(f"- latency of {mine}, intervals", {}, late,
                     LATENCY_LIMIT),
                 row(f"- {mine} right, % of the time", {mine: right}, [],
                     None)]
    return rows


def single_row(single, users, samples, args):
    """One kind of phase: who decides against the better static choice."""
    among = contestants(single, args)
    found = {column: samples.medians[single_job(rival, users),
                                     single_spec(single, rival)]
             for column, rival in among.items() if rival}
    value = ratios(found.get(AUTO, []), better([found[ON], found[OFF]]))
    return row(f"{single_name(single, users)}: {among[AUTO] or AUTO}", found,
               value, SINGLE_LIMIT)


def profile_cost():
    """That bench, as a module."""
    path = os.path.join(jobs.TOP, "bench", "profile_cost")
    loader = importlib.machinery.SourceFileLoader("profile_cost", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("profile_cost", loader))
    loader.exec_module(module)
    return module


def cost_rows(args):
    """Ratios with a report to without, in turns, a pair for each round."""
    cost = profile_cost()
    seen = cost.times(argparse.Namespace(
        build=args.build, runs=args.rounds, off=False,
        loops=10000 if args.quick else 100000))
    return [row(label, {}, ratios(*([run[1] for run in seen[name][contender]]
                                    for contender in ("with", "without"))),
                cost.GOALS[name]) for name, label in COST.items()]


def rows(samples, args):
    """The whole table."""
    found = []
    for goal in PHASES:
        if args.only in (None, goal.part):
            found += phases_rows(goal, samples)
    found += [single_row(single, users, samples, args)
              for single, users in singles(args)]
    if args.only in (None, "overhead"):
        found += cost_rows(args)
    return found
