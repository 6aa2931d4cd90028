# SPDX-License-Identifier: BSD-3-Clause
"""The dissertation's experiments of sections 5.5.1 to 5.5.4, scaled down to a
machine with two processors.

Each is a table: x across, a row for each line. {x} in a kernel or a knob is the
x of the column; users None takes it too.
"""
import collections

import jobs
from rivals import (GP, INTERVAL_MS, NATIVE, OFF, ON, P, PLAIN, RIVALS, U,
                    U_COLL, Job, with_hints)

# A row. value: time, or what is made of the record (status.py). against: the
# rival with which a time is compared. share: users for each 4 of the column.
FIELDS = "label rival spec value knobs against ghosts share"
Line = collections.namedtuple("Line", FIELDS,
                              defaults=("time", (), None, 1, 4))

FIELDS = "key title users nodes x xs lines note unit place"


class Experiment(collections.namedtuple("Experiment", FIELDS,
                                        defaults=("us", ()))):
    """A table of the page."""

    def job_of(self, line, x):
        """The job of a cell."""
        knobs = tuple(knob.replace("{x}", str(x)) for knob in line.knobs)
        users = x if self.users is None else self.users
        return Job(line.rival, users * line.share // 4, self.nodes,
                   line.ghosts, knobs, line.rival in (U_COLL, P, GP) or
                   line.value != "time", self.place)

    @staticmethod
    def spec_of(line, x):
        """The kernel of a cell."""
        return line.spec.replace("{x}", str(x))


def line(rival, spec, label=None, **more):
    """A row of that rival, with what it has to say."""
    kernel, _, part = spec.partition("#")
    kernel = with_hints(rival, kernel)
    more.setdefault("knobs", RIVALS[rival].knobs)
    return Line(label or rival, rival, kernel + ("#" + part if part else ""),
                **more)


def parts(rivals, spec, what=(("", ""), (" compute", "#compute"),
                              (" talk", "#talk"))):
    """What a script takes in all, and its phases of each kind."""
    return [line(rival, spec + part, rival + name) for name, part in what
            for rival in rivals]


def accuracy(rivals, spec, label=""):
    """How well the script was followed."""
    return [line(rival, spec, f"{rival}{label}, {value}", value=value)
            for rival in rivals
            for value in ("% right", "% right later", "latency")]


def speedups(spec, op):
    """On, off and their ratio, and plain."""
    return [line(PLAIN, spec, f"{op} plain"), line(ON, spec, f"{op} on"),
            line(OFF, spec, f"{op} off", against=ON)]


def swept(rival, spec):
    """A script with the interval as x."""
    knobs = (RIVALS[rival].knobs[0], "adapt.interval_ms={x}")
    return [row._replace(knobs=knobs)
            for row in parts([rival], spec) + accuracy([rival], spec)]


# The script: each of two windows has a phase that computes and one that talks,
# some 6 and 12 intervals long.
SCRIPT = "phases,n=100,computing=12,talking=56"
GET, ACC = SCRIPT + ",op=get", SCRIPT + ",op=acc"
HALF = ",point=symmetric,every=half"
EACH = ",point=symmetric,every=iteration"
FENCES = ",point=fence,every=iteration"
STATICS = (PLAIN, ON, OFF)
ALL_U = (PLAIN, ON, OFF, NATIVE, U_COLL, P, GP)
USERS = (4, 6)

SHAPE = ("2 pretended nodes with half of the users and one ghost each, on 2 "
         "processors. ")
SCRIPTED = SHAPE + f"""\
Two windows, one after the other, each with a phase that computes (2 x 12 times:
once operation and flush to everyone, 5 ms of sleep, once again) and a phase
that talks (2 x 40 times: 100 operations each flushed to everyone, 50 us, once
again). The script says: on while they compute, off while they talk. % right:
share of the time that a rank had that status; later: leaving out the first two
intervals of {INTERVAL_MS} ms of each phase. latency: intervals until a rank
that began wrong was right, median; -: more switches than a record holds. """

EXPERIMENTS = [
    Experiment(
        "u-e1", "What adaptation costs at window collectives", None, 1,
        "users", (2, 4, 8),
        [line(rival, call, f"{call} {rival}")
         for call in ("alloc", "fence", "symmetric") for rival in ALL_U],
        "One node, one ghost. native: async_config=off with adapt=off, the "
        "paper's (U, OFF); off: with adapt=user, its (U-coll, OFF); on: its "
        "(U, ON). Nothing changes while time is taken. symmetric: "
        "MPI_Win_set_info with symmetric=true."),
    Experiment(
        "u-e2", "Static: less computation, by number of ghosts", 8, 2,
        "us computed", (100, 1000, 5000, 20000),
        [line(PLAIN, "steady,op=acc,n=1,compute_us={x}", "8 users, plain"),
         line(ON, "steady,op=acc,n=1,compute_us={x}", "6 users, 2 ghosts",
              share=3),
         line(ON, "steady,op=acc,n=1,compute_us={x}", "4 users, 4 ghosts",
              ghosts=2, share=2)],
        "8 processes on 2 pretended nodes. Each sleeps as long, so that what "
        "is given to ghosts is not seen as a loss of computation. Time of an "
        "iteration: once operation and flush to everyone, computation, once "
        "again."),
    Experiment(
        "u-e2-talk", "Static: more communication, by number of ghosts", 8, 2,
        "n", (1, 10, 100),
        [line(PLAIN, "steady,op=acc,n={x},compute_us=100", "8 users, plain"),
         line(ON, "steady,op=acc,n={x},compute_us=100", "6 users, 2 ghosts",
              share=3),
         line(ON, "steady,op=acc,n={x},compute_us=100", "4 users, 4 ghosts",
              ghosts=2, share=2)],
        "As u-e2, but n operations to everyone before a sleep of 100 us."),
    Experiment(
        "u-e3", "Phases: static and as the program says, get", None, 2,
        "users", USERS, parts((*STATICS, U, U_COLL), GET),
        SCRIPTED + "The program asks for on as it makes each window (U), or "
        "before each phase for what is right (U-coll).", "ms"),
    Experiment(
        "u-e3-acc", "Phases: static and as the program says, accumulate",
        None, 2, "users", USERS, parts((*STATICS, U, U_COLL), ACC),
        "As u-e3.", "ms"),
    Experiment(
        "p-e1", "On and off, by number of operations", 4, 2, "n",
        (1, 2, 4, 8, 16, 32, 64, 128),
        [row for op in ("get", "acc") for row in
         speedups(f"steady,op={op},n={{x}},compute_us=5000", op)],
        SHAPE + "Time of an iteration with n times operation and flush to "
        "everyone, 5 ms of sleep, once again. off : on above 1: ghosts help."),
    Experiment(
        "p-e2", "On and off, by number of processes", None, 2, "users",
        (2, 4, 6, 8),
        [row for op in ("get", "acc") for row in
         speedups(f"steady,op={op},n=100,compute_us=5000", op)],
        "As p-e1, with 100 operations."),
    Experiment(
        "p-e3", "On and off, by size of operations", 4, 2, "x",
        (2, 128, 1024, 4096),
        [row for op in ("get", "acc") for row in
         speedups(f"steady,op={op},n=1,x={{x}},compute_us=5000", op)],
        "As p-e1, with 1 operation on x * 2 * 2 of (x + 8) * 8 * 8 doubles."),
    Experiment(
        "p-e4", "One operation in all, and what of it its executor", 2, 2,
        "x", (2, 128, 4096),
        [row for op in ("acc", "put", "get") for row in [
            line(rival, f"{kernel},op={op},x={{x}}",
                 f"{op} {rival}, {label}")
            for rival in (PLAIN, OFF)
            for kernel, label in (("total", "all"), ("handle", "executor"))
        ] + [line(ON, f"total,target=sleep,op={op},x={{x}}",
                  f"{op} on, {label}", value=value)
             for label, value in (("all", "counted time"),
                                  ("executor", "handling"))]],
        "From a rank of one pretended node to one of the other: x * 2 * 2 of "
        "(x + 8) * 8 * 8 doubles. All: operation and flush, the target is in "
        "MPI without a break (plain, off) or sleeps (on). Executor, target: "
        "processor time that one more of 64 queued operations takes it; ghost: "
        "its time at work, by its operations. Each on a CPU of its own.",
        place=jobs.OWN),
    Experiment(
        "p-e5", "Phases: ranks profile themselves", None, 2, "users", USERS,
        [row for op, spec in (("get", GET), ("acc", ACC))
         for point, label in ((HALF, ""), (EACH, " each"))
         for row in [entry._replace(label=f"{op} {entry.label}{label}")
                     for entry in parts((U_COLL, P), spec + point) +
                     accuracy([P], spec + point)]],
        "As u-e3; set_info with symmetric=true before each half of a phase as "
        "in the paper, or (each) after each iteration.", "ms"),
    Experiment(
        "p-e6", "Phases: interval of ranks that profile themselves", 4, 2,
        "ms", (5, 10, 20, 40, 80),
        [line(U_COLL, GET + EACH)] + swept(P, GET + EACH),
        "As p-e5, get with a legal point after each iteration.", "ms"),
    Experiment(
        "g-e1", "Phases: ghosts decide for their users", None, 2, "users", USERS,
        parts((U_COLL, GP), GET) + accuracy([GP], GET) +
        [row._replace(label=f"acc {row.label}") for row in
         parts((U_COLL, GP), ACC + EACH) + accuracy([GP], ACC + EACH)],
        "As u-e3; get without any window collective, accumulate with "
        "set_info(symmetric=true) after each iteration.", "ms"),
    Experiment(
        "g-e2", "Phases: interval of ghosts", 4, 2, "ms",
        (5, 10, 20, 40, 80), [line(U_COLL, GET)] + swept(GP, GET),
        "As g-e1, get.", "ms"),
]
